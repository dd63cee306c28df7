/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Package, die and core of each CPU, from sysfs devices/system/cpu. Must not look at energy; it
 * only knows which counters there are by the places of their channels.
 */
#include "source/host/topology.h"
#include "source/host/status.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/parse.h"
#include "base/util.h"

#define CPU_DIR "devices/system/cpu"
/* Packages or dies that may come while somebody looks. */
#define MAX_SPARES 8u
#define MAX_STAT_SIZE ((size_t)64 << 20)

static int count_cpu(unsigned int cpu, void *data)
{
	uint32_t *n_cpus = data;

	*n_cpus = WATT_MAX(*n_cpus, cpu + 1);
	return 0;
}

static int mark_online(unsigned int cpu, void *data)
{
	struct watt_topology *topology = data;

	if (cpu < topology->n_cpus)
		topology->cpus[cpu].is_online = true;
	return 0;
}

/* Calls fn for each CPU of a list file. 0, or why there is no such list. */
static int walk_cpu_list(const struct watt_env *env, const char *file,
			 int (*fn)(unsigned int cpu, void *data), void *data)
{
	_cleanup_free_ char *text = NULL;
	size_t len;
	int r;

	r = watt_root_slurp(&env->sysfs, file, 1 << 20, &text, &len);
	/* copies of sysfs are padded to a page */
	while (r == 0 && text[0] && !text[len - 1])
		len--;
	if (r == 0)
		r = strlen(text) == len ? watt_parse_cpulist(text, fn, data) : -EBADMSG;
	if (r < 0 && r != -ENOENT)
		watt_log(&env->log, WATT_LOG_WARNING, "topology: %s: %s", file, watt_error_text(r));
	return r;
}

/* The CPUs of a captured machine are not those of this one. */
static uint32_t count_in_stat(const struct watt_env *env)
{
	_cleanup_free_ char *text = NULL;
	const char *line;
	size_t len;
	uint32_t n = 1;

	if (watt_root_slurp(&env->procfs, "stat", MAX_STAT_SIZE, &text, &len) < 0)
		return 1;
	for (line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, "cpu", 3) && line[3] >= '0' && line[3] <= '9')
			n = WATT_MAX(n, (uint32_t)WATT_MIN(strtoul(line + 3, NULL, 10), 65535) + 1);
	}
	return n;
}

static uint32_t count_cpus(const struct watt_env *env)
{
	uint32_t n_cpus = 0;
	long n;

	if (walk_cpu_list(env, CPU_DIR "/possible", count_cpu, &n_cpus) == 0 && n_cpus > 0)
		return n_cpus;
	n_cpus = 0;
	if (walk_cpu_list(env, CPU_DIR "/present", count_cpu, &n_cpus) == 0 && n_cpus > 0)
		return n_cpus;
	if (!env->sysfs.is_kernel)
		return count_in_stat(env);
	n = sysconf(_SC_NPROCESSORS_CONF);
	return n > 0 ? (uint32_t)WATT_MIN(n, 65536) : 1;
}

static const char *const id_files[] = { "physical_package_id", "die_id", "core_id" };

enum id {
	ID_PACKAGE,
	ID_DIE,
	ID_CORE,
	N_IDS,
};

/* What is wrong with one of the files, of however many CPUs. */
struct faults {
	uint32_t n[N_IDS];
	uint32_t first[N_IDS]; /* CPU */
	int error[N_IDS];      /* of the first */
};

/* One id of a CPU; -1 where the kernel does not know it. */
static int read_id(const struct watt_env *env, uint32_t cpu, enum id id, struct faults *faults,
		   int32_t *ret)
{
	char buf[32];
	int64_t value;
	int r;

	r = watt_root_readf(&env->sysfs, buf, sizeof(buf), CPU_DIR "/cpu%u/topology/%s", cpu,
			    id_files[id]);
	if (r >= 0)
		r = watt_parse_i64(buf, &value);
	if (r >= 0 && (value < -1 || value > INT32_MAX))
		r = -ERANGE;
	if (r < 0) {
		if (r != -ENOENT && !faults->n[id]++) {
			faults->first[id] = cpu;
			faults->error[id] = r;
		}
		return r;
	}
	*ret = (int32_t)value;
	return 0;
}

static void read_cpu(const struct watt_env *env, uint32_t cpu, struct faults *faults,
		     struct watt_topology_cpu *ret)
{
	ret->core_id = -1;
	ret->is_known = read_id(env, cpu, ID_PACKAGE, faults, &ret->package_id) == 0;
	if (!ret->is_known)
		return;
	read_id(env, cpu, ID_DIE, faults, &ret->die_id);
	read_id(env, cpu, ID_CORE, faults, &ret->core_id);
	ret->package_id = WATT_MAX(ret->package_id, 0);
	ret->die_id = WATT_MAX(ret->die_id, 0);
}

/* One line for each kind of file, whether it is of one CPU or of all. */
static void tell_faults(const struct watt_env *env, const struct faults *faults)
{
	char others[48];
	size_t i;

	for (i = 0; i < N_IDS; i++) {
		if (!faults->n[i])
			continue;
		others[0] = '\0';
		if (faults->n[i] > 1)
			snprintf(others, sizeof(others), ", and of %u more CPU%s", faults->n[i] - 1,
				 faults->n[i] == 2 ? "" : "s");
		watt_log(&env->log, WATT_LOG_WARNING, "topology: cpu%u/topology/%s%s: %s",
			 faults->first[i], id_files[i], others, watt_error_text(faults->error[i]));
	}
}

/* CPUs that the kernel says nothing of: there is only one package, or they never were online. */
static void settle_unknown(struct watt_topology *topology)
{
	bool is_anything_known = false, is_anything_online = false;
	uint32_t i;

	for (i = 0; i < topology->n_cpus; i++) {
		is_anything_known |= topology->cpus[i].is_known;
		is_anything_online |= topology->cpus[i].is_online;
	}
	for (i = 0; i < topology->n_cpus; i++) {
		struct watt_topology_cpu *cpu = &topology->cpus[i];

		if (!is_anything_online)
			cpu->is_online = true;
		if (!is_anything_known || cpu->is_online)
			cpu->is_known = true;
	}
}

int watt_topology_open(const struct watt_env *env, struct watt_topology *ret)
{
	struct watt_topology topology = { .n_cpus = count_cpus(env) };
	struct faults faults = { 0 };
	uint32_t i;

	topology.cpus = calloc(topology.n_cpus, sizeof(*topology.cpus));
	if (!topology.cpus)
		return -ENOMEM;
	walk_cpu_list(env, CPU_DIR "/online", mark_online, &topology);
	for (i = 0; i < topology.n_cpus; i++)
		read_cpu(env, i, &faults, &topology.cpus[i]);
	tell_faults(env, &faults);
	settle_unknown(&topology);
	*ret = topology;
	return 0;
}

int watt_topology_open_quietly(const struct watt_env *env, struct watt_topology *ret)
{
	struct watt_env quiet = *env;

	quiet.log = (struct watt_log){ 0 };
	return watt_topology_open(&quiet, ret);
}

void watt_topology_done(struct watt_topology *topology)
{
	free(topology->cpus);
	*topology = (struct watt_topology)WATT_TOPOLOGY_INIT;
}

enum granularity {
	WHOLE,
	BY_PACKAGE,
	BY_DIE,
	BY_CORE,
};

static const struct watt_cpu_place nowhere = { -1, -1, -1 };

static enum granularity needed_granularity(const struct watt_channel *const *channels, size_t n)
{
	enum granularity needed = WHOLE;
	size_t i;

	for (i = 0; i < n; i++) {
		if (channels[i]->core_id >= 0)
			needed = WATT_MAX(needed, BY_CORE);
		else if (channels[i]->die_id >= 0)
			needed = WATT_MAX(needed, BY_DIE);
		else if (channels[i]->package_id >= 0)
			needed = WATT_MAX(needed, BY_PACKAGE);
	}
	return needed;
}

static struct watt_cpu_place place_of(const struct watt_topology_cpu *cpu, enum granularity by)
{
	return (struct watt_cpu_place){
		.package_id = by >= BY_PACKAGE ? cpu->package_id : -1,
		.die_id = by >= BY_DIE ? cpu->die_id : -1,
		.core_id = by >= BY_CORE ? cpu->core_id : -1,
	};
}

static int compare_ids(int32_t a, int32_t b)
{
	return (a > b) - (a < b);
}

static int compare_places(const void *a, const void *b)
{
	const struct watt_cpu_place *x = a, *y = b;
	int r = compare_ids(x->package_id, y->package_id);

	if (r == 0)
		r = compare_ids(x->die_id, y->die_id);
	return r ? r : compare_ids(x->core_id, y->core_id);
}

/* The different places of all CPUs, in order. Returns how many. */
static uint32_t collect_places(const struct watt_topology *topology, enum granularity by,
			       struct watt_cpu_place *ret)
{
	uint32_t i, n = 0, n_unique = 0;

	for (i = 0; i < topology->n_cpus; i++)
		if (topology->cpus[i].is_known)
			ret[n++] = place_of(&topology->cpus[i], by);
	if (n > 0)
		qsort(ret, n, sizeof(*ret), compare_places);
	for (i = 0; i < n; i++)
		if (i == 0 || compare_places(&ret[i], &ret[n_unique - 1]))
			ret[n_unique++] = ret[i];
	return n_unique;
}

static uint16_t find_slot(const struct watt_topology_cpu *cpu, enum granularity by,
			  const struct watt_cpu_place *places, uint32_t n)
{
	struct watt_cpu_place place = place_of(cpu, by);
	const struct watt_cpu_place *found;

	if (!cpu->is_known)
		return WATT_SLOT_NONE;
	found = bsearch(&place, places, n, sizeof(*places), compare_places);
	return found ? (uint16_t)(found - places) : WATT_SLOT_NONE;
}

/* Packages that may come, or dies or cores, with CPUs that never were online. */
static uint32_t count_spares(const struct watt_topology *topology, enum granularity by)
{
	uint32_t i, n = 0;

	for (i = 0; i < topology->n_cpus; i++)
		n += !topology->cpus[i].is_known;
	return by == BY_CORE ? n : WATT_MIN(n, MAX_SPARES);
}

int watt_cpu_map_build(const struct watt_topology *topology,
		       const struct watt_channel *const *channels, size_t n_channels,
		       struct watt_cpu_map *ret, struct watt_cpu_place **ret_places)
{
	enum granularity by = needed_granularity(channels, n_channels);
	struct watt_cpu_map map = { .n_cpus = topology->n_cpus };
	_cleanup_free_ struct watt_cpu_place *places = NULL;
	uint32_t i, n_spares;

	/* one more than CPUs, so that no place is ever lost and nothing has length 0 */
	places = calloc((size_t)map.n_cpus + 1, sizeof(*places));
	map.slot = calloc((size_t)map.n_cpus + 1, sizeof(*map.slot));
	if (!places || !map.slot) {
		free(map.slot);
		return -ENOMEM;
	}
	map.split = by;
	map.n_slots = collect_places(topology, by, places);
	n_spares = by > WHOLE ? count_spares(topology, by) : 0;
	if (!map.n_slots || map.n_slots >= WATT_SLOT_NONE)
		n_spares = 0;
	map.is_whole = map.n_slots == 1 && n_spares;
	if (map.n_slots > 1 || map.is_whole)
		for (i = 0; i < map.n_cpus && map.n_slots < WATT_SLOT_NONE; i++)
			map.slot[i] = find_slot(&topology->cpus[i], by, places, map.n_slots);
	map.home = map.is_whole ? places[0] : nowhere;
	if (map.n_slots <= 1 || map.n_slots >= WATT_SLOT_NONE) {
		/* one place has everything, also the CPUs that are yet to come */
		map.n_slots = 1;
		places[0] = nowhere;
	}
	for (i = n_spares; i > 0 && map.n_slots < WATT_SLOT_NONE - 1; i--)
		places[map.n_slots++] = nowhere;
	*ret = map;
	*ret_places = places;
	places = NULL;
	return 0;
}

int watt_cpu_map_join(const struct watt_env *env, uint32_t cpu, struct watt_cpu_map *map,
		      struct watt_cpu_place *places)
{
	struct watt_topology_cpu found = { .is_online = true };
	struct watt_cpu_place place;
	struct faults faults = { 0 }; /* it is asked again and again until there is an answer */
	uint32_t i = 0;

	read_cpu(env, cpu, &faults, &found);
	if (!found.is_known)
		return -ENODEV;
	place = place_of(&found, map->split);
	if (map->is_whole && compare_places(&place, &map->home) == 0) {
		__atomic_store_n(&map->slot[cpu], 0, __ATOMIC_RELAXED);
		return 0;
	}
	if (map->is_whole) {
		places[0] = map->home;
		map->is_whole = false;
	}
	while (i < map->n_slots && compare_places(&places[i], &place) &&
	       compare_places(&places[i], &nowhere))
		i++;
	if (i == map->n_slots)
		return -ENOSPC;
	places[i] = place;
	__atomic_store_n(&map->slot[cpu], (uint16_t)i, __ATOMIC_RELAXED);
	return 0;
}

void watt_cpu_map_done(struct watt_cpu_map *map)
{
	free(map->slot);
	*map = (struct watt_cpu_map){ 0 };
}

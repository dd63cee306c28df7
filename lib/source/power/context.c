/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The context source: what the machine was like while it used energy. Temperatures, loads and
 * clocks of GPUs, clocks of CPUs, fans, memory and how busy it is (EMC of Tegra). Nobody is
 * accounted for any of them. Asked for by name alone: reading them costs more than sensors of power
 * do.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/parse.h"
#include "base/util.h"
#include "source/power/cpu_busy.h"
#include "source/power/sensor/board_choice.h"
#include "source/power/sensor/device_name.h"
#include "source/power/sensor/sensor.h"
#include "source/registry.h"

#define THERMAL "class/thermal"
#define DEVFREQ "class/devfreq"
#define CPUFREQ "devices/system/cpu/cpufreq"
#define HWMON "class/hwmon"
#define MEMINFO "meminfo"
#define PATH_SIZE 256
/*
 * Three tiers: loads and memory, that change with what runs; clocks; and what changes slowly and is read
 * slowly, temperatures and fans. None is read more often than this.
 */
#define FAST_NS WATT_NSEC_PER_MSEC
#define MEDIUM_NS (10 * WATT_NSEC_PER_MSEC)
#define SLOW_NS (100 * WATT_NSEC_PER_MSEC)
/* The bytes of a line of meminfo. */
#define KB 1024

/* One file that holds a number. */
struct file_sensor {
	const char *chip;
	const char *part;
	const char *label;
	const char *path;
	enum watt_quantity quantity;
	uint64_t scale_num, scale_den;
	uint32_t flags;
	uint64_t period_ns;
};

static void fill_spec(struct watt_sensor_spec *spec, const char *place, size_t size, char *path)
{
	char chip[96], part[64];

	if (watt_clean_name(spec->chip, chip, sizeof(chip)) == 0)
		watt_strlcpy(chip, "unnamed", sizeof(chip));
	watt_clean_name(spec->part, part, sizeof(part));
	snprintf(path, size, "%s/%s/%s", place, chip, part);
	spec->place = (struct watt_place)WATT_PLACE_INIT;
	watt_strlcpy(spec->place.path, path, sizeof(spec->place.path));
	spec->channel.semantics = WATT_SEMANTICS_INSTANT;
}

static int add(struct watt_sensor_set *set, struct watt_sensor_spec *spec)
{
	char path[PATH_SIZE];

	fill_spec(spec, "context", sizeof(path), path);
	return watt_sensor_set_add(set, spec);
}

/* Each file is a group of its own: one that hangs or is slow holds up no other. */
static int add_file(struct watt_sensor_set *set, const struct file_sensor *file)
{
	struct watt_sensor_spec spec = {
		.chip = file->chip,
		.part = file->part,
		.label = file->label,
		.factor = { { .path = file->path } },
		.is_moody = true,
		.channel = { .quantity = file->quantity,
			     .flags = file->flags,
			     .scale_num = file->scale_num,
			     .scale_den = file->scale_den },
	};
	int r = add(set, &spec);

	return r < 0 ? r : watt_sensor_set_end_group(set, file->period_ns);
}

static int add_each(struct watt_sensor_set *set, const char *dir, const char *prefix,
		    int (*add_one)(struct watt_sensor_set *set, const char *name), size_t *n)
{
	struct watt_names names = WATT_NAMES_INIT;
	int r = 0;
	size_t i;

	if (watt_root_list(&set->env->sysfs, dir, prefix, &names) < 0)
		return 0;
	*n += names.n;
	for (i = 0; i < names.n && r == 0; i++)
		r = add_one(set, names.name[i]);
	watt_names_free(&names);
	return r;
}

/* ---- temperatures ---- */

static void read_zone_type(const struct watt_sensor_set *set, const char *zone, char *buf,
			   size_t size)
{
	if (watt_root_readf(&set->env->sysfs, buf, size, THERMAL "/%.96s/type", zone) <= 0)
		watt_strlcpy(buf, zone, size);
}

static int add_zone(struct watt_sensor_set *set, const char *zone)
{
	char type[64], path[PATH_SIZE];
	const struct file_sensor file = { .chip = type,
					  .part = "temperature",
					  .label = type,
					  .path = path,
					  .quantity = WATT_QUANTITY_TEMPERATURE,
					  .scale_num = 1,
					  .scale_den = 1,
					  .flags = WATT_CHANNEL_SIGNED,
					  .period_ns = SLOW_NS };

	read_zone_type(set, zone, type, sizeof(type));
	snprintf(path, sizeof(path), THERMAL "/%.96s/temp", zone);
	return watt_root_exists(&set->env->sysfs, path) ? add_file(set, &file) : 0;
}

/* Those of a type; NULL: all. Returns how many there were, or a negative errno. */
static int add_zones_of(struct watt_sensor_set *set, const struct watt_names *zones,
			const char *wanted)
{
	char type[64];
	int r = 0, n = 0;
	size_t i;

	for (i = 0; i < zones->n && r == 0; i++) {
		read_zone_type(set, zones->name[i], type, sizeof(type));
		if (wanted && strcmp(type, wanted))
			continue;
		r = add_zone(set, zones->name[i]);
		n++;
	}
	return r < 0 ? r : n;
}

/* Those that the board names; all, if it names none that is there. */
static int add_zones(struct watt_sensor_set *set, const struct watt_board *board, size_t *n)
{
	struct watt_names zones = WATT_NAMES_INIT;
	const char *const *type;
	int r = 0, found = 0;

	if (watt_root_list(&set->env->sysfs, THERMAL, "thermal_zone", &zones) < 0)
		return 0;
	*n += zones.n;
	for (type = board ? board->zones : NULL; type && *type && r >= 0; type++) {
		r = add_zones_of(set, &zones, *type);
		found += WATT_MAX(r, 0);
	}
	if (r >= 0 && !found)
		r = add_zones_of(set, &zones, NULL);
	watt_names_free(&zones);
	return WATT_MIN(r, 0);
}

/* ---- GPUs ---- */

static bool is_gpu(const struct watt_sensor_set *set, const char *device)
{
	static const char *const words[] = { "gpu",   "ga10b", "gb10b", "gv11b",   "gp10b",
					     "gm20b", "gk20a", "mali",  "panfrost" };
	char name[64];
	size_t i;

	if (watt_root_readf(&set->env->sysfs, name, sizeof(name),
			    DEVFREQ "/%.96s/device/of_node/name", device) <= 0)
		watt_strlcpy(name, device, sizeof(name));
	for (i = 0; i < WATT_ARRAY_SIZE(words); i++)
		if (strstr(name, words[i]))
			return true;
	return false;
}

static int add_gpu_load(struct watt_sensor_set *set, const char *chip, const char *path)
{
	/* per mille */
	const struct file_sensor file = { .chip = chip,
					  .part = "load",
					  .path = path,
					  .quantity = WATT_QUANTITY_RATIO,
					  .scale_num = 1000,
					  .scale_den = 1,
					  .period_ns = FAST_NS };

	return add_file(set, &file);
}

static bool has_load(const struct watt_sensor_set *set)
{
	uint32_t i;

	for (i = 0; i < set->power.n_channels; i++)
		if (set->channels[i].quantity == WATT_QUANTITY_RATIO)
			return true;
	return false;
}

static int add_board_gpu(struct watt_sensor_set *set, const struct watt_board *board)
{
	const char *const *load;

	for (load = board->gpu_loads; load && *load; load++)
		if (watt_root_exists(&set->env->sysfs, *load))
			return add_gpu_load(set, "gpu", *load);
	return 0;
}

static int add_gpu_clock(struct watt_sensor_set *set, const char *device)
{
	char path[PATH_SIZE];
	const struct file_sensor clock = { .chip = device,
					   .part = "clock",
					   .path = path,
					   .quantity = WATT_QUANTITY_FREQUENCY,
					   .scale_num = 1,
					   .scale_den = 1,
					   .period_ns = MEDIUM_NS };

	snprintf(path, sizeof(path), DEVFREQ "/%.96s/cur_freq", device);
	if (!is_gpu(set, device) || !watt_root_exists(&set->env->sysfs, path))
		return 0;
	return add_file(set, &clock);
}

static int add_gpu(struct watt_sensor_set *set, const char *device)
{
	char path[PATH_SIZE];
	int r = 0;

	snprintf(path, sizeof(path), DEVFREQ "/%.96s/device/load", device);
	if (is_gpu(set, device) && watt_root_exists(&set->env->sysfs, path))
		r = add_gpu_load(set, device, path);
	return r < 0 ? r : add_gpu_clock(set, device);
}

/*
 * The load where the board says, or else where devfreq has it. A board that does not say may have it
 * where one that is built in does.
 */
static int add_gpus(struct watt_sensor_set *set, const struct watt_board *board, size_t *n)
{
	const struct watt_board *any;
	int r = board ? add_board_gpu(set, board) : 0;

	if (r == 0)
		r = add_each(set, DEVFREQ, "", has_load(set) ? add_gpu_clock : add_gpu, n);
	for (any = watt_boards;
	     !(board && board->gpu_loads) && any->name && r == 0 && !has_load(set); any++)
		r = add_board_gpu(set, any);
	return r;
}

/* ---- clocks of CPUs ---- */

static int add_policy(struct watt_sensor_set *set, const char *policy)
{
	char path[PATH_SIZE], cpus[64];
	const struct file_sensor clock = { .chip = policy,
					   .part = "clock",
					   .label = cpus,
					   .path = path,
					   .quantity = WATT_QUANTITY_FREQUENCY,
					   .scale_num = 1000,
					   .scale_den = 1,
					   .period_ns = MEDIUM_NS };

	if (watt_root_readf(&set->env->sysfs, cpus, sizeof(cpus), CPUFREQ "/%.96s/affected_cpus",
			    policy) < 0)
		watt_strlcpy(cpus, policy, sizeof(cpus));
	snprintf(path, sizeof(path), CPUFREQ "/%.96s/scaling_cur_freq", policy);
	return watt_root_exists(&set->env->sysfs, path) ? add_file(set, &clock) : 0;
}

/* ---- what CPUs did ---- */

struct cpu_reader {
	struct watt_sensor_reader base;
	struct watt_cpu_busy *busy;
};

static void look_at_cpus(struct watt_sensor_reader *base)
{
	watt_cpu_busy_look(watt_container_of(base, struct cpu_reader, base)->busy);
}

static void get_cpu(const struct watt_sensor_reader *base, uint32_t index, struct watt_sample *ret)
{
	const struct cpu_reader *reader = watt_container_of(base, struct cpu_reader, base);

	watt_cpu_busy_get(reader->busy, index, ret);
}

static void free_cpus(struct watt_sensor_reader *base)
{
	struct cpu_reader *reader = watt_container_of(base, struct cpu_reader, base);

	watt_cpu_busy_close(reader->busy);
	free(reader);
}

static int open_cpus(struct watt_sensor_set *set)
{
	struct cpu_reader *reader = calloc(1, sizeof(*reader));
	int r;

	if (!reader)
		return -ENOMEM;
	r = watt_cpu_busy_open(set->env, &reader->busy);
	if (r < 0) {
		free(reader);
		return r;
	}
	reader->base = (struct watt_sensor_reader){ .look = look_at_cpus,
						    .get = get_cpu,
						    .free = free_cpus };
	set->reader = &reader->base;
	return 0;
}

/* Each is a channel; all are one group: one look tells of all. */
static int add_cpus(struct watt_sensor_set *set)
{
	const struct watt_cpu_busy *busy;
	char chip[32];
	struct watt_sensor_spec spec = {
		.chip = chip,
		.part = "busy",
		.root = &set->env->procfs,
		.factor = { { .path = "stat" } },
		.is_of_reader = true,
		.channel = { .quantity = WATT_QUANTITY_RATIO, .scale_num = 1, .scale_den = 1 },
	};
	int cpu, r = open_cpus(set);

	if (r < 0)
		return r == -ENOMEM ? r : 0;
	busy = watt_container_of(set->reader, struct cpu_reader, base)->busy;
	for (; r >= 0 && (cpu = watt_cpu_busy_get_cpu(busy, spec.index)) >= 0; spec.index++) {
		snprintf(chip, sizeof(chip), "cpu%d", cpu);
		r = add(set, &spec);
	}
	return r < 0 ? r : watt_sensor_set_end_group(set, watt_cpu_busy_get_period_ns(busy));
}

/* ---- fans ---- */

/* "fan1_input" and "pwm1", without those that configure them: "pwm1_enable". */
static bool is_fan(const char *name, bool *ret_is_speed)
{
	const char *p = name + 3;
	uint64_t number;

	*ret_is_speed = !strncmp(name, "fan", 3);
	if (!*ret_is_speed && strncmp(name, "pwm", 3))
		return false;
	return watt_scan_digits(&p, &number) == 0 && !strcmp(p, *ret_is_speed ? "_input" : "");
}

static int add_fans(struct watt_sensor_set *set, const char *hwmon)
{
	struct watt_names names = WATT_NAMES_INIT;
	char dir[PATH_SIZE / 2], chip[96], path[PATH_SIZE];
	struct file_sensor fan = {
		.chip = chip, .path = path, .scale_den = 1, .period_ns = SLOW_NS
	};
	bool is_speed;
	int r = 0;
	size_t i;

	snprintf(dir, sizeof(dir), HWMON "/%.64s", hwmon);
	if (watt_device_name(&set->env->sysfs, dir, chip, sizeof(chip)) < 0)
		watt_strlcpy(chip, hwmon, sizeof(chip));
	if (watt_root_list(&set->env->sysfs, dir, "", &names) < 0)
		return 0;
	for (i = 0; i < names.n && r == 0; i++) {
		if (!is_fan(names.name[i], &is_speed))
			continue;
		snprintf(path, sizeof(path), "%s/%.64s", dir, names.name[i]);
		fan.part = names.name[i];
		fan.quantity = is_speed ? WATT_QUANTITY_SPEED : WATT_QUANTITY_RATIO;
		/* of 255 */
		fan.scale_num = is_speed ? 1 : 1000000;
		fan.scale_den = is_speed ? 1 : 255;
		r = add_file(set, &fan);
	}
	watt_names_free(&names);
	return r;
}

/* ---- memory ---- */

/* What is used is what is there less what is available. */
static int add_memory(struct watt_sensor_set *set)
{
	struct watt_sensor_spec spec = {
		.chip = "memory",
		.part = "available",
		.root = &set->env->procfs,
		.factor = { { .path = MEMINFO, .field = "MemAvailable", .mul = KB } },
		.channel = { .quantity = WATT_QUANTITY_MEMORY, .scale_num = 1, .scale_den = 1 },
	};
	char text[4096];
	const char *total;
	uint64_t total_kb;
	int r;

	if (watt_root_read(&set->env->procfs, MEMINFO, text, sizeof(text)) <= 0)
		return 0;
	r = add(set, &spec);
	total = strstr(text, "MemTotal:");
	if (r < 0 || !total)
		return r;
	total += strlen("MemTotal:");
	total += strspn(total, " \t");
	if (watt_scan_digits(&total, &total_kb) < 0 || total_kb > INT64_MAX / KB)
		return 0;
	spec.part = "used";
	spec.factor[0].mul = -KB;
	spec.factor[0].add = (int64_t)(total_kb * KB);
	return add(set, &spec);
}

/*
 * The share of the cycles of its clock in which the memory controller was busy:
 * activity / (rate * period). Its files can't be read twice without opening them again.
 */
static int add_board_emc(struct watt_sensor_set *set, const struct watt_board_emc *emc)
{
	struct watt_sensor_spec spec = {
		.chip = "memory",
		.part = "emc",
		.factor = { { .path = emc->activity }, { .path = emc->rate } },
		.is_ratio = true,
		.is_opened_anew = true,
		.channel = { .quantity = WATT_QUANTITY_RATIO, .scale_num = 1 },
	};
	uint64_t period_us;
	int r;

	if (!emc->activity || !watt_root_exists(&set->env->sysfs, emc->activity) ||
	    watt_root_read_u64(&set->env->sysfs, emc->period, &period_us) < 0 || !period_us ||
	    period_us > 1000000)
		return 0;
	/* ratio in 1e-6 = activity * 1e12 / (rate * period_us); 1e9 of it before the division */
	spec.factor[0].mul = 1000000000;
	spec.channel.scale_num = 1000;
	spec.channel.scale_den = period_us;
	r = add(set, &spec);
	return r < 0 ? r : 1;
}

static int add_emc(struct watt_sensor_set *set, const struct watt_board *board)
{
	const struct watt_board *any;
	int r = 0;

	if (board && board->emc.activity)
		return WATT_MIN(add_board_emc(set, &board->emc), 0);
	for (any = watt_boards; any->name && r == 0; any++)
		r = add_board_emc(set, &any->emc);
	return WATT_MIN(r, 0);
}

/* ---- */

static int add_all(struct watt_sensor_set *set, const struct watt_board *board,
		   size_t *ret_n_devices)
{
	int r = add_gpus(set, board, ret_n_devices);

	if (r == 0)
		r = add_each(set, CPUFREQ, "policy", add_policy, ret_n_devices);
	if (r == 0)
		r = add_memory(set);
	if (r >= 0)
		r = watt_sensor_set_end_group(set, FAST_NS);
	if (r == 0)
		r = add_emc(set, board);
	if (r == 0)
		r = watt_sensor_set_end_group(set, FAST_NS);
	if (r == 0)
		r = add_cpus(set);
	if (r == 0)
		r = add_zones(set, board, ret_n_devices);
	if (r == 0)
		r = add_each(set, HWMON, "hwmon", add_fans, ret_n_devices);
	return r;
}

static int load(struct watt_sensor_set *set, size_t *ret_n_devices)
{
	struct watt_board_choice choice;
	int r = watt_board_choose(set->env, &choice);

	*ret_n_devices = 1; /* memory */
	if (r == 0)
		r = add_all(set, choice.board, ret_n_devices);
	watt_board_choice_done(&choice);
	return r;
}

static const char *const watched[] = { THERMAL, DEVFREQ, HWMON, NULL };

static int context_rescan(const struct watt_env *env, const struct watt_known *known,
			  struct watt_power **ret)
{
	return watt_sensor_source_rescan(env, &watt_power_context, load, known, ret);
}

static int context_open(const struct watt_env *env, struct watt_power **ret)
{
	return watt_sensor_source_open(env, &watt_power_context, load, ret);
}

static int context_probe(const struct watt_env *env, struct watt_diag *diag)
{
	return watt_sensor_source_probe(env, &watt_power_context, load, "/proc/meminfo", "device",
					diag);
}

const struct watt_power_ops watt_power_context = {
	.name = "context",
	.summary = "temperatures, loads, clocks, fans, memory",
	.flags = WATT_POWER_BLOCKING | WATT_POWER_CONTEXT | WATT_POWER_TIERED,
	.probe = context_probe,
	.open = context_open,
	.rescan = context_rescan,
	.watched = watched,
	.read = watt_sensor_set_read,
	.close = watt_sensor_set_close,
};

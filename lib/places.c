/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the places of CPUs that come, from sysfs. It must not look at what runs there. */
#include "places.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "source/host/topology.h"

/* Where sysfs doesn't tell where a CPU is, it may do so soon, or never. */
#define WAIT_NS WATT_NSEC_PER_SEC

int watt_places_open(const struct watt_env *env, const struct watt_channel *const *channels,
		     size_t n_channels, struct watt_places *ret)
{
	struct watt_topology topology = WATT_TOPOLOGY_INIT;
	int r;

	*ret = (struct watt_places){ .env = env };
	r = watt_topology_open(env, &topology);
	if (r < 0)
		return r;
	r = watt_cpu_map_build(&topology, channels, n_channels, &ret->map, &ret->list);
	watt_topology_done(&topology);
	if (r < 0)
		return r;
	ret->has_come = calloc(ret->map.n_cpus + 1, sizeof(*ret->has_come));
	ret->is_due = calloc(ret->map.n_cpus + 1, sizeof(*ret->is_due));
	return ret->has_come && ret->is_due ? 0 : -ENOMEM;
}

void watt_places_done(struct watt_places *places)
{
	watt_cpu_map_done(&places->map);
	free(places->list);
	free(places->has_come);
	free(places->is_due);
	*places = (struct watt_places){ 0 };
}

static void fill_op(const struct watt_places *places, uint32_t cpu, struct watt_op *ret)
{
	uint32_t slot = places->map.slot[cpu];

	*ret = (struct watt_op){ .kind = WATT_OP_PLACE };
	ret->place.cpu = cpu;
	ret->place.slot = slot;
	ret->place.at = places->list[slot];
}

static void owe(struct watt_places *places, uint32_t cpu)
{
	places->has_come[cpu] = places->is_due[cpu] = true;
}

/* One package had everything, and is one of two now: that has to be told by a CPU of it. */
static void divide(struct watt_places *places)
{
	uint32_t cpu = 0;

	while (cpu < places->map.n_cpus && places->map.slot[cpu] != 0)
		cpu++;
	if (cpu < places->map.n_cpus)
		owe(places, cpu);
	places->next = 0;
}

static void join(struct watt_places *places, uint32_t cpu, uint64_t now_ns)
{
	bool was_whole = places->map.is_whole;
	const struct watt_cpu_place *place;

	if (watt_cpu_map_join(places->env, cpu, &places->map, places->list) < 0) {
		places->wait_ns = now_ns + WAIT_NS;
		return;
	}
	owe(places, cpu);
	place = places->map.is_whole ? &places->map.home : &places->list[places->map.slot[cpu]];
	watt_log(&places->env->log, WATT_LOG_INFO, "cpu%u has come: it is in package %d", cpu,
		 place->package_id);
	if (was_whole && !places->map.is_whole)
		divide(places);
}

bool watt_places_find(struct watt_places *places, const struct watt_usage_batch *batch,
		      uint64_t now_ns, struct watt_op *ret)
{
	bool is_early = now_ns < places->wait_ns && places->next == 0;

	if (places->map.n_slots < 2 || is_early)
		return false;
	while (places->next < places->map.n_cpus && places->next < batch->n_cpus) {
		uint32_t cpu = places->next++;

		if (batch->cpus[cpu].online && places->map.slot[cpu] == WATT_SLOT_NONE)
			join(places, cpu, now_ns);
		/* one that has divided them comes behind the one that tells where the others are */
		if (places->next == 0 || !places->is_due[cpu])
			continue;
		places->is_due[cpu] = false;
		fill_op(places, cpu, ret);
		return true;
	}
	places->next = 0;
	return false;
}

bool watt_places_recall(struct watt_places *places, struct watt_op *ret)
{
	while (places->next < places->map.n_cpus) {
		uint32_t cpu = places->next++;

		if (places->has_come[cpu]) {
			fill_op(places, cpu, ret);
			return true;
		}
	}
	places->next = 0;
	return false;
}

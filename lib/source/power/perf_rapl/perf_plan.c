/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the events of a PMU and the CPUs that it names to domains: one CPU stands for its package,
 * its die or its core. Works on what was read; must not open an event.
 */
#include "source/power/perf_rapl/perf_plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

static int find_kind(const char *event, enum watt_domain_kind *ret)
{
	static const struct {
		const char *event;
		enum watt_domain_kind kind;
	} kinds[] = {
		{ "energy-pkg", WATT_DOMAIN_PACKAGE }, { "energy-cores", WATT_DOMAIN_CORES },
		{ "energy-ram", WATT_DOMAIN_DRAM },    { "energy-gpu", WATT_DOMAIN_UNCORE },
		{ "energy-psys", WATT_DOMAIN_TOTAL },  { "energy-core", WATT_DOMAIN_CORE },
	};
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(kinds); i++) {
		if (!strcmp(event, kinds[i].event)) {
			*ret = kinds[i].kind;
			return 0;
		}
	}
	return -1;
}

static struct watt_topology_cpu cpu_at(const struct watt_topology *topology, uint32_t cpu)
{
	static const struct watt_topology_cpu unknown = { .core_id = -1 };

	return cpu < topology->n_cpus ? topology->cpus[cpu] : unknown;
}

/* A PMU that names two CPUs of one package counts per die. */
static bool counts_by_die(const struct watt_pmu *pmu, const struct watt_topology *topology)
{
	uint32_t i, k;

	for (i = 0; i < pmu->n_cpus; i++)
		for (k = 0; k < i; k++)
			if (cpu_at(topology, pmu->cpus[i]).package_id ==
			    cpu_at(topology, pmu->cpus[k]).package_id)
				return true;
	return false;
}

static int place_event(enum watt_domain_kind kind, const struct watt_topology_cpu *cpu, bool by_die,
		       int32_t first_package, struct watt_rapl_zone *ret)
{
	*ret = (struct watt_rapl_zone){
		.kind = kind,
		.package_id = cpu->package_id,
		.die_id = by_die ? cpu->die_id : -1,
		.core_id = -1,
	};
	if (kind == WATT_DOMAIN_CORE) {
		ret->core_id = cpu->core_id;
		ret->die_id = -1;
	} else if (kind == WATT_DOMAIN_TOTAL) {
		/* as powercap names it: that of the first package is the machine's */
		ret->package_id = cpu->package_id == first_package ? -1 : cpu->package_id;
		ret->die_id = -1;
	}
	return watt_rapl_zone_place(ret);
}

static bool plan_has(const struct watt_perf_plan *plan, const char *domain)
{
	uint32_t i;

	for (i = 0; i < plan->n_items; i++)
		if (!strcmp(plan->items[i].zone.domain, domain))
			return true;
	return false;
}

static int add_item(struct watt_perf_plan *plan, const struct watt_pmu *pmu,
		    const struct watt_pmu_event *event, uint32_t cpu,
		    const struct watt_rapl_zone *zone)
{
	struct watt_perf_item *item;
	int r;

	r = watt_grow((void **)&plan->items, &plan->cap, plan->n_items, sizeof(*plan->items));
	if (r < 0)
		return r;
	item = &plan->items[plan->n_items++];
	*item = (struct watt_perf_item){
		.pmu = plan->n_pmus,
		.type = pmu->type,
		.cpu = cpu,
		.config = event->config,
		.scale_num = event->scale_num,
		.scale_den = event->scale_den,
		.zone = *zone,
	};
	snprintf(item->label, sizeof(item->label), "%s/%s/", pmu->name, event->name);
	return 0;
}

/* The event on one CPU, if it is to be used there. */
static int plan_event(struct watt_perf_plan *plan, const struct watt_pmu *pmu,
		      const struct watt_pmu_event *event, uint32_t cpu,
		      const struct watt_topology *topology, const struct watt_log *log)
{
	struct watt_topology_cpu where = cpu_at(topology, cpu);
	enum watt_domain_kind kind;
	struct watt_rapl_zone zone;

	if (find_kind(event->name, &kind) < 0)
		return 0;
	if (place_event(kind, &where, counts_by_die(pmu, topology),
			cpu_at(topology, pmu->cpus[0]).package_id, &zone) < 0) {
		watt_log(log, WATT_LOG_WARNING,
			 "perf_rapl: %s/%s/ left out: the core of CPU %u is "
			 "not known",
			 pmu->name, event->name, cpu);
		return 0;
	}
	if (plan_has(plan, zone.domain)) {
		/* every die of a package shows the same platform counter */
		watt_log(log, kind == WATT_DOMAIN_TOTAL ? WATT_LOG_DEBUG : WATT_LOG_WARNING,
			 "perf_rapl: %s/%s/ of CPU %u left out: %s is measured already", pmu->name,
			 event->name, cpu, zone.domain);
		return 0;
	}
	return add_item(plan, pmu, event, cpu, &zone);
}

int watt_perf_plan_add(struct watt_perf_plan *plan, const struct watt_pmu *pmu,
		       const struct watt_topology *topology, bool is_amd,
		       const struct watt_log *log)
{
	enum watt_domain_kind kind;
	uint32_t i, k;
	int r;

	for (k = 0; k < pmu->n_events; k++)
		if (find_kind(pmu->events[k].name, &kind) < 0)
			watt_log(log, WATT_LOG_WARNING, "perf_rapl: %s/%s/ left out: unknown event",
				 pmu->name, pmu->events[k].name);
	for (i = 0; i < pmu->n_cpus; i++) {
		for (k = 0; k < pmu->n_events; k++) {
			/* on AMD it is the counter of one core */
			if (is_amd && !strcmp(pmu->events[k].name, "energy-cores"))
				continue;
			r = plan_event(plan, pmu, &pmu->events[k], pmu->cpus[i], topology, log);
			if (r < 0)
				return r;
		}
	}
	plan->n_pmus++;
	return 0;
}

void watt_perf_plan_done(struct watt_perf_plan *plan)
{
	free(plan->items);
	*plan = (struct watt_perf_plan)WATT_PERF_PLAN_INIT;
}

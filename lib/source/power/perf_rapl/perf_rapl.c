/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Power source "perf_rapl": RAPL energy through the perf PMUs "power" and "power_core", whose 64-bit
 * counts the kernel extends, so that nothing wraps. Must not sample, and not count single tasks.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/util.h"
#include "source/channels.h"
#include "source/power/cpu_vendor.h"
#include "source/power/perf_rapl/perf_bundle.h"
#include "source/registry.h"
#include "source/host/status.h"

#define PMUS_MAX 2
/* Time for three updates of the hardware. */
#define SETTLE_NS (4 * WATT_NSEC_PER_MSEC)

struct perf_rapl {
	struct watt_power base;
	struct watt_perf_plan plan; /* one item per channel, in order */
	struct watt_perf_bundle *bundles;
	uint32_t n_bundles;
	struct watt_channels channels;
	struct watt_power_group groups[PMUS_MAX];
	uint32_t first_bundle[PMUS_MAX + 1]; /* of each group */
};

/* What was found on the way, for the diagnosis. */
struct findings {
	uint32_t n_pmus;
	uint32_t n_planned;
	uint32_t n_failed;
	int error;       /* of the first event that could not be opened */
	bool is_foreign; /* the PMU belongs to the captured machine, not to this kernel */
	bool is_stuck;
};

/* Adds what a PMU offers to the plan. A PMU that is not there, or is empty, adds nothing. */
static int plan_pmu(const struct watt_env *env, const char *name,
		    const struct watt_topology *topology, bool is_amd, struct watt_perf_plan *plan,
		    struct findings *found)
{
	struct watt_pmu pmu = WATT_PMU_INIT;
	int r;

	r = watt_pmu_open(env, name, &pmu);
	if (r == -ENOENT || r == -ENOMEM)
		return r == -ENOMEM ? r : 0;
	if (r < 0) {
		watt_log(&env->log, WATT_LOG_WARNING, "perf_rapl: PMU %s left out: %s", name,
			 watt_error_text(r));
		found->error = found->error ? found->error : r;
		return 0;
	}
	found->n_pmus++;
	/*
	 * The number of a PMU means something only in the kernel that gave it. In a captured tree
	 * it would open a stranger's event here; software events are the same everywhere, but what
	 * they count is this machine's.
	 */
	if (pmu.n_events > 0 &&
	    (env->is_captured || (!env->sysfs.is_kernel && pmu.type != PERF_TYPE_SOFTWARE)))
		found->is_foreign = true;
	else
		r = watt_perf_plan_add(plan, &pmu, topology, is_amd, &env->log);
	watt_pmu_done(&pmu);
	return r;
}

static int make_plan(const struct watt_env *env, struct watt_perf_plan *plan,
		     struct findings *found)
{
	static const char *const names[PMUS_MAX] = { "power", "power_core" };
	struct watt_topology topology = WATT_TOPOLOGY_INIT;
	bool is_amd = watt_cpu_is_amd(env);
	size_t i;
	int r;

	r = watt_topology_open_quietly(env, &topology);
	for (i = 0; r == 0 && i < PMUS_MAX; i++)
		r = plan_pmu(env, names[i], &topology, is_amd, plan, found);
	watt_topology_done(&topology);
	found->n_planned = plan->n_items;
	return r;
}

static void name_channel(const struct watt_perf_item *item, char *ret, size_t size)
{
	snprintf(ret, size, "perf_rapl/%s", item->zone.domain);
}

/* What somebody has leaves the plan. */
static void forget_known(struct watt_perf_plan *plan, const struct watt_known *known)
{
	uint32_t i, n = 0;

	for (i = 0; i < plan->n_items; i++) {
		char name[128];

		name_channel(&plan->items[i], name, sizeof(name));
		if (!watt_known_has(known, name))
			plan->items[n++] = plan->items[i];
	}
	plan->n_items = n;
}

/* Opens an event as a member of the bundle before, or else, if that is refused, alone. */
static int open_item(struct perf_rapl *p, const struct watt_perf_item *item)
{
	int r = -EINVAL;

	if (p->n_bundles > 0)
		r = watt_perf_bundle_join(&p->bundles[p->n_bundles - 1], item);
	if (r < 0) {
		r = watt_perf_bundle_open(&p->bundles[p->n_bundles], item);
		p->n_bundles += r == 0;
	}
	return r;
}

/* Opens what is planned; what can't be opened leaves the plan. */
static int open_items(const struct watt_env *env, struct perf_rapl *p, struct findings *found)
{
	struct watt_perf_plan *plan = &p->plan;
	uint32_t i, n_open = 0;
	int r;

	p->bundles = calloc(plan->n_items + 1, sizeof(*p->bundles));
	if (!p->bundles)
		return -ENOMEM;
	for (i = 0; i < plan->n_items; i++) {
		struct watt_perf_item *item = &plan->items[n_open];

		*item = plan->items[i];
		r = open_item(p, item);
		if (r == 0) {
			n_open++;
			continue;
		}
		found->n_failed++;
		found->error = found->error ? found->error : r;
		watt_log(&env->log, WATT_LOG_WARNING, "perf_rapl: %s of CPU %u left out: %s",
			 item->label, item->cpu, watt_error_text(r));
	}
	plan->n_items = n_open;
	return 0;
}

static bool is_any_moving(const struct perf_rapl *p)
{
	uint32_t i;

	for (i = 0; i < p->n_bundles; i++)
		if (watt_perf_bundle_is_moving(&p->bundles[i]))
			return true;
	return false;
}

/* A guest may show counters that never count. */
static bool is_stuck(const struct perf_rapl *p)
{
	struct timespec pause = watt_timespec_from_ns(SETTLE_NS);

	if (is_any_moving(p))
		return false;
	nanosleep(&pause, NULL);
	return !is_any_moving(p);
}

static int add_channel(const struct watt_env *env, struct perf_rapl *p,
		       const struct watt_perf_item *item, uint32_t group, bool is_amd)
{
	const struct watt_rapl_zone *zone = &item->zone;
	char name[128], path[400];
	struct watt_channel channel = {
		.name = name,
		.source = "perf_rapl",
		.domain = zone->domain,
		.label = item->label,
		.path = path,
		.kind = zone->kind,
		.quantity = WATT_QUANTITY_ENERGY,
		.semantics = WATT_SEMANTICS_COUNTER,
		.origin = WATT_ORIGIN_MEASURED,
		.package_id = zone->kind == WATT_DOMAIN_TOTAL ? -1 : zone->package_id,
		.die_id = zone->die_id,
		.core_id = zone->core_id,
		.group = group,
		.scale_num = item->scale_num,
		.scale_den = item->scale_den,
		.max_power_uw = watt_rapl_max_power_uw(zone->kind, 0),
		.period_ns = WATT_NSEC_PER_MSEC,
		.uncertainty_ppm = watt_rapl_uncertainty_ppm(zone->kind, is_amd),
	};

	if (zone->kind == WATT_DOMAIN_TOTAL && zone->package_id >= 0)
		channel.flags |= WATT_CHANNEL_OVERLAP_UNKNOWN;
	name_channel(item, name, sizeof(name));
	snprintf(path, sizeof(path), "%s/bus/event_source/devices %s on CPU %u", env->sysfs.path,
		 item->label, item->cpu);
	return watt_channels_add(&p->channels, &channel);
}

/* One group per PMU: the cores of a big machine are many and cost more to ask. */
static int make_channels(const struct watt_env *env, struct perf_rapl *p)
{
	bool is_amd = watt_cpu_is_amd(env);
	struct watt_power_group *group = NULL;
	uint32_t i, k, bundle = 0;
	int r;

	for (i = 0; i < p->plan.n_items; i++) {
		if (i == 0 || p->plan.items[i].pmu != p->plan.items[i - 1].pmu) {
			group = &p->groups[p->base.n_groups++];
			*group = (struct watt_power_group){ .first = i,
							    .period_ns = WATT_NSEC_PER_MSEC };
		}
		group->n++;
		r = add_channel(env, p, &p->plan.items[i], p->base.n_groups - 1, is_amd);
		if (r < 0)
			return r;
	}
	for (k = 0; k < p->base.n_groups; k++) {
		p->first_bundle[k] = bundle;
		while (bundle < p->n_bundles &&
		       p->bundles[bundle].items[0].pmu == p->plan.items[p->groups[k].first].pmu)
			bundle++;
	}
	p->first_bundle[k] = bundle;
	p->base.channels = p->channels.channel;
	p->base.n_channels = p->plan.n_items;
	p->base.groups = p->groups;
	return 0;
}

static void perf_rapl_close(struct watt_power *power)
{
	struct perf_rapl *p = (struct perf_rapl *)power;
	uint32_t i;

	if (!p)
		return;
	for (i = 0; i < p->n_bundles; i++)
		watt_perf_bundle_close(&p->bundles[i]);
	free(p->bundles);
	watt_channels_done(&p->channels);
	watt_perf_plan_done(&p->plan);
	free(p);
}

static int judge(const struct perf_rapl *p, struct findings *found)
{
	if (p->plan.n_items == 0 && found->n_failed)
		return found->error == -EPERM ? -EACCES : found->error;
	if (p->plan.n_items == 0)
		return found->error ? found->error : -ENODEV;
	found->is_stuck = is_stuck(p);
	return found->is_stuck ? -ENODEV : 0;
}

static int perf_rapl_build(const struct watt_env *env, const struct watt_known *known,
			   struct perf_rapl **ret, struct findings *found)
{
	struct perf_rapl *p = calloc(1, sizeof(*p));
	int r;

	if (!p)
		return -ENOMEM;
	p->base.ops = &watt_power_perf_rapl;
	r = make_plan(env, &p->plan, found);
	if (r == 0) {
		forget_known(&p->plan, known);
		r = open_items(env, p, found);
	}
	if (r == 0)
		r = judge(p, found);
	if (r == 0)
		r = make_channels(env, p);
	if (r < 0) {
		perf_rapl_close(&p->base);
		return r;
	}
	*ret = p;
	return 0;
}

/* The PMU comes with its driver, and shows a CPU of each package that is online. */
static const char *const perf_rapl_watched[] = { "bus/event_source/devices", "devices/system/cpu",
						 NULL };

static int perf_rapl_rescan(const struct watt_env *env, const struct watt_known *known,
			    struct watt_power **ret)
{
	struct findings found = { 0 };
	struct perf_rapl *p;
	int r;

	r = perf_rapl_build(env, known, &p, &found);
	if (r < 0)
		return r;
	p->base.n_refused = found.n_failed;
	*ret = &p->base;
	return 0;
}

static int perf_rapl_open(const struct watt_env *env, struct watt_power **ret)
{
	const struct watt_known nothing = { 0 };

	return perf_rapl_rescan(env, &nothing, ret);
}

static void perf_rapl_read(struct watt_power *power, uint32_t group, struct watt_sample *ret)
{
	struct perf_rapl *p = (struct perf_rapl *)power;
	uint32_t i;

	for (i = p->first_bundle[group]; i < p->first_bundle[group + 1]; i++) {
		watt_perf_bundle_read(&p->bundles[i], ret);
		ret += p->bundles[i].n;
	}
}

#define SAY(field, ...) snprintf(diag->field, sizeof(diag->field), __VA_ARGS__)

static void explain_absent(const struct findings *found, struct watt_diag *diag)
{
	if (found->is_foreign) {
		SAY(why,
		    "the PMU in this tree belongs to another kernel: its events can't be opened "
		    "here");
		SAY(hint, "use powercap for a captured machine");
	} else if (found->is_stuck) {
		diag->error = -ENODATA;
		SAY(why, "%u events can be opened and all counts stay at 0, as in virtual machines",
		    found->n_planned);
	} else if (found->n_pmus) {
		SAY(why,
		    "the power PMU is there and offers no energy event, as in virtual machines");
	} else {
		SAY(why, "there is no power PMU");
		SAY(hint,
		    "on real Intel or AMD hardware: modprobe rapl; a virtual machine has none");
	}
}

static void explain_forbidden(const struct watt_env *env, struct watt_diag *diag)
{
	char paranoid[16] = "unknown";

	watt_root_read(&env->procfs, "sys/kernel/perf_event_paranoid", paranoid, sizeof(paranoid));
	SAY(why, "events of a whole CPU are forbidden; perf_event_paranoid is %s", paranoid);
	SAY(hint, "run as root or with CAP_PERFMON, or set sysctl kernel.perf_event_paranoid=0; in "
		  "a container also let seccomp allow perf_event_open");
}

static void explain(const struct watt_env *env, const struct perf_rapl *p,
		    const struct findings *found, int r, struct watt_diag *diag)
{
	SAY(path, "bus/event_source/devices/power");
	diag->error = r;
	diag->state = watt_availability_from_errno(r);
	/* the PMU is there: an event that it does not know is its fault */
	if (found->n_failed && diag->state == WATT_ABSENT)
		diag->state = WATT_BROKEN;
	if (r == 0) {
		SAY(why, "%u of %u events count, read by %u calls", p->base.n_channels,
		    found->n_planned, p->n_bundles);
		if (found->n_failed)
			SAY(hint, "%u events could not be opened: %s", found->n_failed,
			    watt_error_text(found->error));
	} else if (diag->state == WATT_FORBIDDEN) {
		explain_forbidden(env, diag);
	} else if (diag->state == WATT_ABSENT) {
		explain_absent(found, diag);
	} else {
		SAY(why, "the power PMU is there and its events can't be opened: %s",
		    watt_error_text(r));
	}
}

static int perf_rapl_probe(const struct watt_env *env, struct watt_diag *diag)
{
	struct watt_env quiet = *env;
	const struct watt_known nothing = { 0 };
	struct findings found = { 0 };
	struct perf_rapl *p = NULL;
	uint32_t i;
	int r;

	quiet.log = (struct watt_log){ 0 };
	r = perf_rapl_build(&quiet, &nothing, &p, &found);
	explain(env, p, &found, r, diag);
	if (r == 0) {
		diag->n_channels = p->base.n_channels;
		diag->period_ns = p->groups[0].period_ns;
		for (i = 0; i < p->base.n_channels; i++)
			diag->uncertainty_ppm = WATT_MAX(diag->uncertainty_ppm,
							 p->base.channels[i].uncertainty_ppm);
	}
	perf_rapl_close(p ? &p->base : NULL);
	return r;
}

const struct watt_power_ops watt_power_perf_rapl = {
	.name = "perf_rapl",
	.summary = "RAPL energy counters through the perf power PMU",
	.flags = WATT_POWER_X86,
	.probe = perf_rapl_probe,
	.open = perf_rapl_open,
	.rescan = perf_rapl_rescan,
	.watched = perf_rapl_watched,
	.read = perf_rapl_read,
	.close = perf_rapl_close,
};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A snapshot as JSON, by docs/schema/wattribute-snapshot-1.json. Energies are there in integers
 * too, so that a script can check the conservation exactly.
 */
#include <errno.h>
#include <math.h>

#include <wattribute/json.h>
#include <wattribute/total.h>

#include "sink/json_value.h"

/* Since the start. */
static void add_total(struct watt_json *doc, struct watt_json_node obj, const char *key,
		      const char *key_j, bool is_known, struct watt_energy energy)
{
	if (is_known) {
		watt_json_energy(doc, obj, key, energy);
		watt_json_joules(doc, obj, key_j, energy);
	} else {
		watt_json_null(doc, obj, key);
		watt_json_null(doc, obj, key_j);
	}
}

static void add_window(struct watt_json *doc, struct watt_json_node obj, const char *key_nj,
		       const char *key_j, bool is_known, int64_t energy_nj)
{
	if (is_known) {
		watt_json_int(doc, obj, key_nj, energy_nj);
		watt_json_nano(doc, obj, key_j, energy_nj);
	} else {
		watt_json_null(doc, obj, key_nj);
		watt_json_null(doc, obj, key_j);
	}
}

/* A domain without a reading that works has no energy at all, not an energy of 0. */
static bool has_energy(const struct watt_domain_state *state)
{
	return state->status == WATT_STATUS_OK || !watt_energy_is_zero(state->energy);
}

static double power_w(int64_t energy_nj, const struct watt_domain_state *state)
{
	if (state->status != WATT_STATUS_OK || state->window_ns == 0)
		return NAN;
	return (double)energy_nj / (double)state->window_ns;
}

static void add_counts(struct watt_json *doc, struct watt_json_node obj,
		       const struct watt_domain_state *state)
{
	watt_json_int(doc, obj, "samples", (int64_t)state->samples);
	watt_json_int(doc, obj, "errors", (int64_t)state->errors);
	watt_json_int(doc, obj, "wraps", (int64_t)state->wraps);
	watt_json_int(doc, obj, "resets", (int64_t)state->resets);
	watt_json_int(doc, obj, "gaps", (int64_t)state->gaps);
	watt_json_time(doc, obj, "gap_s", state->gap_ns);
	watt_json_int(doc, obj, "ambiguous", (int64_t)state->ambiguous);
	watt_json_energy(doc, obj, "late", state->late);
}

/* How long ago the newest of its energy was used; NAN: it told of none yet. */
static double age_s(const struct watt_snapshot *snap, const struct watt_domain_state *state)
{
	uint64_t t_ns = watt_snapshot_get_time_ns(snap);

	return state->t_ns && t_ns >= state->t_ns ? (double)(t_ns - state->t_ns) / 1e9 : NAN;
}

static void add_domain(struct watt_json *doc, struct watt_json_node array,
		       const struct watt_snapshot *snap, size_t i)
{
	const struct watt_domain *domain = watt_snapshot_get_domain(snap, i);
	const struct watt_domain_state *state = watt_snapshot_get_domain_state(snap, i);
	const struct watt_domain *parent = NULL;
	struct watt_json_node obj = watt_json_append(doc, array);
	bool is_known = has_energy(state);

	if (domain->parent >= 0)
		parent = watt_snapshot_get_domain(snap, (size_t)domain->parent);
	watt_json_text(doc, obj, "path", domain->path);
	watt_json_text(doc, obj, "kind", watt_domain_kind_name(domain->kind));
	watt_json_text(doc, obj, "parent", parent ? parent->path : NULL);
	watt_json_text(doc, obj, "origin", watt_origin_name(domain->origin));
	watt_json_text(doc, obj, "share_key", watt_share_key_name(domain->key));
	watt_json_text(doc, obj, "used_key", watt_share_key_name(state->key));
	watt_json_real(doc, obj, "key_readiness_ratio", (double)state->key_readiness_ppm / 1e6);
	watt_json_ratio(doc, obj, "key_uncertainty_ratio", state->key_uncertainty_ppm);
	watt_json_text(doc, obj, "users_status", watt_status_name(state->users_status));
	watt_json_bool(doc, obj, "is_summed", domain->is_summed);
	watt_json_bool(doc, obj, "is_partition", domain->is_partition);
	watt_json_ratio(doc, obj, "uncertainty_ratio", domain->uncertainty_ppm);
	watt_json_text(doc, obj, "status", watt_status_name(state->status));
	watt_json_bool(doc, obj, "is_usable", state->is_usable);
	watt_json_known_time(doc, obj, "t_s", state->t_ns);
	watt_json_real(doc, obj, "age_s", age_s(snap, state));
	watt_json_time(doc, obj, "window_s", state->window_ns);
	add_total(doc, obj, "energy", "energy_j", is_known, state->energy);
	add_window(doc, obj, "window_nj", "window_j", is_known, state->window_nj);
	watt_json_real(doc, obj, "power_w", power_w(state->window_nj, state));
	add_total(doc, obj, "idle", "idle_j", is_known, state->idle);
	add_window(doc, obj, "window_idle_nj", "window_idle_j", is_known, state->window_idle_nj);
	add_total(doc, obj, "unattributed", "unattributed_j", is_known, state->unattributed);
	add_window(doc, obj, "window_unattributed_nj", "window_unattributed_j", is_known,
		   state->window_unattributed_nj);
	add_total(doc, obj, "shared_idle", "shared_idle_j", is_known, state->shared_idle);
	add_window(doc, obj, "window_shared_idle_nj", "window_shared_idle_j", is_known,
		   state->window_shared_idle_nj);
	watt_json_bool(doc, obj, "is_baseline_ready", state->baseline_ready);
	watt_json_real(doc, obj, "baseline_power_w",
		       state->baseline_ready ? (double)state->baseline_uw / 1e6 : NAN);
	watt_json_baseline(doc, obj, state);
	watt_json_significance(doc, obj, state);
	watt_json_time(doc, obj, "window_clamped_s", state->window_clamped_ns);
	watt_json_time(doc, obj, "window_transient_s", state->window_transient_ns);
	watt_json_found_delay(doc, obj, state->found_delay_ns, state->found_delay_uncertainty_ns);
	add_counts(doc, obj, state);
}

static void add_cgroup(struct watt_json *doc, struct watt_json_node row,
		       const struct watt_cgroup *cgroup)
{
	struct watt_json_node obj;

	if (!cgroup) {
		watt_json_null(doc, row, "cgroup");
		return;
	}
	obj = watt_json_object(doc, row, "cgroup");
	watt_json_int(doc, obj, "id", (int64_t)cgroup->id);
	watt_json_int(doc, obj, "hierarchy", cgroup->v1 ? 1 : 2);
	watt_json_text(doc, obj, "path", cgroup->path);
	watt_json_text(doc, obj, "runtime", cgroup->runtime);
	watt_json_text(doc, obj, "container", cgroup->container);
	watt_json_text(doc, obj, "pod_uid", cgroup->pod_uid);
	watt_json_text(doc, obj, "unit", cgroup->unit);
	watt_json_text(doc, obj, "user_unit", cgroup->user_unit);
	watt_json_text(doc, obj, "job", cgroup->job);
}

static void add_container(struct watt_json *doc, struct watt_json_node row,
			  const struct watt_container *container)
{
	struct watt_json_node obj, labels;
	uint32_t i;

	if (!container) {
		watt_json_null(doc, row, "container");
		return;
	}
	obj = watt_json_object(doc, row, "container");
	watt_json_text(doc, obj, "id", container->id);
	watt_json_text(doc, obj, "runtime", container->runtime);
	watt_json_text(doc, obj, "name", container->name);
	watt_json_text(doc, obj, "image", container->image);
	watt_json_text(doc, obj, "pod_uid", container->pod_uid);
	watt_json_text(doc, obj, "pod_name", container->pod_name);
	watt_json_text(doc, obj, "pod_namespace", container->pod_namespace);
	labels = watt_json_object(doc, obj, "labels");
	for (i = 0; i < container->n_labels; i++)
		watt_json_text(doc, labels, container->labels[i].key, container->labels[i].value);
}

static void add_identity(struct watt_json *doc, struct watt_json_node row,
			 const struct watt_identity *who, uint32_t missing)
{
	struct watt_json_node obj;

	if (!who) {
		watt_json_null(doc, row, "process");
		return;
	}
	obj = watt_json_object(doc, row, "process");
	watt_json_int(doc, obj, "pid", who->pid);
	if (who->tid)
		watt_json_int(doc, obj, "tid", who->tid);
	watt_json_id(doc, obj, "parent_pid", who->parent_pid, 0);
	watt_json_time(doc, obj, "start_s", who->start_ns);
	watt_json_id(doc, obj, "uid", missing & WATT_IDENTITY_UID ? -1 : (int64_t)who->uid, -1);
	watt_json_text(doc, obj, "comm", who->comm);
	watt_json_text(doc, obj, "exe", who->exe);
	watt_json_text(doc, obj, "cmdline", who->cmdline);
	watt_json_text(doc, obj, "vm_name", who->vm_name);
	watt_json_text(doc, obj, "hypervisor", who->hypervisor);
}

static void add_missing(struct watt_json *doc, struct watt_json_node row, uint32_t missing)
{
	static const struct {
		uint32_t bit;
		const char *name;
	} fields[] = {
		{ WATT_IDENTITY_EXE, "exe" },
		{ WATT_IDENTITY_CMDLINE, "cmdline" },
		{ WATT_IDENTITY_CGROUP, "cgroup" },
		{ WATT_IDENTITY_UID, "uid" },
	};
	struct watt_json_node array = watt_json_array(doc, row, "missing");
	size_t i;

	for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (missing & fields[i].bit)
			watt_json_append_text(doc, array, fields[i].name);
}

/* Whether the row is one of those whose sum is the domains' energy. */
static bool is_in_sum(enum watt_entity_kind kind)
{
	switch (kind) {
	case WATT_ENTITY_PROCESS:
	case WATT_ENTITY_VM:
	case WATT_ENTITY_KTHREAD:
	case WATT_ENTITY_EXITED:
	case WATT_ENTITY_IRQ:
	case WATT_ENTITY_SOFTIRQ:
	case WATT_ENTITY_IDLE:
	case WATT_ENTITY_UNATTRIBUTED:
		return true;
	case WATT_ENTITY_CGROUP:
	case WATT_ENTITY_CONTAINER:
	case WATT_ENTITY_UNIT:
	case WATT_ENTITY_USER:
	case WATT_ENTITY_TRACKED:
	case WATT_ENTITY_KERNEL:
	case WATT_ENTITY_POD:
	case WATT_ENTITY_THREAD:
	case WATT_ENTITY_JOB:
		return false;
	}
	return false;
}

/* Power over all domains of the partition that have any. */
static double row_power_w(const struct watt_snapshot *snap, const struct watt_row *row)
{
	double sum = 0;
	bool is_known = false;
	size_t i;

	for (i = 0; i < watt_snapshot_get_domain_count(snap); i++) {
		double power;

		if (!watt_snapshot_get_domain(snap, i)->is_partition)
			continue;
		power = power_w(row->window_nj[i], watt_snapshot_get_domain_state(snap, i));
		if (isnan(power))
			continue;
		sum += power;
		is_known = true;
	}
	return is_known ? sum : NAN;
}

static void add_row(struct watt_json *doc, struct watt_json_node array,
		    const struct watt_snapshot *snap, const struct watt_row *row)
{
	const struct watt_entity *entity = row->entity;
	struct watt_json_node obj = watt_json_append(doc, array), list;
	size_t i, n = watt_snapshot_get_domain_count(snap);

	watt_json_int(doc, obj, "id", (int64_t)entity->id);
	watt_json_id(doc, obj, "parent_id", (int64_t)entity->parent_id, 0);
	watt_json_text(doc, obj, "kind", watt_entity_kind_name(entity->kind));
	watt_json_text(doc, obj, "name", entity->name);
	watt_json_bool(doc, obj, "is_in_sum", is_in_sum(entity->kind));
	watt_json_bool(doc, obj, "is_alive", entity->alive);
	watt_json_int(doc, obj, "count", entity->count);
	watt_json_time(doc, obj, "cpu_s", row->cpu_ns);
	watt_json_time(doc, obj, "window_cpu_s", row->window_cpu_ns);
	watt_json_energy(doc, obj, "energy", row->total);
	watt_json_joules(doc, obj, "energy_j", row->total);
	watt_json_int(doc, obj, "window_nj", row->window_total_nj);
	watt_json_nano(doc, obj, "window_j", row->window_total_nj);
	watt_json_real(doc, obj, "power_w", row_power_w(snap, row));
	watt_json_real(doc, obj, "uncertainty_j", row->total_uncertainty_j);
	watt_json_real(doc, obj, "window_uncertainty_j", row->window_total_uncertainty_j);
	list = watt_json_array(doc, obj, "domain_energy");
	for (i = 0; i < n; i++)
		watt_json_append_energy(doc, list, row->energy[i]);
	list = watt_json_array(doc, obj, "domain_window_nj");
	for (i = 0; i < n; i++)
		watt_json_append_int(doc, list, row->window_nj[i]);
	add_identity(doc, obj, entity->identity, entity->missing);
	add_cgroup(doc, obj, entity->cgroup);
	add_container(doc, obj, entity->container);
	add_missing(doc, obj, entity->missing);
}

static void add_usage_flags(struct watt_json *doc, struct watt_json_node obj, uint32_t flags)
{
	watt_json_bool(doc, obj, "is_irq_separate", flags & WATT_BATCH_IRQ_SEPARATE);
	watt_json_bool(doc, obj, "has_deaths", flags & WATT_BATCH_DEATHS);
	watt_json_bool(doc, obj, "is_coarse", flags & WATT_BATCH_COARSE);
}

static void add_quality(struct watt_json *doc, const struct watt_quality *quality)
{
	struct watt_json_node obj = watt_json_object(doc, doc->root, "quality");

	watt_json_int(doc, obj, "checks", (int64_t)quality->checks);
	watt_json_int(doc, obj, "check_failures", (int64_t)quality->check_failures);
	watt_json_int(doc, obj, "sum_checks", (int64_t)quality->sum_checks);
	watt_json_int(doc, obj, "sum_failures", (int64_t)quality->sum_failures);
	watt_json_int(doc, obj, "sweeps", (int64_t)quality->sweeps);
	watt_json_time(doc, obj, "sweep_cost_s", quality->sweep_cost_ns);
	watt_json_int(doc, obj, "lost_records", (int64_t)quality->lost_records);
	watt_json_time(doc, obj, "unseen_cpu_s", quality->unseen_cpu_ns);
	watt_json_time(doc, obj, "late_cpu_s", quality->late_cpu_ns);
	watt_json_int(doc, obj, "damaged_records", (int64_t)quality->damaged_records);
	watt_json_int(doc, obj, "missed_reads", (int64_t)quality->missed_reads);
	watt_json_int(doc, obj, "lost_samples", (int64_t)quality->lost_samples);
	watt_json_time(doc, obj, "busy_cpu_s", quality->busy_ns);
	watt_json_time(doc, obj, "idle_cpu_s", quality->idle_ns);
	watt_json_time(doc, obj, "irq_cpu_s", quality->irq_ns);
	watt_json_time(doc, obj, "steal_cpu_s", quality->steal_ns);
	watt_json_time(doc, obj, "wall_cpu_s", quality->wall_ns);
	watt_json_ratio(doc, obj, "cpu_coverage_ratio", quality->coverage_ppm);
	add_usage_flags(doc, obj, quality->usage_flags);
}

static void add_cpu(struct watt_json *doc, struct watt_json_node array,
		    const struct watt_cpu_state *cpu)
{
	struct watt_json_node obj = watt_json_append(doc, array);

	watt_json_int(doc, obj, "cpu", cpu->cpu);
	watt_json_bool(doc, obj, "is_online", cpu->online);
	watt_json_time(doc, obj, "wall_s", cpu->wall_ns);
	watt_json_time(doc, obj, "user_s", cpu->user_ns);
	watt_json_time(doc, obj, "system_s", cpu->system_ns);
	watt_json_time(doc, obj, "idle_s", cpu->idle_ns);
	watt_json_time(doc, obj, "irq_s", cpu->irq_ns);
	watt_json_time(doc, obj, "softirq_s", cpu->softirq_ns);
	watt_json_time(doc, obj, "steal_s", cpu->steal_ns);
	watt_json_ratio(doc, obj, "coverage_ratio", cpu->coverage_ppm);
}

static void add_gauge(struct watt_json *doc, struct watt_json_node array,
		      const struct watt_gauge *gauge)
{
	struct watt_json_node obj = watt_json_append(doc, array);

	watt_json_text(doc, obj, "name", gauge->name);
	watt_json_text(doc, obj, "label", gauge->label);
	watt_json_text(doc, obj, "quantity", watt_quantity_name(gauge->quantity));
	watt_json_text(doc, obj, "unit", watt_quantity_unit(gauge->quantity));
	watt_json_text(doc, obj, "status", watt_status_name(gauge->status));
	watt_json_real(doc, obj, "value", gauge->value);
	watt_json_real(doc, obj, "window_mean", gauge->mean);
	watt_json_time(doc, obj, "known_s", gauge->known_ns);
	watt_json_int(doc, obj, "samples", (int64_t)gauge->samples);
	watt_json_int(doc, obj, "errors", (int64_t)gauge->errors);
}

/* What became of the machine's energy. */
static void add_machine(struct watt_json *doc, const struct watt_snapshot *snap)
{
	struct watt_json_node obj = watt_json_object(doc, doc->root, "machine");
	struct watt_total sum = { .sz = sizeof(sum) };
	bool is_known;

	watt_snapshot_get_total(snap, &sum);
	is_known = sum.n_known > 0;
	/* without a domain nobody knows yet whether there will be one */
	watt_json_text(doc, obj, "status",
		       watt_status_name(is_known      ? WATT_STATUS_OK :
					sum.n_domains ? sum.status :
							WATT_STATUS_PENDING));
	watt_json_text(doc, obj, "origin", is_known ? watt_origin_name(sum.origin) : NULL);
	watt_json_ratio(doc, obj, "uncertainty_ratio", sum.uncertainty_ppm);
	add_total(doc, obj, "energy", "energy_j", is_known, sum.energy);
	add_window(doc, obj, "window_nj", "window_j", is_known, sum.window_nj);
	add_total(doc, obj, "idle", "idle_j", is_known, sum.idle);
	add_window(doc, obj, "window_idle_nj", "window_idle_j", is_known, sum.window_idle_nj);
	add_total(doc, obj, "unattributed", "unattributed_j", is_known, sum.unattributed);
	add_window(doc, obj, "window_unattributed_nj", "window_unattributed_j", is_known,
		   sum.window_unattributed_nj);
	add_total(doc, obj, "shared_idle", "shared_idle_j", is_known, sum.shared_idle);
	add_window(doc, obj, "window_shared_idle_nj", "window_shared_idle_j", is_known,
		   sum.window_shared_idle_nj);
	watt_json_bool(doc, obj, "is_complete", !sum.n_missing);
	watt_json_bool(doc, obj, "is_baseline_ready", sum.is_baseline_ready);
	watt_json_text(doc, obj, "baseline_from",
		       sum.has_baseline ? watt_baseline_from_name(sum.baseline_from) : NULL);
	watt_json_real(doc, obj, "power_w", sum.power_w);
	watt_json_real(doc, obj, "idle_power_w", sum.idle_w);
	watt_json_real(doc, obj, "unattributed_power_w", sum.unattributed_w);
	watt_json_real(doc, obj, "attributed_power_w",
		       sum.power_w - sum.idle_w - sum.unattributed_w);
}

int watt_snapshot_to_json(const struct watt_snapshot *snap, uint32_t flags, char **ret)
{
	struct watt_json doc;
	struct watt_json_node array;
	size_t i;

	if (!snap || !ret)
		return -EINVAL;
	watt_json_init(&doc, flags, "wattribute-snapshot-1");
	watt_json_int(&doc, doc.root, "sequence", (int64_t)watt_snapshot_get_sequence(snap));
	watt_json_time(&doc, doc.root, "realtime_s", watt_snapshot_get_realtime_ns(snap));
	watt_json_time(&doc, doc.root, "t_s", watt_snapshot_get_time_ns(snap));
	watt_json_time(&doc, doc.root, "start_s", watt_snapshot_get_start_ns(snap));
	watt_json_time(&doc, doc.root, "window_start_s", watt_snapshot_get_window_start_ns(snap));
	watt_json_text(&doc, doc.root, "idle_policy",
		       watt_idle_policy_name(watt_snapshot_get_idle_policy(snap)));
	watt_json_text(&doc, doc.root, "phase", watt_snapshot_get_phase(snap));
	add_machine(&doc, snap);
	array = watt_json_array(&doc, doc.root, "domains");
	for (i = 0; i < watt_snapshot_get_domain_count(snap); i++)
		add_domain(&doc, array, snap, i);
	array = watt_json_array(&doc, doc.root, "rows");
	for (i = 0; i < watt_snapshot_get_row_count(snap); i++)
		add_row(&doc, array, snap, watt_snapshot_get_row(snap, i));
	array = watt_json_array(&doc, doc.root, "cpus");
	for (i = 0; i < watt_snapshot_get_cpu_count(snap); i++)
		add_cpu(&doc, array, watt_snapshot_get_cpu(snap, i));
	array = watt_json_array(&doc, doc.root, "gauges");
	for (i = 0; i < watt_snapshot_get_gauge_count(snap); i++)
		add_gauge(&doc, array, watt_snapshot_get_gauge(snap, i));
	add_quality(&doc, watt_snapshot_get_quality(snap));
	return watt_json_done(&doc, ret);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What all formats ask of a recording. */
#include "export.h"

#include <math.h>

uint32_t export_kinds_in_sum(void)
{
	uint32_t kinds = 1u << WATT_ENTITY_IDLE | 1u << WATT_ENTITY_UNATTRIBUTED;
	int kind;

	for (kind = 0; kind <= WATT_ENTITY_POD; kind++)
		if (view_is_user((enum watt_entity_kind)kind))
			kinds |= 1u << kind;
	return kinds;
}

bool export_has_kind(const struct export *ex, enum watt_entity_kind kind)
{
	return (unsigned int)kind < 32 && ex->kinds & 1u << kind;
}

int64_t export_since_ns(const struct export *ex, uint64_t t_ns)
{
	return (int64_t)(t_ns - ex->about->info->start_ns);
}

uint64_t export_realtime_ns(const struct export *ex, uint64_t t_ns)
{
	const struct watt_recording_info *info = ex->about->info;

	return info->start_realtime_ns + (t_ns - info->start_ns);
}

bool export_is_known(const struct watt_domain_state *state)
{
	return view_has_energy(state) && state->window_ns > 0;
}

double export_row_w(const struct view *view, const struct watt_row *row)
{
	double sum_w = 0;
	bool is_known = false;
	size_t i;

	for (i = 0; i < view->n_domains; i++) {
		double power_w;

		if (!view->domains[i]->is_partition)
			continue;
		power_w = view_power_w(view->states[i], row->window_nj[i]);
		if (isnan(power_w))
			continue;
		sum_w += power_w;
		is_known = true;
	}
	return is_known ? sum_w : NAN;
}

bool export_has_used(const struct view *view, const struct watt_row *row)
{
	size_t i;

	if (row->window_cpu_ns)
		return true;
	for (i = 0; i < view->n_domains; i++)
		if (row->window_nj[i])
			return true;
	return false;
}

const char *export_container(const struct watt_entity *entity)
{
	return entity->cgroup ? entity->cgroup->container : NULL;
}

const char *export_pod(const struct watt_entity *entity)
{
	return entity->cgroup ? entity->cgroup->pod_uid : NULL;
}

const char *export_unit(const struct watt_entity *entity)
{
	return entity->cgroup ? entity->cgroup->unit : NULL;
}

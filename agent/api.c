/* SPDX-License-Identifier: Apache-2.0 */
/* Documents, by jansson. What is not known is null. */
#include "api.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <wattribute/json.h>

#include "xalloc.h"

/* A number, or null. */
static json_t *number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static double joules(nanojoules energy_nj)
{
	return (double)energy_nj / 1e9;
}

static double seconds(uint64_t time_ns)
{
	return (double)time_ns / 1e9;
}

/* ---- labels ---- */

static json_t *make_labels(const char *text)
{
	json_t *labels = json_object();
	char name[64], value[8192];

	while ((text = exposition_next_label(text, name, sizeof(name), value, sizeof(value))))
		json_object_set_new(labels, name, json_string(value));
	return labels;
}

/* ---- status ---- */

static json_t *make_domain(const struct monitor *monitor, size_t index)
{
	const struct watt_domain *domain = monitor_domain(monitor, index);
	const struct watt_domain_state *state = monitor_state(monitor, index);
	const struct watt_domain *parent =
		domain->parent < 0 ? NULL : monitor_domain(monitor, (size_t)domain->parent);
	bool is_known = state->samples || state->status == WATT_STATUS_OK;

	return json_pack(
		"{s:s, s:s?, s:s, s:s, s:s, s:s, s:o, s:o, s:s, s:o, s:o, s:o, s:b, s:b}", "path",
		domain->path, "parent", parent ? parent->path : NULL, "kind",
		watt_domain_kind_name(domain->kind), "origin", watt_origin_name(domain->origin),
		"method", watt_share_key_name(state->key), "status",
		watt_status_name(state->status), "power_w", number(monitor_power_w(monitor, index)),
		"idle_w", number(state->baseline_ready ? (double)state->baseline_uw / 1e6 : NAN),
		"idle_from", watt_baseline_from_name(state->baseline_from), "idle_uncertainty_w",
		number(monitor_idle_uncertainty_w(monitor, index)), "energy_j",
		number(is_known ? watt_energy_to_j(state->energy) : NAN), "uncertainty_ratio",
		number(domain->uncertainty_ppm ? domain->uncertainty_ppm / 1e6 : NAN), "is_summed",
		(int)domain->is_summed, "is_partition", (int)domain->is_partition);
}

static json_t *make_domains(const struct monitor *monitor)
{
	size_t n = monitor_domain_count(monitor), i;
	json_t *domains = json_array();

	for (i = 0; i < n; i++)
		json_array_append_new(domains, make_domain(monitor, i));
	return domains;
}

/* Over the domains of the partition. */
static nanojoules partition_sum(const struct monitor *monitor, const struct roster_sum *sums)
{
	size_t n = monitor_domain_count(monitor), i;
	nanojoules sum = 0;

	for (i = 0; i < n; i++)
		if (monitor_domain(monitor, i)->is_partition)
			sum += sums[ROSTER_DOMAIN(i)].out;
	return sum;
}

/* What a user takes of all GPUs. NAN: there is none, or nothing is known. */
static double gpu_power_w(const struct monitor *monitor, const struct roster_user *user)
{
	size_t n = monitor_domain_count(monitor), i;
	double power_w = NAN;

	for (i = 0; i < n; i++)
		if (monitor->is_whole_gpu[i] && !isnan(user->powers_w[i]))
			power_w = (isnan(power_w) ? 0 : power_w) + (double)user->powers_w[i];
	return power_w;
}

static json_t *make_user(const struct monitor *monitor, const struct roster_user *user)
{
	bool is_leaving = user->leaving_ns != 0;

	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:b}", "labels", make_labels(user->labels),
			 "power_w", number(is_leaving ? NAN : user->power_w), "power_uncertainty_w",
			 number(is_leaving ? NAN : user->uncertainty_w), "gpu_w",
			 number(is_leaving ? NAN : gpu_power_w(monitor, user)), "energy_j",
			 number(joules(partition_sum(monitor, user->sums))), "cpu_s",
			 number(joules(user->sums[ROSTER_CPU].out)), "is_leaving", is_leaving);
}

static int compare_users(const void *a, const void *b)
{
	const struct roster_user *x = *(struct roster_user *const *)a;
	const struct roster_user *y = *(struct roster_user *const *)b;
	double x_w = x->leaving_ns || !isfinite(x->power_w) ? -1 : x->power_w;
	double y_w = y->leaving_ns || !isfinite(y->power_w) ? -1 : y->power_w;

	return x_w == y_w ? strcmp(x->labels, y->labels) : x_w > y_w ? -1 : 1;
}

static json_t *make_level(const struct monitor *monitor, const struct roster_level *level)
{
	auto_free struct roster_user **users =
		xcalloc(level->n_users, sizeof(struct roster_user *));
	json_t *list = json_array();
	size_t i;

	if (level->n_users)
		memcpy(users, level->users, level->n_users * sizeof(struct roster_user *));
	qsort(users, level->n_users, sizeof(struct roster_user *), compare_users);
	for (i = 0; i < level->n_users; i++)
		json_array_append_new(list, make_user(monitor, users[i]));
	return json_pack("{s:o, s:o, s:o, s:o}", "users", list, "other_j",
			 number(level->other ? joules(partition_sum(monitor, level->other)) : NAN),
			 "ended_j",
			 number(level->ended ? joules(partition_sum(monitor, level->ended)) : NAN),
			 "retired", json_integer((json_int_t)level->n_retired));
}

static json_t *make_levels(const struct monitor *monitor)
{
	json_t *levels = json_object();
	int kind;

	for (kind = 0; kind < LEVEL_N; kind++)
		if (monitor->roster.opts.levels & 1u << kind)
			json_object_set_new(levels, level_name((enum level_kind)kind),
					    make_level(monitor, &monitor->roster.levels[kind]));
	return levels;
}

static json_t *make_sensors(const struct monitor *monitor)
{
	json_t *sensors = json_array();
	size_t i;

	for (i = 0; i < monitor->n_sensors; i++) {
		const struct monitor_sensor *sensor = &monitor->sensors[i];

		json_array_append_new(
			sensors,
			json_pack(
				"{s:s, s:s, s:s, s:s, s:o, s:b, s:b, s:o, s:o}", "name",
				sensor->channel->name, "source", sensor->channel->source, "domain",
				sensor->channel->domain, "status", watt_status_name(sensor->status),
				"age_s", number(sensor->has_sample ? seconds(sensor->age_ns) : NAN),
				"is_used", !sensor->is_duplicate, "is_helping",
				!!(sensor->channel->flags & WATT_CHANNEL_HELPS), "reads",
				sensor->has_stats ? json_integer((json_int_t)sensor->stats.reads) :
						    json_null(),
				"errors",
				sensor->has_stats ? json_integer((json_int_t)sensor->stats.errors) :
						    json_null()));
	}
	return sensors;
}

/* Sources of power that are used, or would be if they were there. */
static json_t *make_sources(const struct monitor *monitor)
{
	json_t *sources = json_array();
	size_t i;

	for (i = 0; i < monitor->n_sources; i++)
		json_array_append_new(
			sources, json_pack("{s:s, s:s}", "name", monitor->sources[i].name, "status",
					   watt_status_name(monitor->sources[i].status)));
	return sources;
}

static json_t *make_quality(const struct monitor *monitor)
{
	const struct watt_quality *quality = watt_snapshot_get_quality(monitor->snap);
	uint64_t checks = quality->checks + quality->sum_checks;
	uint64_t errors = quality->check_failures + quality->sum_failures + monitor->unbalanced;

	return json_pack("{s:I, s:I, s:I, s:I, s:o}", "conservation_checks", (json_int_t)checks,
			 "conservation_errors", (json_int_t)errors, "lost_usage_records",
			 (json_int_t)quality->lost_records, "lost_samples",
			 (json_int_t)quality->lost_samples, "cpu_coverage_ratio",
			 number(quality->coverage_ppm ? quality->coverage_ppm / 1e6 : NAN));
}

/* Energy of nobody. */
static double unused_j(const struct monitor *monitor, const struct roster_sum *sums)
{
	return sums ? joules(partition_sum(monitor, sums)) : NAN;
}

/* Takes the document. */
static char *print(json_t *document)
{
	char *text = json_dumps(document, JSON_COMPACT | JSON_REAL_PRECISION(12));

	json_decref(document);
	return text;
}

char *api_status(const struct monitor *monitor)
{
	const struct watt_total *total = &monitor->total;
	const struct watt_balance *supplies = &monitor->supplies;

	return print(json_pack(
		"{s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:s, s:s, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
		"version", watt_version(), "usage", watt_session_get_usage_name(monitor->session),
		"usage_why", watt_session_get_usage_why(monitor->session), "time_s",
		number(seconds(monitor->realtime_ns)), "machine_w", number(total->power_w),
		"machine_idle_w", number(total->is_baseline_ready ? total->baseline_w : NAN),
		"machine_j", number(total->n_known ? watt_energy_to_j(total->energy) : NAN),
		"machine_origin", watt_origin_name(total->origin), "machine_why", total->why,
		"outside_w", number(supplies->has_outside ? supplies->outside_w : NAN), "outside",
		supplies->has_outside ? supplies->outside : "", "idle_j",
		number(unused_j(monitor, monitor->roster.idle)), "unattributed_j",
		number(unused_j(monitor, monitor->roster.unattributed)), "domains",
		make_domains(monitor), "levels", make_levels(monitor), "sensors",
		make_sensors(monitor), "sources", make_sources(monitor), "quality",
		make_quality(monitor)));
}

/* ---- history ---- */

static json_t *make_point(const struct history_point *point, size_t n_domains)
{
	json_t *power = json_array();
	size_t i;

	for (i = 0; i < n_domains; i++)
		json_array_append_new(power,
				      number(i < point->n_domains ? point->power_w[i] : NAN));
	return json_pack("{s:o, s:o}", "time_s", number(seconds(point->realtime_ns)), "power_w",
			 power);
}

char *api_history(const struct monitor *monitor)
{
	size_t n = monitor_domain_count(monitor), i;
	json_t *domains = json_array(), *points = json_array();
	const struct history_point *point;

	for (i = 0; i < n; i++)
		json_array_append_new(domains, json_string(monitor_domain(monitor, i)->path));
	for (i = 0; (point = history_get(&monitor->history, i)); i++)
		json_array_append_new(points, make_point(point, n));
	return print(json_pack("{s:o, s:o}", "domains", domains, "points", points));
}

/* ---- history by who took it ---- */

/* By their numbers; those that nobody has in the hour are empty. */
static json_t *make_names(const struct takers_level *level)
{
	json_t *names = json_array();
	size_t i;

	for (i = 0; i < level->n_names; i++)
		json_array_append_new(names, level->names[i].labels ?
						     make_labels(level->names[i].labels) :
						     json_null());
	return names;
}

static json_t *make_step(const struct history_point *point, const struct takers_step *step)
{
	json_t *users = json_array();
	uint32_t i;

	for (i = 0; i < step->n; i++)
		json_array_append_new(users, json_pack("[I, o]", (json_int_t)step->takers[i].name,
						       number(step->takers[i].power_w)));
	return json_pack("{s:o, s:o, s:o, s:o, s:o}", "time_s", number(seconds(point->realtime_ns)),
			 "idle_w", number(step->idle_w), "unattributed_w",
			 number(step->unattributed_w), "others_w", number(step->others_w), "users",
			 users);
}

char *api_history_by(const struct monitor *monitor, enum level_kind kind)
{
	const struct history *history = &monitor->history;
	const struct takers_step *step;
	json_t *points = json_array();
	size_t i;

	for (i = 0; (step = takers_get(&monitor->takers, history, kind, i)); i++)
		json_array_append_new(points, make_step(history_get(history, i), step));
	return print(json_pack("{s:s, s:o, s:o}", "level", level_name(kind), "users",
			       make_names(&monitor->takers.levels[kind]), "points", points));
}

/* ---- the library's own ---- */

char *api_snapshot(const struct monitor *monitor)
{
	char *text;

	return watt_snapshot_to_json(monitor->snap, 0, &text) < 0 ? NULL : text;
}

char *api_sources(const struct monitor *monitor)
{
	char *text;

	return watt_sources_to_json(monitor->session, 0, &text) < 0 ? NULL : text;
}

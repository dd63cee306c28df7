/* SPDX-License-Identifier: Apache-2.0 */
/* The domain tree and the channels of a session as JSON, by docs/schema/wattribute-sources-1.json. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include <wattribute/json.h>

#include "sink/json_value.h"

static void add_place(struct watt_json *doc, struct watt_json_node obj, int32_t package_id,
		      int32_t die_id, int32_t core_id)
{
	watt_json_id(doc, obj, "package_id", package_id, -1);
	watt_json_id(doc, obj, "die_id", die_id, -1);
	watt_json_id(doc, obj, "core_id", core_id, -1);
}

static void add_efficiency(struct watt_json *doc, struct watt_json_node obj,
			   const struct watt_session *ses, const struct watt_domain *domain)
{
	uint32_t efficiency_ppm = 0;

	if (domain->channel < 0 ||
	    watt_session_get_efficiency(ses, (size_t)domain->channel, &efficiency_ppm) < 0)
		efficiency_ppm = 0;
	watt_json_ratio(doc, obj, "efficiency_ratio", efficiency_ppm);
}

static void add_domain(struct watt_json *doc, struct watt_json_node array,
		       const struct watt_session *ses, size_t index)
{
	const struct watt_domain *domain = watt_session_get_domain(ses, index), *parent = NULL;
	enum watt_status users = WATT_STATUS_PENDING;
	const struct watt_channel *channel = NULL;
	struct watt_json_node obj = watt_json_append(doc, array);

	if (domain->parent >= 0)
		parent = watt_session_get_domain(ses, (size_t)domain->parent);
	if (domain->channel >= 0)
		channel = watt_session_get_channel(ses, (size_t)domain->channel);
	watt_json_text(doc, obj, "path", domain->path);
	watt_json_text(doc, obj, "name", domain->name);
	watt_json_text(doc, obj, "kind", watt_domain_kind_name(domain->kind));
	watt_json_text(doc, obj, "origin", watt_origin_name(domain->origin));
	watt_json_text(doc, obj, "share_key", watt_share_key_name(domain->key));
	watt_session_get_users_status(ses, index, &users);
	watt_json_text(doc, obj, "users_status", watt_status_name(users));
	watt_json_text(doc, obj, "parent", parent ? parent->path : NULL);
	watt_json_text(doc, obj, "channel", channel ? channel->name : NULL);
	watt_json_bool(doc, obj, "is_summed", domain->is_summed);
	watt_json_bool(doc, obj, "is_partition", domain->is_partition);
	add_place(doc, obj, domain->package_id, domain->die_id, domain->core_id);
	watt_json_ratio(doc, obj, "uncertainty_ratio", domain->uncertainty_ppm);
	add_efficiency(doc, obj, ses, domain);
}

static void add_reader(struct watt_json *doc, struct watt_json_node obj,
		       const struct watt_session *ses, size_t i)
{
	struct watt_reader_stats stats = { .sz = sizeof(stats) };
	struct watt_json_node reader;

	if (watt_session_get_reader_stats(ses, i, &stats) < 0) {
		watt_json_null(doc, obj, "reader");
		return;
	}
	reader = watt_json_object(doc, obj, "reader");
	watt_json_int(doc, reader, "reads", (int64_t)stats.reads);
	watt_json_int(doc, reader, "errors", (int64_t)stats.errors);
	watt_json_int(doc, reader, "missed", (int64_t)stats.missed);
	watt_json_int(doc, reader, "lost", (int64_t)stats.lost);
	watt_json_time(doc, reader, "cost_s", stats.cost_ns);
	watt_json_time(doc, reader, "lateness_p50_s", stats.lateness_p50_ns);
	watt_json_time(doc, reader, "lateness_p99_s", stats.lateness_p99_ns);
	watt_json_time(doc, reader, "lateness_max_s", stats.lateness_max_ns);
	watt_json_known_time(doc, reader, "period_s", stats.period_ns);
	watt_json_bool(doc, reader, "is_realtime", stats.is_realtime);
}

static void add_value(struct watt_json *doc, struct watt_json_node obj,
		      const struct watt_session *ses, size_t i, const struct watt_channel *channel)
{
	struct watt_sample sample = { .status = WATT_STATUS_PENDING };
	uint64_t now_ns = watt_session_get_time_ns(ses);
	double value = NAN;
	const char *key = watt_quantity_is_context(channel->quantity) ? "value" :
			  channel->quantity == WATT_QUANTITY_ENERGY   ? "energy_j" :
									"power_w";

	if (watt_session_get_sample(ses, i, &sample) == 0 && sample.status == WATT_STATUS_OK)
		value = (double)sample.raw * (double)channel->scale_num /
			(double)channel->scale_den / watt_quantity_per_unit(channel->quantity);
	watt_json_text(doc, obj, "status", watt_status_name((enum watt_status)sample.status));
	watt_json_real(doc, obj, key, value);
	if (watt_quantity_is_context(channel->quantity))
		watt_json_text(doc, obj, "unit", watt_quantity_unit(channel->quantity));
	watt_json_known_time(doc, obj, "t_s", sample.t_after_ns);
	watt_json_real(doc, obj, "age_s",
		       sample.t_after_ns && now_ns >= sample.t_after_ns ?
			       (double)(now_ns - sample.t_after_ns) / 1e9 :
			       NAN);
	watt_json_bool(doc, obj, "is_age_of_values_known",
		       !(channel->flags & WATT_CHANNEL_AGE_UNKNOWN));
}

/* Of a duplicate that counts energy: whether it agrees with the channel that is used. */
static void add_crosscheck(struct watt_json *doc, struct watt_json_node obj,
			   const struct watt_session *ses, size_t i)
{
	int64_t difference_ppm = 0;
	int r = watt_session_get_crosscheck(ses, i, &difference_ppm);

	watt_json_text(doc, obj, "crosscheck",
		       r == 0       ? "agrees" :
		       r == 1       ? "differs" :
		       r == -EAGAIN ? "pending" :
				      NULL);
	watt_json_real(doc, obj, "crosscheck_difference_ratio",
		       r >= 0 ? (double)difference_ppm / 1e6 : NAN);
}

/* The one for whose sake a channel is read: that of the same source that measures its domain. */
static const char *find_helped(const struct watt_session *ses, const struct watt_channel *channel)
{
	size_t i;

	for (i = 0; channel->flags & WATT_CHANNEL_HELPS && i < watt_session_get_channel_count(ses);
	     i++) {
		const struct watt_channel *other = watt_session_get_channel(ses, i);

		if (!(other->flags & WATT_CHANNEL_HELPS) &&
		    !watt_quantity_is_context(other->quantity) &&
		    !strcmp(other->source, channel->source) &&
		    !strcmp(other->domain, channel->domain))
			return other->name;
	}
	return NULL;
}

static void add_channel(struct watt_json *doc, struct watt_json_node array,
			const struct watt_session *ses, size_t i)
{
	const struct watt_channel *channel = watt_session_get_channel(ses, i);
	struct watt_json_node obj = watt_json_append(doc, array);

	watt_json_text(doc, obj, "name", channel->name);
	watt_json_text(doc, obj, "source", channel->source);
	watt_json_text(doc, obj, "domain", channel->domain);
	watt_json_text(doc, obj, "label", channel->label);
	watt_json_text(doc, obj, "path", channel->path);
	watt_json_text(doc, obj, "kind", watt_domain_kind_name(channel->kind));
	watt_json_text(doc, obj, "quantity", watt_quantity_name(channel->quantity));
	watt_json_text(doc, obj, "semantics", watt_semantics_name(channel->semantics));
	watt_json_text(doc, obj, "origin", watt_origin_name(channel->origin));
	watt_json_bool(doc, obj, "is_duplicate", watt_session_channel_is_duplicate(ses, i) > 0);
	add_crosscheck(doc, obj, ses, i);
	watt_json_text(doc, obj, "helps", find_helped(ses, channel));
	watt_json_bool(doc, obj, "is_overlap_unknown",
		       channel->flags & WATT_CHANNEL_OVERLAP_UNKNOWN);
	watt_json_bool(doc, obj, "is_signed", channel->flags & WATT_CHANNEL_SIGNED);
	add_place(doc, obj, channel->package_id, channel->die_id, channel->core_id);
	watt_json_int(doc, obj, "scale_num", (int64_t)channel->scale_num);
	watt_json_int(doc, obj, "scale_den", (int64_t)channel->scale_den);
	watt_json_real(doc, obj, "wrap_j", channel->wrap_nj ? (double)channel->wrap_nj / 1e9 : NAN);
	watt_json_known_time(doc, obj, "period_s",
			     channel->flags & WATT_CHANNEL_PERIOD_UNKNOWN ? 0 : channel->period_ns);
	watt_json_known_time(doc, obj, "window_s", channel->window_ns);
	watt_json_known_time(doc, obj, "delay_s", channel->delay_ns);
	watt_json_ratio(doc, obj, "coverage_ratio", channel->coverage_ppm);
	watt_json_ratio(doc, obj, "uncertainty_ratio", channel->uncertainty_ppm);
	add_value(doc, obj, ses, i, channel);
	add_reader(doc, obj, ses, i);
}

int watt_sources_to_json(const struct watt_session *ses, uint32_t flags, char **ret)
{
	struct watt_json doc;
	struct watt_json_node array;
	enum watt_status status;
	const char *name;
	size_t i;

	if (!ses || !ret)
		return -EINVAL;
	watt_json_init(&doc, flags, "wattribute-sources-1");
	watt_json_text(&doc, doc.root, "usage", watt_session_get_usage_name(ses));
	watt_json_text(&doc, doc.root, "usage_why",
		       *watt_session_get_usage_why(ses) ? watt_session_get_usage_why(ses) : NULL);
	array = watt_json_array(&doc, doc.root, "sources");
	for (i = 0; (name = watt_session_get_source(ses, i, &status)); i++) {
		struct watt_json_node obj = watt_json_append(&doc, array);

		watt_json_text(&doc, obj, "name", name);
		watt_json_text(&doc, obj, "status", watt_status_name(status));
	}
	array = watt_json_array(&doc, doc.root, "domains");
	for (i = 0; i < watt_session_get_domain_count(ses); i++)
		add_domain(&doc, array, ses, i);
	array = watt_json_array(&doc, doc.root, "channels");
	for (i = 0; i < watt_session_get_channel_count(ses); i++)
		add_channel(&doc, array, ses, i);
	return watt_json_done(&doc, ret);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tidy CSV: one observation a row, a header with units in the names, quoting by RFC 4180, lines
 * that end in LF. Numbers are exact decimals. What is not known is an empty field, and the column
 * `status` says why.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/util.h"
#include "sink/decimal.h"
#include "sink/escape.h"
#include "sink/registry.h"

/* What it can be asked for. */
enum what {
	ENERGY = 0,
	DOMAINS = 1,
	SAMPLES = 2,
	MARKS = 3,
};

static const char *const what_names[] = { "energy", "domains", "samples", "marks" };

struct csv {
	enum what what;
};

static int set(struct watt_sink *sink, const char *option, const char *value)
{
	struct csv *csv = sink->data;
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(what_names); i++)
		if (strcmp(what_names[i], value) == 0) {
			csv->what = (enum what)i;
			return 0;
		}
	return -EINVAL;
}

static bool asks(const struct watt_sink *sink, enum what what)
{
	const struct csv *csv = sink->data;

	return csv->what == what;
}

/* ---- fields ---- */

static void put_text(struct watt_sink *sink, const char *text)
{
	if (text)
		watt_escape_csv(sink->out, text);
	fputc(',', sink->out);
}

static void put_signed(struct watt_sink *sink, int64_t value, unsigned int places)
{
	char buf[WATT_DECIMAL_SIZE];

	fprintf(sink->out, "%s,", watt_decimal_signed(buf, value, places));
}

static void put_unsigned(struct watt_sink *sink, uint64_t value, unsigned int places)
{
	char buf[WATT_DECIMAL_SIZE];

	fprintf(sink->out, "%s,", watt_decimal_unsigned(buf, value, places));
}

static void put_known(struct watt_sink *sink, bool is_known, int64_t value, unsigned int places)
{
	if (is_known)
		put_signed(sink, value, places);
	else
		fputc(',', sink->out);
}

static void put_real(struct watt_sink *sink, double value)
{
	char buf[WATT_DECIMAL_SIZE];

	fprintf(sink->out, "%s,", isfinite(value) ? watt_decimal_double(buf, value) : "");
}

/* ---- windows ---- */

static void put_window(struct watt_sink *sink, const struct watt_sink_window *window)
{
	put_unsigned(sink, window->index, 0);
	put_signed(sink, watt_sink_since_ns(sink, window->t0_ns), 9);
	put_signed(sink, watt_sink_since_ns(sink, window->t1_ns), 9);
	put_unsigned(sink, window->t1_realtime_ns, 9);
	put_text(sink, window->phase);
}

static void put_entity(struct watt_sink *sink, const struct watt_entity *entity)
{
	const struct watt_cgroup *cgroup = entity->cgroup;

	put_unsigned(sink, entity->id, 0);
	put_text(sink, watt_entity_kind_name(entity->kind));
	put_text(sink, entity->name);
	if (entity->identity)
		put_unsigned(sink, entity->identity->pid, 0);
	else
		fputc(',', sink->out);
	put_text(sink, cgroup ? cgroup->container : NULL);
	put_text(sink, cgroup ? cgroup->pod_uid : NULL);
	put_text(sink, cgroup ? cgroup->unit : NULL);
	put_text(sink, cgroup ? cgroup->job : NULL);
}

static bool is_rest(enum watt_entity_kind kind)
{
	return kind == WATT_ENTITY_IDLE || kind == WATT_ENTITY_UNATTRIBUTED;
}

static void write_energy(struct watt_sink *sink, const struct watt_sink_window *window,
			 const struct watt_row *row, size_t domain)
{
	const struct watt_domain_state *state = window->view.states[domain];
	const struct watt_domain *place = window->view.domains[domain];
	bool is_known = watt_view_is_known(state);
	int64_t energy_nj = row->window_nj[domain];

	/* Idle and unattributed are always there: they say when a domain is not known. */
	if (!sink->with_zeros && energy_nj == 0 && !is_rest(row->entity->kind))
		return;
	put_window(sink, window);
	put_entity(sink, row->entity);
	put_text(sink, place->path);
	put_unsigned(sink, place->is_partition ? 1 : 0, 0);
	put_known(sink, is_known, energy_nj, 9);
	put_real(sink, is_known ? watt_view_power_w(state, energy_nj) : NAN);
	put_real(sink, is_known ? row->window_uncertainty_j[domain] : NAN);
	put_text(sink, watt_origin_name(place->origin));
	fprintf(sink->out, "%s\n", watt_status_name(state->status));
}

static void write_domain(struct watt_sink *sink, const struct watt_sink_window *window, size_t i)
{
	const struct watt_domain_state *state = window->view.states[i];
	const struct watt_domain *domain = window->view.domains[i];
	bool is_known = watt_view_is_known(state);

	put_window(sink, window);
	put_text(sink, domain->path);
	put_text(sink, watt_domain_kind_name(domain->kind));
	put_unsigned(sink, domain->is_summed ? 1 : 0, 0);
	put_unsigned(sink, domain->is_partition ? 1 : 0, 0);
	put_known(sink, is_known, state->window_nj, 9);
	put_known(sink, is_known, state->window_idle_nj, 9);
	put_known(sink, is_known, state->window_unattributed_nj, 9);
	put_real(sink, is_known ? watt_view_power_w(state, state->window_nj) : NAN);
	put_unsigned(sink, state->window_ns, 9);
	put_unsigned(sink, state->baseline_ready ? 1 : 0, 0);
	put_unsigned(sink, state->samples, 0);
	put_unsigned(sink, state->gaps, 0);
	put_unsigned(sink, state->gap_ns, 9);
	put_text(sink, watt_origin_name(domain->origin));
	fprintf(sink->out, "%s\n", watt_status_name(state->status));
}

static int write_window(struct watt_sink *sink, const struct watt_sink_window *window)
{
	const struct watt_view *view = &window->view;
	size_t i, j;

	if (asks(sink, DOMAINS)) {
		for (i = 0; i < view->n_domains; i++)
			write_domain(sink, window, i);
		return 0;
	}
	for (i = 0; i < view->n_rows; i++)
		for (j = 0; j < view->n_domains; j++)
			if (watt_sink_has_kind(sink, view->rows[i]->entity->kind))
				write_energy(sink, window, view->rows[i], j);
	return 0;
}

/* ---- samples ---- */

/* Decimal places that the canonical unit has in the one that is shown. */
static int digits_of(enum watt_quantity quantity)
{
	uint32_t unit = watt_quantity_per_unit(quantity);
	int digits = 0;

	for (; unit > 1; unit /= 10)
		digits++;
	return digits;
}

/* raw * num / den in the canonical unit; exact where that is a whole number of it. */
static void put_canonical(struct watt_sink *sink, const struct watt_channel *channel, int64_t raw)
{
	double unit = watt_quantity_per_unit(channel->quantity);
	__int128 scaled = (__int128)raw * (__int128)channel->scale_num;
	__int128 whole = scaled / (__int128)channel->scale_den;
	bool is_exact = whole * (__int128)channel->scale_den == scaled;

	if (is_exact && whole >= INT64_MIN && whole <= INT64_MAX)
		put_signed(sink, (int64_t)whole, digits_of(channel->quantity));
	else
		put_real(sink, (double)scaled / ((double)channel->scale_den * unit));
	put_text(sink, watt_quantity_unit(channel->quantity));
}

static int write_sample(struct watt_sink *sink, const struct watt_sample *sample)
{
	const struct watt_sink_about *about = sink->about;
	const struct watt_channel *channel = NULL;
	bool is_ok = sample->status == WATT_STATUS_OK;

	if (sample->channel < about->n_channels)
		channel = about->channels[sample->channel];
	put_signed(sink, watt_sink_since_ns(sink, sample->t_after_ns), 9);
	put_unsigned(sink, sample->t_before_ns, 0);
	put_unsigned(sink, sample->t_after_ns, 0);
	put_text(sink, channel ? channel->name : NULL);
	put_text(sink, channel ? watt_quantity_name(channel->quantity) : NULL);
	put_text(sink, channel ? watt_semantics_name(channel->semantics) : NULL);
	put_known(sink, is_ok, sample->raw, 0);
	if (is_ok && channel)
		put_canonical(sink, channel, sample->raw);
	else
		fputs(",,", sink->out);
	put_text(sink, channel ? watt_origin_name(channel->origin) : NULL);
	fprintf(sink->out, "%s\n", watt_status_name((enum watt_status)sample->status));
	return 0;
}

/* ---- marks ---- */

static void write_marks(struct watt_sink *sink)
{
	const struct watt_sink_about *about = sink->about;
	size_t i;

	for (i = 0; i < about->n_marks; i++) {
		const struct watt_mark *mark = about->marks[i];

		if (mark->t_ns < about->from_ns || mark->t_ns > about->to_ns)
			continue;
		put_signed(sink, watt_sink_since_ns(sink, mark->t_ns), 9);
		put_unsigned(sink, mark->t_ns, 0);
		put_unsigned(sink, watt_sink_realtime_ns(sink, mark->t_ns), 9);
		if (mark->pid)
			put_unsigned(sink, mark->pid, 0);
		else
			fputc(',', sink->out);
		watt_escape_csv(sink->out, mark->label);
		fputc('\n', sink->out);
	}
}

static enum watt_sink_need need(const struct watt_sink *sink)
{
	return asks(sink, SAMPLES) ? WATT_SINK_SAMPLES :
	       asks(sink, MARKS)   ? WATT_SINK_ABOUT :
				     WATT_SINK_WINDOWS;
}

static int begin(struct watt_sink *sink)
{
	if (asks(sink, SAMPLES)) {
		fputs("t_s,t_before_ns,t_after_ns,channel,quantity,semantics,raw,value,unit,"
		      "origin,status\n",
		      sink->out);
		return 0;
	}
	if (asks(sink, MARKS)) {
		fputs("t_s,t_ns,realtime_s,pid,label\n", sink->out);
		write_marks(sink);
		return 0;
	}
	fputs("window,from_s,to_s,to_realtime_s,phase,", sink->out);
	if (asks(sink, DOMAINS))
		fputs("domain,kind,is_summed,is_partition,energy_j,idle_j,unattributed_j,power_w,"
		      "known_s,is_baseline_ready,samples,gaps,gap_s,origin,status\n",
		      sink->out);
	else
		fputs("entity_id,kind,name,pid,container,pod,unit,job,domain,is_partition,energy_j,"
		      "power_w,uncertainty_j,origin,status\n",
		      sink->out);
	return 0;
}

static const struct watt_sink_option options[] = {
	{ "what", "energy, domains, samples or marks", "what a row is; else energy" },
	WATT_SINK_OPTION_KINDS,
	WATT_SINK_OPTION_ZEROS,
	{ NULL },
};

const struct watt_sink_ops watt_sink_csv = {
	.info = {
		.sz = sizeof(struct watt_sink_info),
		.name = "csv",
		.summary = "tidy tables, one observation a row",
		.suffixes = ".csv",
		.mime = "text/csv",
		.options = options,
	},
	.data_size = sizeof(struct csv),
	.set = set,
	.need = need,
	.begin = begin,
	.window = write_window,
	.sample = write_sample,
};

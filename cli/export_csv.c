/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tidy CSV: one observation a row, a header with units in the names, quoting by RFC 4180, lines
 * that end in LF. Numbers are exact decimals. What is not known is an empty field, and the column
 * `status` says why.
 */
#include <math.h>
#include <string.h>

#include "decimal.h"
#include "escape.h"
#include "export.h"

static bool asks(const struct export *ex, const char *what)
{
	return strcmp(ex->what ? ex->what : "energy", what) == 0;
}

/* ---- fields ---- */

static void put_text(struct export *ex, const char *text)
{
	if (text)
		escape_csv(ex->out, text);
	fputc(',', ex->out);
}

static void put_signed(struct export *ex, int64_t value, unsigned int places)
{
	char buf[DECIMAL_SIZE];

	fprintf(ex->out, "%s,", decimal_signed(buf, value, places));
}

static void put_unsigned(struct export *ex, uint64_t value, unsigned int places)
{
	char buf[DECIMAL_SIZE];

	fprintf(ex->out, "%s,", decimal_unsigned(buf, value, places));
}

static void put_known(struct export *ex, bool is_known, int64_t value, unsigned int places)
{
	if (is_known)
		put_signed(ex, value, places);
	else
		fputc(',', ex->out);
}

static void put_real(struct export *ex, double value)
{
	char buf[DECIMAL_SIZE];

	fprintf(ex->out, "%s,", isfinite(value) ? decimal_double(buf, value) : "");
}

/* ---- windows ---- */

static void put_window(struct export *ex, const struct export_window *window)
{
	put_unsigned(ex, window->index, 0);
	put_signed(ex, export_since_ns(ex, window->t0_ns), 9);
	put_signed(ex, export_since_ns(ex, window->t1_ns), 9);
	put_unsigned(ex, window->t1_realtime_ns, 9);
	put_text(ex, window->phase);
}

static void put_entity(struct export *ex, const struct watt_entity *entity)
{
	put_unsigned(ex, entity->id, 0);
	put_text(ex, watt_entity_kind_name(entity->kind));
	put_text(ex, entity->name);
	if (entity->identity)
		put_unsigned(ex, entity->identity->pid, 0);
	else
		fputc(',', ex->out);
	put_text(ex, export_container(entity));
	put_text(ex, export_pod(entity));
	put_text(ex, export_unit(entity));
}

static bool is_rest(enum watt_entity_kind kind)
{
	return kind == WATT_ENTITY_IDLE || kind == WATT_ENTITY_UNATTRIBUTED;
}

static void write_energy(struct export *ex, const struct export_window *window,
			 const struct watt_row *row, size_t domain)
{
	const struct watt_domain_state *state = window->view.states[domain];
	const struct watt_domain *place = window->view.domains[domain];
	bool is_known = export_is_known(state);
	int64_t energy_nj = row->window_nj[domain];

	/* Idle and unattributed are always there: they say when a domain is not known. */
	if (!ex->with_zeros && energy_nj == 0 && !is_rest(row->entity.kind))
		return;
	put_window(ex, window);
	put_entity(ex, &row->entity);
	put_text(ex, place->path);
	put_unsigned(ex, place->is_partition ? 1 : 0, 0);
	put_known(ex, is_known, energy_nj, 9);
	put_real(ex, is_known ? view_power_w(state, energy_nj) : NAN);
	put_text(ex, watt_origin_name(place->origin));
	fprintf(ex->out, "%s\n", watt_status_name(state->status));
}

static void write_domain(struct export *ex, const struct export_window *window, size_t i)
{
	const struct watt_domain_state *state = window->view.states[i];
	const struct watt_domain *domain = window->view.domains[i];
	bool is_known = export_is_known(state);

	put_window(ex, window);
	put_text(ex, domain->path);
	put_text(ex, watt_domain_kind_name(domain->kind));
	put_unsigned(ex, domain->is_summed ? 1 : 0, 0);
	put_unsigned(ex, domain->is_partition ? 1 : 0, 0);
	put_known(ex, is_known, state->window_nj, 9);
	put_known(ex, is_known, state->window_idle_nj, 9);
	put_known(ex, is_known, state->window_unattributed_nj, 9);
	put_real(ex, is_known ? view_power_w(state, state->window_nj) : NAN);
	put_unsigned(ex, state->window_ns, 9);
	put_unsigned(ex, state->baseline_ready ? 1 : 0, 0);
	put_unsigned(ex, state->samples, 0);
	put_unsigned(ex, state->gaps, 0);
	put_unsigned(ex, state->gap_ns, 9);
	put_text(ex, watt_origin_name(domain->origin));
	fprintf(ex->out, "%s\n", watt_status_name(state->status));
}

static int write_window(struct export *ex, const struct export_window *window)
{
	const struct view *view = &window->view;
	size_t i, j;

	if (asks(ex, "domains")) {
		for (i = 0; i < view->n_domains; i++)
			write_domain(ex, window, i);
		return 0;
	}
	for (i = 0; i < view->n_rows; i++)
		for (j = 0; j < view->n_domains; j++)
			if (export_has_kind(ex, view->rows[i]->entity.kind))
				write_energy(ex, window, view->rows[i], j);
	return 0;
}

/* ---- samples ---- */

/* raw * num / den in the canonical unit; exact where that is a whole number of it. */
static void put_canonical(struct export *ex, const struct watt_channel *channel, int64_t raw)
{
	bool is_energy = channel->quantity == WATT_QUANTITY_ENERGY;
	__int128 scaled = (__int128)raw * (__int128)channel->scale_num;
	__int128 whole = scaled / (__int128)channel->scale_den;
	bool is_exact = whole * (__int128)channel->scale_den == scaled;

	if (is_exact && whole >= INT64_MIN && whole <= INT64_MAX)
		put_signed(ex, (int64_t)whole, is_energy ? 9 : 6);
	else
		put_real(ex,
			 (double)scaled / ((double)channel->scale_den * (is_energy ? 1e9 : 1e6)));
	put_text(ex, is_energy ? "J" : "W");
}

static void write_sample(struct export *ex, const struct watt_sample *sample)
{
	const struct export_about *about = ex->about;
	const struct watt_channel *channel = NULL;
	bool is_ok = sample->status == WATT_STATUS_OK;

	if (sample->channel < about->n_channels)
		channel = about->channels[sample->channel];
	put_signed(ex, export_since_ns(ex, sample->t_after_ns), 9);
	put_unsigned(ex, sample->t_before_ns, 0);
	put_unsigned(ex, sample->t_after_ns, 0);
	put_text(ex, channel ? channel->name : NULL);
	put_text(ex, channel ? watt_quantity_name(channel->quantity) : NULL);
	put_text(ex, channel ? watt_semantics_name(channel->semantics) : NULL);
	put_known(ex, is_ok, sample->raw, 0);
	if (is_ok && channel)
		put_canonical(ex, channel, sample->raw);
	else
		fputs(",,", ex->out);
	put_text(ex, channel ? watt_origin_name(channel->origin) : NULL);
	fprintf(ex->out, "%s\n", watt_status_name((enum watt_status)sample->status));
}

/* ---- marks ---- */

static void write_marks(struct export *ex)
{
	const struct export_about *about = ex->about;
	size_t i;

	for (i = 0; i < about->n_marks; i++) {
		const struct watt_mark *mark = about->marks[i];

		if (mark->t_ns < about->from_ns || mark->t_ns > about->to_ns)
			continue;
		put_signed(ex, export_since_ns(ex, mark->t_ns), 9);
		put_unsigned(ex, mark->t_ns, 0);
		put_unsigned(ex, export_realtime_ns(ex, mark->t_ns), 9);
		if (mark->pid)
			put_unsigned(ex, mark->pid, 0);
		else
			fputc(',', ex->out);
		escape_csv(ex->out, mark->label);
		fputc('\n', ex->out);
	}
}

static enum export_need need(const struct export *ex)
{
	return asks(ex, "samples") ? EXPORT_SAMPLES :
	       asks(ex, "marks")   ? EXPORT_ABOUT :
				     EXPORT_WINDOWS;
}

static int begin(struct export *ex)
{
	if (asks(ex, "samples")) {
		fputs("t_s,t_before_ns,t_after_ns,channel,quantity,semantics,raw,value,unit,"
		      "origin,status\n",
		      ex->out);
		return 0;
	}
	if (asks(ex, "marks")) {
		fputs("t_s,t_ns,realtime_s,pid,label\n", ex->out);
		write_marks(ex);
		return 0;
	}
	fputs("window,from_s,to_s,to_realtime_s,phase,", ex->out);
	if (asks(ex, "domains"))
		fputs("domain,kind,is_summed,is_partition,energy_j,idle_j,unattributed_j,power_w,"
		      "known_s,is_baseline_ready,samples,gaps,gap_s,origin,status\n",
		      ex->out);
	else
		fputs("entity_id,kind,name,pid,container,pod,unit,domain,is_partition,energy_j,"
		      "power_w,origin,status\n",
		      ex->out);
	return 0;
}

const struct export_format export_csv = {
	.name = "csv",
	.whats = "energy domains samples marks",
	.need = need,
	.begin = begin,
	.window = write_window,
	.sample = write_sample,
};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rounds the rows of `top`: those of users add up to what the header says is attributed, and idle
 * and unattributed are what it says of them, since both round the same balance.
 */
#include "top_sums.h"

#include <math.h>

#include <wattribute/balance.h>

#include "tally.h"
#include "xalloc.h"

#define DECIMALS 3

static double power_of(const struct top_row *row)
{
	return row->power_w;
}

static double energy_of(const struct top_row *row)
{
	return watt_energy_to_j(row->energy);
}

/* The rows' numbers as they are shown; decimals of the page. */
static int round_rows(const struct top_model *model, double (*value)(const struct top_row *),
		      const double parts[3], int digits, double *ret_shown)
{
	auto_tally struct watt_tally *whole = tally_new(parts, 3, digits, DECIMALS), *rows = NULL;
	auto_free double *users = xcalloc(model->n_rows, sizeof(*users));
	int decimals = watt_tally_get_decimals(whole);
	size_t i;

	for (i = 0; i < model->n_rows; i++) {
		enum watt_entity_kind kind = model->rows[i].kind;

		users[i] = kind == WATT_ENTITY_IDLE || kind == WATT_ENTITY_UNATTRIBUTED ?
				   NAN :
				   value(&model->rows[i]);
	}
	rows = tally_within(users, model->n_rows, parts[0], watt_tally_get_part(whole, 0),
			    decimals);
	for (i = 0; i < model->n_rows; i++) {
		enum watt_entity_kind kind = model->rows[i].kind;

		ret_shown[i] = isnan(value(&model->rows[i]))    ? NAN :
			       kind == WATT_ENTITY_IDLE         ? watt_tally_get_part(whole, 1) :
			       kind == WATT_ENTITY_UNATTRIBUTED ? watt_tally_get_part(whole, 2) :
								  watt_tally_get_part(rows, i);
	}
	return decimals;
}

void top_sums_round(struct top_model *model, const struct watt_view *view)
{
	struct watt_balance balance = { .sz = sizeof(balance) };
	auto_free double *shown = xcalloc(model->n_rows, sizeof(*shown));
	double parts[3];
	size_t i;
	int digits;

	watt_balance_draw(view, &balance);
	digits = tally_digits(balance.uncertainty_ppm);
	parts[0] = balance.attributed_w;
	parts[1] = balance.idle_w;
	parts[2] = balance.unattributed_w;
	model->decimals_w = round_rows(model, power_of, parts, digits, shown);
	for (i = 0; i < model->n_rows; i++)
		model->rows[i].shown_w = model->rows[i].shown_tree_w = shown[i];
	parts[0] = watt_energy_to_j(balance.attributed);
	parts[1] = watt_energy_to_j(balance.idle);
	parts[2] = watt_energy_to_j(balance.unattributed);
	model->decimals_j = round_rows(model, energy_of, parts, digits, shown);
	for (i = 0; i < model->n_rows; i++)
		model->rows[i].shown_j = model->rows[i].shown_tree_j = shown[i];
}

static void round_family(struct top_model *model, size_t process, size_t n)
{
	const struct top_row *row = &model->rows[process];
	struct top_row *threads = &model->rows[process + 1];
	auto_free double *power_w = xcalloc(n, sizeof(*power_w));
	auto_free double *energy_j = xcalloc(n, sizeof(*energy_j));
	auto_tally struct watt_tally *watts = NULL, *joules = NULL;
	size_t i;

	for (i = 0; i < n; i++) {
		power_w[i] = threads[i].power_w;
		energy_j[i] = energy_of(&threads[i]);
	}
	watts = tally_within(power_w, n, row->power_w, row->shown_w, model->decimals_w);
	joules = tally_within(energy_j, n, energy_of(row), row->shown_j, model->decimals_j);
	for (i = 0; i < n; i++) {
		threads[i].shown_w = threads[i].shown_tree_w = watt_tally_get_part(watts, i);
		threads[i].shown_j = threads[i].shown_tree_j = watt_tally_get_part(joules, i);
	}
}

void top_sums_round_threads(struct top_model *model)
{
	size_t i, n;

	for (i = 0; i < model->n_rows; i += 1 + n) {
		n = 0;
		while (i + 1 + n < model->n_rows && model->rows[i].id &&
		       model->rows[i + 1 + n].process_id == model->rows[i].id)
			n++;
		if (n)
			round_family(model, i, n);
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Columns that add up as they are shown: the method of the largest remainder. */
#include <wattribute/tally.h>

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <wattribute/units.h>

#include "base/cleanup.h"

#define DIGITS_MOST 15
#define DECIMALS_MOST 9

/* In steps of the last decimal: whole numbers, which add up exactly. */
struct part {
	double steps; /* NAN: not known */
	bool is_below;
};

struct watt_tally {
	size_t n;
	int decimals;
	double whole_steps;
	struct part parts[];
};

struct remainder {
	double size; /* what rounding down takes */
	size_t index;
};

static int by_size(const void *a, const void *b)
{
	const struct remainder *x = a, *y = b;

	if (x->size != y->size)
		return x->size < y->size ? 1 : -1;
	return x->index < y->index ? -1 : x->index > y->index;
}

/* All down, and what is left over of the whole one by one to those that lose the most. */
static int share_out(struct watt_tally *tally, const double *parts)
{
	double scale = pow(10, tally->decimals), left = tally->whole_steps;
	_cleanup_free_ struct remainder *list = calloc(tally->n + 1, sizeof(*list));
	size_t i, n = 0;

	if (!list)
		return -ENOMEM;
	for (i = 0; i < tally->n; i++) {
		double exact = parts[i] * scale, down = floor(exact);

		tally->parts[i].steps = NAN;
		if (!isfinite(exact))
			continue;
		tally->parts[i].steps = down;
		list[n++] = (struct remainder){ exact - down, i };
		left -= down;
	}
	qsort(list, n, sizeof(*list), by_size);
	/* A double: a whole may be more steps than an integer holds. */
	for (i = 0; i < n && (double)i < left - 0.5; i++)
		tally->parts[list[i].index].steps++;
	/* A whole that was rounded down before its parts were known takes from those that lose least. */
	for (i = 0; i < n && (double)i < -left - 0.5; i++)
		tally->parts[list[n - 1 - i].index].steps--;
	for (i = 0; i < tally->n; i++)
		tally->parts[i].is_below = parts[i] > 0 && tally->parts[i].steps == 0;
	return 0;
}

static int make(const double *parts, size_t n_parts, double whole, int decimals,
		struct watt_tally **ret)
{
	struct watt_tally *tally = calloc(1, sizeof(*tally) + n_parts * sizeof(*tally->parts));
	int r;

	if (!tally)
		return -ENOMEM;
	tally->n = n_parts;
	tally->decimals = decimals;
	tally->whole_steps = round(whole * pow(10, decimals));
	r = share_out(tally, parts);
	if (r < 0) {
		watt_tally_free(tally);
		return r;
	}
	*ret = tally;
	return 0;
}

int watt_tally_new(const double *parts, size_t n_parts, int digits, int max_decimals,
		   struct watt_tally **ret)
{
	double whole = 0;
	size_t i;

	if (digits < 1 || digits > DIGITS_MOST || max_decimals < 0 || max_decimals > DECIMALS_MOST)
		return -EINVAL;
	for (i = 0; i < n_parts; i++)
		whole += isfinite(parts[i]) ? parts[i] : 0;
	return make(parts, n_parts, whole, watt_units_decimals(whole, digits, max_decimals), ret);
}

int watt_tally_new_within(const double *parts, size_t n_parts, double whole, int decimals,
			  struct watt_tally **ret)
{
	if (decimals < 0 || decimals > DECIMALS_MOST || !isfinite(whole))
		return -EINVAL;
	return make(parts, n_parts, whole, decimals, ret);
}

struct watt_tally *watt_tally_free(struct watt_tally *tally)
{
	free(tally);
	return NULL;
}

int watt_tally_get_decimals(const struct watt_tally *tally)
{
	return tally->decimals;
}

double watt_tally_get_whole(const struct watt_tally *tally)
{
	return tally->whole_steps / pow(10, tally->decimals);
}

double watt_tally_get_part(const struct watt_tally *tally, size_t i)
{
	return i < tally->n ? tally->parts[i].steps / pow(10, tally->decimals) : NAN;
}

int watt_tally_is_below(const struct watt_tally *tally, size_t i)
{
	return i < tally->n && tally->parts[i].is_below;
}

char *watt_tally_text(const struct watt_tally *tally, size_t i, char *buf)
{
	double part = watt_tally_get_part(tally, i);

	if (isnan(part))
		return strcpy(buf, "-");
	if (watt_tally_is_below(tally, i))
		snprintf(buf, WATT_UNITS_SIZE, "<%.*f", tally->decimals, pow(10, -tally->decimals));
	else
		/* Never "-0.0". */
		snprintf(buf, WATT_UNITS_SIZE, "%.*f", tally->decimals, part == 0 ? 0 : part);
	return buf;
}

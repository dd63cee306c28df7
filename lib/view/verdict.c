/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draws the conclusion from what all sources answered. What a source needs is its own to say (its
 * hint); here only the words around it.
 */
#include <wattribute/diag.h>

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <wattribute/units.h>

#include "base/cleanup.h"
#include "base/sized.h"
#include "base/util.h"

/* The power source that says best what this machine could do; NULL: there is none. */
static const struct watt_diag *best_power(const struct watt_diag *diags, size_t n,
					  enum watt_origin origin)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (diags[i].role == WATT_ROLE_POWER && diags[i].is_selected &&
		    diags[i].state == WATT_AVAILABLE && diags[i].origin == origin)
			return &diags[i];
	return NULL;
}

/* The first measuring source that could be made to work. */
static const struct watt_diag *best_repair(const struct watt_diag *diags, size_t n,
					   enum watt_source_role role)
{
	static const enum watt_availability order[] = { WATT_FORBIDDEN, WATT_BROKEN };
	size_t i, k;

	for (k = 0; k < WATT_ARRAY_SIZE(order); k++)
		for (i = 0; i < n; i++)
			if (diags[i].role == role && diags[i].state == order[k] &&
			    diags[i].origin == WATT_ORIGIN_MEASURED && !diags[i].is_test)
				return &diags[i];
	return NULL;
}

static const struct watt_diag *selected_usage(const struct watt_diag *diags, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (diags[i].role == WATT_ROLE_USAGE && diags[i].is_selected &&
		    diags[i].state == WATT_AVAILABLE)
			return &diags[i];
	return NULL;
}

/* One whose counters are there and don't count. */
static const struct watt_diag *find_stuck(const struct watt_diag *diags, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (diags[i].role == WATT_ROLE_POWER && diags[i].state == WATT_ABSENT &&
		    diags[i].error == -ENODATA && !diags[i].is_test)
			return &diags[i];
	return NULL;
}

/* "; for measured power: hint", as far as anything is known to help. */
static void advise(char *buf, size_t size, const struct watt_diag *repair,
		   const struct watt_diag *stuck)
{
	if (!repair && stuck)
		snprintf(buf, size, "%s is stuck: %s", stuck->source, stuck->why);
	else if (!repair)
		snprintf(buf, size, "no sensor was found, as in most virtual machines");
	else
		snprintf(buf, size, "%s is %s: %s", repair->source,
			 watt_availability_name(repair->state),
			 *repair->hint ? repair->hint : repair->why);
}

/* What somebody else has written may end with a stop or a question mark of its own. */
static void end_sentence(char *text, size_t size)
{
	size_t n = strlen(text);

	if (n > 0 && !strchr(".?", text[n - 1]) && n + 1 < size)
		strcat(text, ".");
}

static void conclude(const struct watt_diag *diags, size_t n, int is_utf8, struct watt_verdict *ret)
{
	const struct watt_diag *measured = best_power(diags, n, WATT_ORIGIN_MEASURED);
	const struct watt_diag *estimated = best_power(diags, n, WATT_ORIGIN_ESTIMATED);
	const struct watt_diag *simulated = best_power(diags, n, WATT_ORIGIN_SIMULATED);
	const struct watt_diag *usage = selected_usage(diags, n);
	char advice[640], number[WATT_UNITS_SIZE];

	ret->is_measured = measured != NULL;
	ret->is_possible = usage && (measured || estimated || simulated);
	advise(advice, sizeof(advice), best_repair(diags, n, WATT_ROLE_POWER),
	       find_stuck(diags, n));
	if (!usage)
		snprintf(ret->text, sizeof(ret->text),
			 "Measuring is not possible: nothing tells who is running.");
	else if (measured)
		snprintf(ret->text, sizeof(ret->text),
			 "Measuring is possible: power is measured by %s%s, shared by %s.",
			 measured->source, estimated ? " and partly estimated" : "", usage->source);
	else if (estimated)
		snprintf(ret->text, sizeof(ret->text),
			 "Measuring is possible: estimated power only (%s), shared by %s. "
			 "For measured power: %s",
			 watt_units_uncertainty(number, estimated->uncertainty_ppm, is_utf8),
			 usage->source, advice);
	else if (simulated)
		snprintf(ret->text, sizeof(ret->text),
			 "Measuring is possible: simulated power only (%s), shared by %s.",
			 simulated->source, usage->source);
	else
		snprintf(ret->text, sizeof(ret->text),
			 "Measuring is not possible: there is no source of power; %s", advice);
	end_sentence(ret->text, sizeof(ret->text));
}

int watt_verdict_draw(const struct watt_diag *diags, size_t n_diags, int is_utf8,
		      struct watt_verdict *ret)
{
	_cleanup_free_ struct watt_diag *known = NULL;
	struct watt_verdict verdict = { 0 };

	if ((n_diags > 0 && !watt_sized_is_valid(diags)) || !watt_sized_is_valid(ret))
		return -EINVAL;
	known = watt_sized_copy_all(diags, n_diags, sizeof(*known));
	if (!known)
		return -ENOMEM;
	conclude(known, n_diags, is_utf8, &verdict);
	watt_sized_give(&verdict, sizeof(verdict), ret);
	return 0;
}

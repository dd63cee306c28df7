/* SPDX-License-Identifier: Apache-2.0 */
/* docs/learned.md says what it reaches; tests/accuracy/rest_worlds.c measures it. */
#include "attrib/significance.h"

#include "base/util.h"
#include "base/words.h"

#define KEPT 0.9995      /* of the sums, a change */
#define LEAST_CHANGES 12 /* of one size, or more that differ, say as much */
#define T_MOST 100
#define MOST 1e30

void watt_significance_add(struct watt_significance *s, double expected_w, double measured_w)
{
	double x = expected_w, y = measured_w, t;

	s->x2 = KEPT * s->x2 + x * x;
	s->xy = KEPT * s->xy + x * y;
	s->x4 = KEPT * s->x4 + x * x * x * x;
	s->x3y = KEPT * s->x3y + x * x * x * y;
	s->x2y2 = KEPT * s->x2y2 + x * x * y * y;
	t = watt_significance_t(s);
	s->is_significant = t >=
			    (s->is_significant ? WATT_SIGNIFICANT_STAY : WATT_SIGNIFICANT_BEGIN);
}

double watt_significance_t(const struct watt_significance *s)
{
	double slope, error2;

	if (!(s->x4 > 0) || s->x2 * s->x2 < LEAST_CHANGES * s->x4)
		return 0;
	slope = s->xy / s->x2;
	error2 = s->x2y2 - 2 * slope * s->x3y + slope * slope * s->x4;
	/* where the line explains all, t is as large as that says, and no larger than anybody needs */
	error2 = WATT_MAX(error2, s->x2y2 / (T_MOST * T_MOST));
	return error2 > 0 ? s->xy / __builtin_sqrt(error2) : 0;
}

int watt_significance_visit(struct watt_significance *s, struct watt_words *words)
{
	watt_words_double(words, &s->x2, 0, MOST);
	watt_words_double(words, &s->xy, -MOST, MOST);
	watt_words_double(words, &s->x4, 0, MOST);
	watt_words_double(words, &s->x3y, -MOST, MOST);
	watt_words_double(words, &s->x2y2, 0, MOST);
	watt_words_bool(words, &s->is_significant);
	if (words->error && words->is_loading)
		*s = (struct watt_significance){ 0 };
	return words->error;
}

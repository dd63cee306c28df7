/* SPDX-License-Identifier: Apache-2.0 */
/* Small bars. They begin at 0, so that their heights can be compared. */
#include "sparkline.h"

#include <math.h>
#include <string.h>

#include "text.h"
#include "xalloc.h"

void sparkline_add(struct sparkline *line, double value)
{
	line->values[line->n++ % SPARKLINE_POINTS] = value;
}

/* How many values are drawn. */
static size_t count(const struct sparkline *line, size_t columns)
{
	size_t n = line->n < SPARKLINE_POINTS ? line->n : SPARKLINE_POINTS;

	return n < columns ? n : columns;
}

void sparkline_range(const struct sparkline *line, size_t columns, double *ret_min, double *ret_max)
{
	size_t n = count(line, columns), i;

	*ret_min = NAN;
	*ret_max = NAN;
	for (i = line->n - n; i < line->n; i++) {
		double value = line->values[i % SPARKLINE_POINTS];

		*ret_min = fmin(*ret_min, value);
		*ret_max = fmax(*ret_max, value);
	}
}

char *sparkline_draw(const struct sparkline *line, size_t columns, char *buf, size_t size)
{
	static const char *const bars_utf8[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	static const char *const bars_ascii[] = { "_", ".", ":", "-", "=", "+", "*", "#" };
	const char *const *bars = text_is_utf8() ? bars_utf8 : bars_ascii;
	size_t n = count(line, columns), i, used = 0;
	double min, max;

	sparkline_range(line, columns, &min, &max);
	buf[0] = '\0';
	for (i = line->n - n; i < line->n; i++) {
		double value = line->values[i % SPARKLINE_POINTS];
		const char *bar = " ";

		if (!isnan(value) && max > 0)
			bar = bars[value <= 0 ? 0 : (size_t)fmin(7, value / max * 8)];
		if (used + strlen(bar) + 1 > size)
			break;
		strcpy(buf + used, bar);
		used += strlen(bar);
	}
	return buf;
}

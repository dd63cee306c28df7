/* SPDX-License-Identifier: Apache-2.0 */
/* A line of small bars: the history of one number, as wide as there is room. */
#ifndef WATT_CLI_SPARKLINE_H
#define WATT_CLI_SPARKLINE_H

#include <stddef.h>

#define SPARKLINE_POINTS 256
/* Bytes that a line of n columns may take. */
#define SPARKLINE_SIZE(n) ((n)*3 + 1)

struct sparkline {
	double values[SPARKLINE_POINTS]; /* NAN: not known */
	size_t n;                        /* values so far; the newest SPARKLINE_POINTS are kept */
};

void sparkline_add(struct sparkline *line, double value);
/* Draws the newest values, the newest at the right, from 0 to the greatest one. Returns buf. */
char *sparkline_draw(const struct sparkline *line, size_t columns, char *buf, size_t size);
/* Least and greatest value that would be drawn; NAN if there is none. */
void sparkline_range(const struct sparkline *line, size_t columns, double *ret_min,
		     double *ret_max);

#endif

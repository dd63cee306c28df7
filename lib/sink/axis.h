/* SPDX-License-Identifier: Apache-2.0 */
/* Round numbers for axes. */
#ifndef WATT_SINK_AXIS_H
#define WATT_SINK_AXIS_H

#include <stddef.h>

#define WATT_AXIS_LABEL_SIZE 32

struct watt_axis {
	double first; /* of the ticks */
	double step;
	size_t n;     /* ticks */
	double scale; /* a label shows the value times this */
	int decimals;
	const char *unit; /* of what the labels show */
	double min, max;  /* of the axis */
};

/*
 * An axis of power with at most max_ticks + 1 round ticks, that has min_w, max_w and 0. The unit
 * is uW, mW, W, kW or MW.
 */
struct watt_axis watt_axis_power(double min_w, double max_w, size_t max_ticks);
/* An axis from min_s to max_s, with ticks at multiples that people count time in. */
struct watt_axis watt_axis_time(double min_s, double max_s, size_t max_ticks);
double watt_axis_tick(const struct watt_axis *axis, size_t i);
/* Its label, in buf (WATT_AXIS_LABEL_SIZE). */
char *watt_axis_label(const struct watt_axis *axis, size_t i, char *buf);

#endif

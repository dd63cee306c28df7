/* SPDX-License-Identifier: Apache-2.0 */
/* Ticks at 1, 2 or 5 times a power of ten; of time at parts of minutes and hours. */
#include "sink/axis.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/util.h"

static double nice_step(double least)
{
	double power = pow(10, floor(log10(least)));
	double part = least / power;

	/* What is a step but for rounding is one. */
	return power * (part <= 1 + 1e-9 ? 1 : part <= 2 + 1e-9 ? 2 : part <= 5 + 1e-9 ? 5 : 10);
}

static int decimals_of(double step)
{
	int decimals = 0;

	while (decimals < 9 && fabs(step - round(step)) > 1e-9 * step) {
		step *= 10;
		decimals++;
	}
	return decimals;
}

static const struct {
	double factor;
	const char *name;
} units[] = {
	{ 1e6, "MW" }, { 1e3, "kW" }, { 1, "W" }, { 1e-3, "mW" }, { 1e-6, "\u00b5W" },
};

struct watt_axis watt_axis_power(double min_w, double max_w, size_t max_ticks)
{
	struct watt_axis axis = { 0 };
	double size, step;
	size_t i;

	min_w = isfinite(min_w) && min_w < 0 ? min_w : 0;
	max_w = isfinite(max_w) && max_w > 0 ? max_w : 0;
	if (max_w - min_w < 1e-9)
		max_w = min_w + 1;
	size = fmax(max_w, -min_w);
	for (i = 0; i + 1 < WATT_ARRAY_SIZE(units) && size < units[i].factor; i++)
		continue;
	axis.scale = 1 / units[i].factor;
	axis.unit = units[i].name;
	step = nice_step((max_w - min_w) / units[i].factor / (double)(max_ticks ? max_ticks : 1));
	/* Rounding outwards may add a tick at either end. */
	while (ceil(max_w * axis.scale / step - 1e-9) - floor(min_w * axis.scale / step + 1e-9) >
		       (double)max_ticks &&
	       max_ticks > 1)
		step = nice_step(step * 1.01);
	axis.decimals = decimals_of(step);
	axis.step = step * units[i].factor;
	axis.first = floor(min_w / axis.step + 1e-9) * axis.step;
	axis.min = axis.first;
	axis.max = ceil(max_w / axis.step - 1e-9) * axis.step;
	axis.n = (size_t)((axis.max - axis.min) / axis.step + 1.5);
	return axis;
}

static double time_step(double least)
{
	static const double steps[] = { 1,   2,   5,    10,   15,   30,    60,    120,   300,
					600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400 };
	size_t i;

	if (least <= 1)
		return nice_step(least);
	for (i = 0; i < WATT_ARRAY_SIZE(steps); i++)
		if (steps[i] >= least * (1 - 1e-9))
			return steps[i];
	return 86400 * nice_step(least / 86400);
}

struct watt_axis watt_axis_time(double min_s, double max_s, size_t max_ticks)
{
	struct watt_axis axis = { .scale = 1, .unit = "s", .min = min_s, .max = max_s };
	double near;

	if (!(max_s > min_s))
		axis.max = min_s + 1;
	axis.step = time_step((axis.max - axis.min) / (double)(max_ticks ? max_ticks : 1));
	axis.decimals = decimals_of(axis.step);
	/* A tick that is next to an end belongs to it: recordings begin a little after 0. */
	near = (axis.max - axis.min) / axis.step / 1000;
	axis.first = ceil(axis.min / axis.step - near) * axis.step;
	axis.n = (size_t)(floor((axis.max - axis.first) / axis.step + near) + 1);
	if (axis.max >= 3600)
		axis.unit = axis.step < 60 ? "h:min:s" : "h:min";
	else if (axis.max >= 120)
		axis.unit = "min:s";
	return axis;
}

double watt_axis_tick(const struct watt_axis *axis, size_t i)
{
	double value = axis->first + (double)i * axis->step;

	/* 0 is 0, whatever adding has left of it. */
	return fabs(value) < axis->step / 1e6 ? 0 : value;
}

static char *clock_label(const struct watt_axis *axis, double value_s, char *buf)
{
	unsigned long long s = (unsigned long long)(value_s + 0.5);
	double fraction = value_s - floor(value_s);

	if (strcmp(axis->unit, "h:min") == 0)
		snprintf(buf, WATT_AXIS_LABEL_SIZE, "%llu:%02llu", s / 3600, s / 60 % 60);
	else if (strcmp(axis->unit, "h:min:s") == 0)
		snprintf(buf, WATT_AXIS_LABEL_SIZE, "%llu:%02llu:%02llu", s / 3600, s / 60 % 60,
			 s % 60);
	else if (axis->decimals > 0)
		snprintf(buf, WATT_AXIS_LABEL_SIZE, "%llu:%0*.*f", (unsigned long long)value_s / 60,
			 3 + axis->decimals, axis->decimals, fmod(floor(value_s), 60) + fraction);
	else
		snprintf(buf, WATT_AXIS_LABEL_SIZE, "%llu:%02llu", s / 60, s % 60);
	return buf;
}

char *watt_axis_label(const struct watt_axis *axis, size_t i, char *buf)
{
	double value = watt_axis_tick(axis, i);

	if (strchr(axis->unit, ':'))
		return clock_label(axis, value, buf);
	snprintf(buf, WATT_AXIS_LABEL_SIZE, "%.*f", axis->decimals, value * axis->scale);
	return buf;
}

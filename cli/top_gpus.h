/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `top` tells of GPUs, without a screen: a line for each, and a bar for everybody on it. From a
 * snapshot's domains and gauges and from the rows of the table; it reads nothing else.
 */
#ifndef WATT_CLI_TOP_GPUS_H
#define WATT_CLI_TOP_GPUS_H

#include <stdbool.h>
#include <stddef.h>

#include "top_model.h"

#define TOP_GPUS_MAX 64
#define TOP_GPUS_LINE 512

/* One GPU, or a part of one that has a domain of its own. NAN: it does not tell, or not now. */
struct top_gpu {
	size_t domain;
	bool is_part;
	double power_w;
	double limit_w;
	double load;
	double memory_b;
	double temperature_c;
	double clock_hz;
	double memory_clock_hz;
	bool is_held_by_power, is_held_by_heat; /* some of the time */
	char model[64];                         /* clean; "": it does not tell */
};

struct top_gpus {
	struct top_gpu gpu[TOP_GPUS_MAX];
	size_t n; /* 0: this machine has none */
	size_t path_width;
};

/* In the order of their domains, parts below their GPU. */
void top_gpus_find(struct top_gpus *gpus, const struct watt_view *view);
/* Whether the line of a GPU tells of this gauge. */
bool top_gpus_has_gauge(const struct top_gpus *gpus, const struct watt_view *view,
			const struct watt_gauge *gauge);

/* Lines of at most `width` columns (0: endless). They return buf (TOP_GPUS_LINE bytes). */
char *top_gpus_titles(const struct top_gpus *gpus, size_t width, char *buf);
char *top_gpus_line(const struct top_gpus *gpus, size_t i, const struct watt_view *view,
		    size_t width, char *buf);
/* usage_untold() of a card: why nobody is on its list who may be on it. */
const char *top_gpus_untold(const struct top_gpu *gpu, const struct watt_view *view);
/*
 * The rows that took something of a GPU's domain in the window, most first, and idle and nobody last:
 * indexes into the model's rows, for which there must be room for all. Returns how many there are.
 */
size_t top_gpus_users(const struct top_gpu *gpu, const struct top_model *model, size_t *ret);
/* The bar of one of them. */
char *top_gpus_bar(const struct top_gpu *gpu, const struct top_row *row, size_t width, char *buf);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The efficiency of supplies that measure both sides: what comes out, of what goes in. A supply is
 * a channel of that kind, and its outputs have places in its own. Pure.
 */
#ifndef WATT_BASE_EFFICIENCY_H
#define WATT_BASE_EFFICIENCY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <wattribute/channel.h>
#include <wattribute/sample.h>

/* Channels and what they said last, by their numbers. */
struct watt_efficiency_view {
	const void *of;
	size_t n;
	const struct watt_channel *(*channel)(const void *of, size_t i);
	int (*sample)(const void *of, size_t i, struct watt_sample *ret);
};

/* Both sides, in the same moment as nearly as they are read. */
struct watt_efficiency {
	double in_uw;
	double out_uw;
};

/*
 * 0; -ENOENT: the channel is no supply's input, or nothing tells what comes out of it; -ENODATA:
 * not all of it has a value now.
 */
int watt_efficiency_read(const struct watt_efficiency_view *view, size_t supply,
			 struct watt_efficiency *ret);
/* All supplies that tell both sides, together: 0, -ENOENT or -ENODATA. */
int watt_efficiency_sum(const struct watt_efficiency_view *view, struct watt_efficiency *ret);
/* 0; -ENODATA: nothing goes in, or more comes out than goes in. */
int watt_efficiency_ppm(const struct watt_efficiency *sides, uint32_t *ret_ppm);

#endif

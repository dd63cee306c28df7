/* SPDX-License-Identifier: Apache-2.0 */
/* Pixels from SVG. One thread at a time. */
#ifndef WATT_SINK_PNG_H
#define WATT_SINK_PNG_H

#include <stddef.h>
#include <stdio.h>

#include "base/log.h"

/* Renders SVG text of this size into a PNG file. 0 or a negative errno, and a sentence. */
int watt_png_write(const struct watt_log *log, const char *svg, size_t len, double width,
		   double height, FILE *out);

#endif

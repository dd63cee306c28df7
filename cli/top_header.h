/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lines above the table of `top`: the machine's power and its history, the conservation line
 * in watts and in joules, and how far all of it can be trusted. All return buf.
 */
#ifndef WATT_CLI_TOP_HEADER_H
#define WATT_CLI_TOP_HEADER_H

#include <stddef.h>

#include <wattribute/balance.h>

#include "top_gpus.h"

/* "12.3 W estimated +-40 %" */
char *top_header_power(const struct watt_balance *balance, char *buf, size_t size);
/* ", in phase 'load'"; "" for no phase */
char *top_header_phase(const char *phase, char *buf, size_t size);
/* "estimated 12.3 W = attributed 3.2 + idle 8.9 + unattributed 0.2 W" */
char *top_header_watts(const struct watt_balance *balance, char *buf, size_t size);
/* The same in joules since the start. */
char *top_header_joules(const struct watt_balance *balance, char *buf, size_t size);
/* "node 321 W: package-0 120 W, dram-0 12 W, residual 189 W"; "" where no total has parts. */
char *top_header_node(const struct watt_view *view, char *buf, size_t size);
/* The context that is read, without that of these GPUs, which have lines of their own; or "". */
char *top_header_context(const struct watt_view *view, const struct top_gpus *gpus, char *buf,
			 size_t size);
/* "shared by cpu_time, idle known (8.9 W) and shared too, usage bpf, nothing lost" */
char *top_header_trust(const struct watt_balance *balance, const struct watt_quality *quality,
		       const char *usage, const char *late, char *buf, size_t size);

#endif

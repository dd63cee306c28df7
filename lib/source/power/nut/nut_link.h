/* SPDX-License-Identifier: Apache-2.0 */
/* Questions to an upsd and its answers, each within a time. One thread per object. */
#ifndef WATT_SOURCE_POWER_NUT_NUT_LINK_H
#define WATT_SOURCE_POWER_NUT_NUT_LINK_H

#include <stddef.h>
#include <stdint.h>

#include "source/power/nut/nut_line.h"

#define WATT_NUT_PORT "3493"
/* More of one server are not asked for. */
#define WATT_NUT_UPS_MAX 64

struct watt_nut_link {
	int fd; /* -1: it is not there */
	char data[4096];
	size_t len; /* of what came and was not taken yet */
};

#define WATT_NUT_LINK_INIT \
	{ \
		.fd = -1 \
	}

/* server: "host", "host:port", "[address]:port". As watt_tcp_open. */
int watt_nut_link_open(struct watt_nut_link *link, const char *server);
/* Accepts one that is not open. */
void watt_nut_link_close(struct watt_nut_link *link);
/*
 * A value in millionths. What watt_nut_line_error and watt_nut_line_value say; -ETIMEDOUT, -EPIPE:
 * the link is of no more use, and is closed.
 */
int watt_nut_link_get(struct watt_nut_link *link, const char *ups, const char *name, int64_t *ret);
/* Names of what it has, at most WATT_NUT_UPS_MAX, each to be freed: their number, or as above. */
int watt_nut_link_list(struct watt_nut_link *link, char *ret_names[WATT_NUT_UPS_MAX]);

#endif

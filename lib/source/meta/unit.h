/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The systemd unit that a cgroup path belongs to: the first component behind the leading slices,
 * if it is one. Units of a systemd inside a container are the container's own business.
 */
#ifndef WATT_SOURCE_META_UNIT_H
#define WATT_SOURCE_META_UNIT_H

#include <stdbool.h>
#include <stddef.h>

/* Some bytes of somebody else's text; p NULL: none. */
struct watt_span {
	const char *p;
	size_t len;
};

/*
 * Next component of a path at *cursor, which moves behind it. False at the end. Empty ones, "."
 * and ".." are left out.
 */
bool watt_path_next(const char **cursor, struct watt_span *ret);
bool watt_span_has_prefix(struct watt_span span, const char *prefix);
bool watt_span_has_suffix(struct watt_span span, const char *suffix);
bool watt_span_is(struct watt_span span, const char *text);
/* What is left of it without its first n bytes, or its last n. */
struct watt_span watt_span_skip(struct watt_span span, size_t n);
struct watt_span watt_span_drop(struct watt_span span, size_t n);

/* *ret_user_unit: the unit of a user's own systemd (below user@UID.service). */
void watt_unit_find(const char *path, struct watt_span *ret_unit, struct watt_span *ret_user_unit);

#endif

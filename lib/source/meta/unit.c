/* SPDX-License-Identifier: Apache-2.0 */
/* Finds systemd units in cgroup paths by their names alone. It asks no systemd. */
#include "source/meta/unit.h"

#include <string.h>

#include "base/util.h"

bool watt_path_next(const char **cursor, struct watt_span *ret)
{
	const char *p = *cursor;

	for (;;) {
		struct watt_span span;

		while (*p == '/')
			p++;
		if (*p == '\0')
			return false;
		span = (struct watt_span){ p, strcspn(p, "/") };
		p += span.len;
		if (watt_span_is(span, ".") || watt_span_is(span, ".."))
			continue;
		*cursor = p;
		*ret = span;
		return true;
	}
}

bool watt_span_has_prefix(struct watt_span span, const char *prefix)
{
	size_t n = strlen(prefix);

	return span.len >= n && memcmp(span.p, prefix, n) == 0;
}

bool watt_span_has_suffix(struct watt_span span, const char *suffix)
{
	size_t n = strlen(suffix);

	return span.len >= n && memcmp(span.p + span.len - n, suffix, n) == 0;
}

bool watt_span_is(struct watt_span span, const char *text)
{
	return span.len == strlen(text) && memcmp(span.p, text, span.len) == 0;
}

struct watt_span watt_span_skip(struct watt_span span, size_t n)
{
	return (struct watt_span){ span.p + n, span.len - n };
}

struct watt_span watt_span_drop(struct watt_span span, size_t n)
{
	return (struct watt_span){ span.p, span.len - n };
}

static bool is_slice(struct watt_span span)
{
	return watt_span_has_suffix(span, ".slice");
}

static bool is_unit(struct watt_span span)
{
	static const char *const suffixes[] = { ".service", ".scope", ".socket", ".mount",
						".swap" };
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(suffixes); i++)
		if (watt_span_has_suffix(span, suffixes[i]) && span.len > strlen(suffixes[i]))
			return true;
	return false;
}

/* The first component behind slices, if it is a unit. */
static bool next_unit(const char **cursor, struct watt_span *ret)
{
	struct watt_span span;

	do
		if (!watt_path_next(cursor, &span))
			return false;
	while (is_slice(span));
	/* systemd puts a '_' before names that could be a file of the cgroup itself */
	if (span.p[0] == '_')
		span = watt_span_skip(span, 1);
	if (!is_unit(span))
		return false;
	*ret = span;
	return true;
}

void watt_unit_find(const char *path, struct watt_span *ret_unit, struct watt_span *ret_user_unit)
{
	*ret_unit = (struct watt_span){ 0 };
	*ret_user_unit = (struct watt_span){ 0 };
	if (next_unit(&path, ret_unit) && watt_span_has_prefix(*ret_unit, "user@") &&
	    watt_span_has_suffix(*ret_unit, ".service"))
		next_unit(&path, ret_user_unit);
}

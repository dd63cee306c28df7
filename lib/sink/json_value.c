/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Building blocks of the JSON documents, on top of jansson. Names come from anybody and need not
 * be UTF-8; nothing they contain may make a document invalid or drop a field.
 */
#include "sink/json_value.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <wattribute/json.h>
#include <wattribute/types.h>

#include "base/utf8.h"

void watt_json_init(struct watt_json *doc, const char *schema)
{
	doc->root = json_object();
	doc->has_failed = !doc->root;
	watt_json_text(doc, doc->root, "schema", schema);
	watt_json_text(doc, doc->root, "version", watt_version());
}

int watt_json_done(struct watt_json *doc, uint32_t flags, char **ret)
{
	/* 15 digits are what a double holds for sure: 0.1 stays 0.1. */
	size_t style = JSON_REAL_PRECISION(15) |
		       (flags & WATT_JSON_PRETTY ? JSON_INDENT(2) : JSON_COMPACT);
	char *text = NULL;

	if (!doc->has_failed)
		text = json_dumps(doc->root, style);
	json_decref(doc->root);
	doc->root = NULL;
	if (!text)
		return -ENOMEM;
	*ret = text;
	return 0;
}

static void set(struct watt_json *doc, json_t *parent, const char *key, json_t *value)
{
	if (!value || !parent || json_object_set_new(parent, key, value) < 0)
		doc->has_failed = true;
}

static json_t *add(struct watt_json *doc, json_t *array, json_t *value)
{
	if (!value || !array || json_array_append_new(array, value) < 0) {
		doc->has_failed = true;
		return NULL;
	}
	return value;
}

json_t *watt_json_object(struct watt_json *doc, json_t *parent, const char *key)
{
	set(doc, parent, key, json_object());
	return parent ? json_object_get(parent, key) : NULL;
}

json_t *watt_json_array(struct watt_json *doc, json_t *parent, const char *key)
{
	set(doc, parent, key, json_array());
	return parent ? json_object_get(parent, key) : NULL;
}

json_t *watt_json_append(struct watt_json *doc, json_t *array)
{
	return add(doc, array, json_object());
}

static json_t *text_value(const char *text)
{
	static const char replacement[] = "\xef\xbf\xbd";
	json_t *value = json_string(text);
	char *clean;
	size_t left = strlen(text), n = 0;

	if (value)
		return value;
	clean = malloc(left * (sizeof(replacement) - 1) + 1);
	if (!clean)
		return NULL;
	while (left > 0) {
		size_t len = watt_utf8_decode(text, left, NULL);

		memcpy(clean + n, len ? text : replacement, len ? len : sizeof(replacement) - 1);
		n += len ? len : sizeof(replacement) - 1;
		text += len ? len : 1;
		left -= len ? len : 1;
	}
	value = json_stringn(clean, n);
	free(clean);
	return value;
}

void watt_json_text(struct watt_json *doc, json_t *parent, const char *key, const char *text)
{
	set(doc, parent, key, text ? text_value(text) : json_null());
}

void watt_json_bool(struct watt_json *doc, json_t *parent, const char *key, bool value)
{
	set(doc, parent, key, json_boolean(value));
}

void watt_json_int(struct watt_json *doc, json_t *parent, const char *key, int64_t value)
{
	set(doc, parent, key, json_integer(value));
}

void watt_json_real(struct watt_json *doc, json_t *parent, const char *key, double value)
{
	set(doc, parent, key, isfinite(value) ? json_real(value) : json_null());
}

void watt_json_null(struct watt_json *doc, json_t *parent, const char *key)
{
	set(doc, parent, key, json_null());
}

void watt_json_append_int(struct watt_json *doc, json_t *array, int64_t value)
{
	add(doc, array, json_integer(value));
}

void watt_json_append_text(struct watt_json *doc, json_t *array, const char *text)
{
	add(doc, array, text_value(text));
}

void watt_json_id(struct watt_json *doc, json_t *parent, const char *key, int64_t value,
		  int64_t none)
{
	set(doc, parent, key, value <= none ? json_null() : json_integer(value));
}

void watt_json_time(struct watt_json *doc, json_t *parent, const char *key, uint64_t t_ns)
{
	watt_json_real(doc, parent, key, (double)t_ns / 1e9);
}

void watt_json_known_time(struct watt_json *doc, json_t *parent, const char *key, uint64_t t_ns)
{
	watt_json_real(doc, parent, key, t_ns ? (double)t_ns / 1e9 : NAN);
}

void watt_json_ratio(struct watt_json *doc, json_t *parent, const char *key, uint32_t ppm)
{
	watt_json_real(doc, parent, key, ppm ? ppm / 1e6 : NAN);
}

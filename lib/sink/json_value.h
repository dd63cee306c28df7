/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Building blocks of the JSON documents: values that say "missing" as null, never as 0.
 * A failed allocation is remembered by the document and told once, at the end.
 */
#ifndef WATT_SINK_JSON_VALUE_H
#define WATT_SINK_JSON_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

/* A document that is being built. */
struct watt_json {
	json_t *root;
	bool has_failed; /* out of memory somewhere: the document is not whole */
};

/* Begins a document: {"schema": schema, "version": ...}. */
void watt_json_init(struct watt_json *doc, const char *schema);
/* Ends it: the text, or -ENOMEM. Frees what was built either way. */
int watt_json_done(struct watt_json *doc, uint32_t flags, char **ret);

/* A new object or array inside another; NULL (which all others accept) when memory is out. */
json_t *watt_json_object(struct watt_json *doc, json_t *parent, const char *key);
json_t *watt_json_array(struct watt_json *doc, json_t *parent, const char *key);
/* The same at the end of an array. */
json_t *watt_json_append(struct watt_json *doc, json_t *array);

/* NULL gives null. What is not UTF-8 is replaced by U+FFFD. */
void watt_json_text(struct watt_json *doc, json_t *parent, const char *key, const char *text);
void watt_json_bool(struct watt_json *doc, json_t *parent, const char *key, bool value);
void watt_json_int(struct watt_json *doc, json_t *parent, const char *key, int64_t value);
/* Not finite gives null. */
void watt_json_real(struct watt_json *doc, json_t *parent, const char *key, double value);
void watt_json_null(struct watt_json *doc, json_t *parent, const char *key);
void watt_json_append_int(struct watt_json *doc, json_t *array, int64_t value);
void watt_json_append_text(struct watt_json *doc, json_t *array, const char *text);

/* Integer, or null where `none` says that 0 or less stands for unknown. */
void watt_json_id(struct watt_json *doc, json_t *parent, const char *key, int64_t value,
		  int64_t none);
/* Seconds from ns, and null for 0 = unknown. */
void watt_json_time(struct watt_json *doc, json_t *parent, const char *key, uint64_t t_ns);
void watt_json_known_time(struct watt_json *doc, json_t *parent, const char *key, uint64_t t_ns);
/* A ratio from ppm, and null for 0 = unknown. */
void watt_json_ratio(struct watt_json *doc, json_t *parent, const char *key, uint32_t ppm);

#endif

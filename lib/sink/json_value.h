/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one writer of JSON: values that say "missing" as null, never as 0. Text is written as it
 * comes, into memory or on a stream, so that a document may be larger than memory: what is opened
 * in an object or array ends when something is added to that again. A failed allocation is
 * remembered by the document and told once, at the end.
 */
#ifndef WATT_SINK_JSON_VALUE_H
#define WATT_SINK_JSON_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <wattribute/types.h>

#define WATT_JSON_LEVELS 8

/* An object or array of a document that is being written; a plain value. */
struct watt_json_node {
	uint32_t level;
	uint32_t serial; /* of all that were opened */
};

struct watt_json_level {
	uint32_t serial;
	bool is_array;
	bool has_items;
};

/* How a document looks. All zero: on one line, without blanks. */
struct watt_json_layout {
	uint32_t indent;      /* spaces for each level */
	uint32_t line_levels; /* down to this level each item has its line; 0: no line breaks */
};

/* Indented, each item on a line of its own. */
extern const struct watt_json_layout watt_json_pretty;

/* A document that is being written. */
struct watt_json {
	struct watt_json_node root;
	char *text;
	size_t len, cap;
	struct watt_json_level levels[WATT_JSON_LEVELS];
	uint32_t n_levels;
	uint32_t n_opened;
	struct watt_json_layout layout;
	FILE *out;       /* NULL: it stays in memory */
	bool has_failed; /* out of memory somewhere: the document is not whole */
};

/* Begins a document: {"schema": schema, "version": ...}. flags: as in <wattribute/json.h>. */
void watt_json_init(struct watt_json *doc, uint32_t flags, const char *schema);
/* Ends it: the text, or -ENOMEM. Frees what was written then. */
int watt_json_done(struct watt_json *doc, char **ret);

/* Begins one that is not of our own schemas, without members; out NULL: in memory. */
void watt_json_begin(struct watt_json *doc, struct watt_json_layout layout, FILE *out);
/* Ends one on a stream: 0 or -ENOMEM; errors of the stream are its owner's to notice. */
int watt_json_end(struct watt_json *doc);

/* A new object or array inside an object; key NULL, here and below: inside an array. */
struct watt_json_node watt_json_object(struct watt_json *doc, struct watt_json_node parent,
				       const char *key);
struct watt_json_node watt_json_array(struct watt_json *doc, struct watt_json_node parent,
				      const char *key);
/* A new object at the end of an array. */
struct watt_json_node watt_json_append(struct watt_json *doc, struct watt_json_node array);

/* NULL gives null. What is not UTF-8 is replaced by U+FFFD. */
void watt_json_text(struct watt_json *doc, struct watt_json_node parent, const char *key,
		    const char *text);
void watt_json_bool(struct watt_json *doc, struct watt_json_node parent, const char *key,
		    bool value);
void watt_json_int(struct watt_json *doc, struct watt_json_node parent, const char *key,
		   int64_t value);
/* Not finite gives null. */
void watt_json_real(struct watt_json *doc, struct watt_json_node parent, const char *key,
		    double value);
/* A billionth of the value, exactly: J of nJ, s of ns. */
void watt_json_nano(struct watt_json *doc, struct watt_json_node parent, const char *key,
		    int64_t value);
void watt_json_uint(struct watt_json *doc, struct watt_json_node parent, const char *key,
		    uint64_t value);
/* A number in the digits of the caller, and members as they stand between braces. */
void watt_json_digits(struct watt_json *doc, struct watt_json_node parent, const char *key,
		      const char *digits);
void watt_json_members(struct watt_json *doc, struct watt_json_node parent, const char *members,
		       size_t n);
/* Exactly: {"j": joules, "nj": the rest}, two integers that any reader keeps. */
void watt_json_energy(struct watt_json *doc, struct watt_json_node parent, const char *key,
		      struct watt_energy energy);
/* The same in J, as one number with all its digits. */
void watt_json_joules(struct watt_json *doc, struct watt_json_node parent, const char *key,
		      struct watt_energy energy);
void watt_json_null(struct watt_json *doc, struct watt_json_node parent, const char *key);
void watt_json_append_int(struct watt_json *doc, struct watt_json_node array, int64_t value);
void watt_json_append_energy(struct watt_json *doc, struct watt_json_node array,
			     struct watt_energy energy);
void watt_json_append_text(struct watt_json *doc, struct watt_json_node array, const char *text);

/* Integer, or null where `none` says that 0 or less stands for unknown. */
void watt_json_id(struct watt_json *doc, struct watt_json_node parent, const char *key,
		  int64_t value, int64_t none);
/* Seconds from ns, and null for 0 = unknown. */
void watt_json_time(struct watt_json *doc, struct watt_json_node parent, const char *key,
		    uint64_t t_ns);
void watt_json_known_time(struct watt_json *doc, struct watt_json_node parent, const char *key,
			  uint64_t t_ns);
struct watt_domain_state;
/* Of a domain of which nobody knows whether programs cause it: whether they turned out to. */
void watt_json_significance(struct watt_json *doc, struct watt_json_node parent,
			    const struct watt_domain_state *state);
/* How idle power is known, and how well: as what it is. */
void watt_json_baseline(struct watt_json *doc, struct watt_json_node parent,
			const struct watt_domain_state *state);
/* How old a sensor's values were found to be, found_delay_s; an uncertainty of 0: they were not. */
void watt_json_found_delay(struct watt_json *doc, struct watt_json_node parent, uint64_t delay_ns,
			   uint64_t uncertainty_ns);
/* key_nj as an integer and key_j as a number; null where the energy is not known. */
void watt_json_known_energy(struct watt_json *doc, struct watt_json_node parent, const char *key,
			    bool is_known, int64_t energy_nj);
/* A ratio from ppm, and null for 0 = unknown. */
void watt_json_ratio(struct watt_json *doc, struct watt_json_node parent, const char *key,
		     uint32_t ppm);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the JSON documents, text straight away: a document has thousands of numbers and is
 * written again every second. Names come from anybody and need not be UTF-8; nothing they contain
 * may make a document invalid or drop a field.
 */
#include "sink/json_value.h"

#include <assert.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <wattribute/json.h>
#include <wattribute/types.h>

#include "base/utf8.h"

#define FIRST_CAP 4096
/* So much of a document on a stream is kept at most, and one item. */
#define STREAM_MOST 65536

const struct watt_json_layout watt_json_pretty = { .indent = 2, .line_levels = UINT32_MAX };

/* ---- text ---- */

static void put(struct watt_json *doc, const char *text, size_t n)
{
	if (doc->cap - doc->len < n + 1) {
		size_t cap = doc->cap ? doc->cap : FIRST_CAP;
		char *grown;

		while (cap - doc->len < n + 1)
			cap *= 2;
		grown = doc->has_failed ? NULL : realloc(doc->text, cap);
		if (!grown) {
			doc->has_failed = true;
			return;
		}
		doc->text = grown;
		doc->cap = cap;
	}
	memcpy(doc->text + doc->len, text, n);
	doc->len += n;
}

static void put_char(struct watt_json *doc, char c)
{
	put(doc, &c, 1);
}

static void put_word(struct watt_json *doc, const char *word)
{
	put(doc, word, strlen(word));
}

/* Digits before end, at least min of them; returns where they begin. */
static char *digits_before(char *end, uint64_t value, int min)
{
	for (; value || min > 0; value /= 10, min--)
		*--end = (char)('0' + value % 10);
	return end;
}

static void put_int(struct watt_json *doc, int64_t value)
{
	char buf[24], *end = buf + sizeof(buf), *begin;

	begin = digits_before(end, value < 0 ? 0 - (uint64_t)value : (uint64_t)value, 1);
	if (value < 0)
		*--begin = '-';
	put(doc, begin, (size_t)(end - begin));
}

/* A whole and its billionths: as many decimals as it takes, but one. */
static void put_decimal(struct watt_json *doc, bool is_negative, uint64_t whole, uint32_t nano)
{
	char buf[40], *point = buf + 24, *end = point + 10, *begin;

	digits_before(end, nano, 9);
	*point = '.';
	while (end > point + 2 && end[-1] == '0')
		end--;
	begin = digits_before(point, whole, 1);
	if (is_negative)
		*--begin = '-';
	put(doc, begin, (size_t)(end - begin));
}

static void put_nano(struct watt_json *doc, int64_t value)
{
	uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

	put_decimal(doc, value < 0, size / 1000000000, (uint32_t)(size % 1000000000));
}

/* 15 digits are what a double holds for sure: 0.1 stays 0.1. */
static void put_real(struct watt_json *doc, double value)
{
	const char *point = localeconv()->decimal_point;
	char buf[40], *p;

	snprintf(buf, sizeof(buf), "%.15g", value);
	p = strstr(buf, point);
	if (p) {
		memmove(p + 1, p + strlen(point), strlen(p + strlen(point)) + 1);
		*p = '.';
	}
	put_word(doc, buf);
	if (!strpbrk(buf, ".e"))
		put_word(doc, ".0");
}

/* What may not stand in a string as it is. Returns the bytes of text that it stands for. */
static size_t put_escape(struct watt_json *doc, const char *text, size_t left)
{
	static const char shorts[] = "\b\t\n\f\r\"\\", letters[] = "btnfr\"\\";
	const char *found = strchr(shorts, *text);
	char code[8];

	if (found) {
		put_char(doc, '\\');
		put_char(doc, letters[found - shorts]);
	} else if ((unsigned char)*text < ' ') {
		snprintf(code, sizeof(code), "\\u%04X", (unsigned char)*text);
		put_word(doc, code);
	} else {
		size_t len = watt_utf8_decode(text, left, NULL);

		if (len)
			put(doc, text, len);
		else
			put_word(doc, "\xef\xbf\xbd");
		return len ? len : 1;
	}
	return 1;
}

static bool is_plain(char c)
{
	return c >= ' ' && c != '"' && c != '\\' && (unsigned char)c < 0x80;
}

static void put_string(struct watt_json *doc, const char *text)
{
	size_t left = strlen(text), n;

	put_char(doc, '"');
	while (left > 0) {
		for (n = 0; n < left && is_plain(text[n]); n++)
			continue;
		put(doc, text, n);
		text += n;
		left -= n;
		if (!left)
			break;
		n = put_escape(doc, text, left);
		text += n;
		left -= n;
	}
	put_char(doc, '"');
}

/* ---- structure ---- */

static void put_line(struct watt_json *doc, uint32_t level)
{
	uint32_t n = level * doc->layout.indent;

	put_char(doc, '\n');
	for (; n > 0; n--)
		put_char(doc, ' ');
}

/* Whether items of a level have lines of their own. */
static bool has_lines(const struct watt_json *doc, uint32_t level)
{
	return level <= doc->layout.line_levels && doc->layout.line_levels > 0;
}

static void close_level(struct watt_json *doc)
{
	const struct watt_json_level *level = &doc->levels[--doc->n_levels];

	if (level->has_items && has_lines(doc, doc->n_levels + 1))
		put_line(doc, doc->n_levels);
	put_char(doc, level->is_array ? ']' : '}');
}

static void write_out(struct watt_json *doc)
{
	if (doc->len > 0)
		fwrite(doc->text, 1, doc->len, doc->out);
	doc->len = 0;
}

static struct watt_json_node open_level(struct watt_json *doc, bool is_array)
{
	struct watt_json_node node = { doc->n_levels, ++doc->n_opened };

	assert(doc->n_levels < WATT_JSON_LEVELS);
	doc->levels[doc->n_levels++] =
		(struct watt_json_level){ .serial = node.serial, .is_array = is_array };
	put_char(doc, is_array ? '[' : '{');
	return node;
}

/* Goes to where the next item of the node belongs. */
static void next_item(struct watt_json *doc, struct watt_json_node node)
{
	struct watt_json_level *level = &doc->levels[node.level];

	assert(node.level < doc->n_levels && level->serial == node.serial);
	while (doc->n_levels > node.level + 1)
		close_level(doc);
	if (doc->out && doc->len >= STREAM_MOST)
		write_out(doc);
	if (level->has_items)
		put_char(doc, ',');
	if (has_lines(doc, doc->n_levels))
		put_line(doc, doc->n_levels);
	else if (level->has_items && doc->layout.line_levels)
		put_char(doc, ' ');
	level->has_items = true;
}

/* key: NULL in an array. */
static void begin_item(struct watt_json *doc, struct watt_json_node node, const char *key)
{
	assert(node.level < doc->n_levels && doc->levels[node.level].is_array == !key);
	next_item(doc, node);
	if (!key)
		return;
	put_string(doc, key);
	put_char(doc, ':');
	if (doc->layout.line_levels)
		put_char(doc, ' ');
}

void watt_json_begin(struct watt_json *doc, struct watt_json_layout layout, FILE *out)
{
	*doc = (struct watt_json){ .layout = layout, .out = out };
	doc->root = open_level(doc, false);
}

void watt_json_init(struct watt_json *doc, uint32_t flags, const char *schema)
{
	struct watt_json_layout layout = { 0 };

	if (flags & WATT_JSON_PRETTY)
		layout = watt_json_pretty;
	watt_json_begin(doc, layout, NULL);
	watt_json_text(doc, doc->root, "schema", schema);
	watt_json_text(doc, doc->root, "version", watt_version());
}

int watt_json_done(struct watt_json *doc, char **ret)
{
	while (doc->n_levels)
		close_level(doc);
	put(doc, "", 1);
	if (doc->has_failed) {
		free(doc->text);
		doc->text = NULL;
		return -ENOMEM;
	}
	*ret = doc->text;
	return 0;
}

int watt_json_end(struct watt_json *doc)
{
	while (doc->n_levels)
		close_level(doc);
	write_out(doc);
	free(doc->text);
	doc->text = NULL;
	return doc->has_failed ? -ENOMEM : 0;
}

struct watt_json_node watt_json_object(struct watt_json *doc, struct watt_json_node parent,
				       const char *key)
{
	begin_item(doc, parent, key);
	return open_level(doc, false);
}

struct watt_json_node watt_json_array(struct watt_json *doc, struct watt_json_node parent,
				      const char *key)
{
	begin_item(doc, parent, key);
	return open_level(doc, true);
}

struct watt_json_node watt_json_append(struct watt_json *doc, struct watt_json_node array)
{
	begin_item(doc, array, NULL);
	return open_level(doc, false);
}

/* ---- values ---- */

void watt_json_null(struct watt_json *doc, struct watt_json_node parent, const char *key)
{
	begin_item(doc, parent, key);
	put_word(doc, "null");
}

void watt_json_text(struct watt_json *doc, struct watt_json_node parent, const char *key,
		    const char *text)
{
	begin_item(doc, parent, key);
	if (text)
		put_string(doc, text);
	else
		put_word(doc, "null");
}

void watt_json_bool(struct watt_json *doc, struct watt_json_node parent, const char *key,
		    bool value)
{
	begin_item(doc, parent, key);
	put_word(doc, value ? "true" : "false");
}

void watt_json_int(struct watt_json *doc, struct watt_json_node parent, const char *key,
		   int64_t value)
{
	begin_item(doc, parent, key);
	put_int(doc, value);
}

void watt_json_real(struct watt_json *doc, struct watt_json_node parent, const char *key,
		    double value)
{
	begin_item(doc, parent, key);
	if (isfinite(value))
		put_real(doc, value);
	else
		put_word(doc, "null");
}

void watt_json_nano(struct watt_json *doc, struct watt_json_node parent, const char *key,
		    int64_t value)
{
	begin_item(doc, parent, key);
	put_nano(doc, value);
}

void watt_json_uint(struct watt_json *doc, struct watt_json_node parent, const char *key,
		    uint64_t value)
{
	char buf[24], *end = buf + sizeof(buf), *begin = digits_before(end, value, 1);

	begin_item(doc, parent, key);
	put(doc, begin, (size_t)(end - begin));
}

void watt_json_digits(struct watt_json *doc, struct watt_json_node parent, const char *key,
		      const char *digits)
{
	begin_item(doc, parent, key);
	put_word(doc, digits);
}

void watt_json_members(struct watt_json *doc, struct watt_json_node parent, const char *members,
		       size_t n)
{
	next_item(doc, parent);
	put(doc, members, n);
}

static void put_energy(struct watt_json *doc, struct watt_energy energy)
{
	struct watt_json_node obj = open_level(doc, false);

	watt_json_int(doc, obj, "j", energy.j);
	watt_json_int(doc, obj, "nj", energy.nj);
}

void watt_json_energy(struct watt_json *doc, struct watt_json_node parent, const char *key,
		      struct watt_energy energy)
{
	begin_item(doc, parent, key);
	put_energy(doc, energy);
}

void watt_json_append_energy(struct watt_json *doc, struct watt_json_node array,
			     struct watt_energy energy)
{
	begin_item(doc, array, NULL);
	put_energy(doc, energy);
}

void watt_json_joules(struct watt_json *doc, struct watt_json_node parent, const char *key,
		      struct watt_energy energy)
{
	bool is_negative = energy.j < 0;

	if (is_negative)
		energy = watt_energy_sub((struct watt_energy){ 0, 0 }, energy);
	begin_item(doc, parent, key);
	put_decimal(doc, is_negative, (uint64_t)energy.j, (uint32_t)energy.nj);
}

void watt_json_append_int(struct watt_json *doc, struct watt_json_node array, int64_t value)
{
	begin_item(doc, array, NULL);
	put_int(doc, value);
}

void watt_json_append_text(struct watt_json *doc, struct watt_json_node array, const char *text)
{
	begin_item(doc, array, NULL);
	put_string(doc, text);
}

void watt_json_id(struct watt_json *doc, struct watt_json_node parent, const char *key,
		  int64_t value, int64_t none)
{
	if (value <= none)
		watt_json_null(doc, parent, key);
	else
		watt_json_int(doc, parent, key, value);
}

void watt_json_time(struct watt_json *doc, struct watt_json_node parent, const char *key,
		    uint64_t t_ns)
{
	begin_item(doc, parent, key);
	put_decimal(doc, false, t_ns / 1000000000, (uint32_t)(t_ns % 1000000000));
}

void watt_json_known_time(struct watt_json *doc, struct watt_json_node parent, const char *key,
			  uint64_t t_ns)
{
	if (t_ns)
		watt_json_time(doc, parent, key, t_ns);
	else
		watt_json_null(doc, parent, key);
}

void watt_json_significance(struct watt_json *doc, struct watt_json_node parent,
			    const struct watt_domain_state *state)
{
	bool is_asked = !isnan(state->significance_t);

	watt_json_real(doc, parent, "significance_t", state->significance_t);
	if (is_asked)
		watt_json_bool(doc, parent, "is_significant", state->is_significant);
	else
		watt_json_null(doc, parent, "is_significant");
	watt_json_time(doc, parent, "clamped_s", state->clamped_ns);
	watt_json_time(doc, parent, "transient_s", state->transient_ns);
}

void watt_json_baseline(struct watt_json *doc, struct watt_json_node parent,
			const struct watt_domain_state *state)
{
	bool is_known = state->baseline_uncertainty_uw != UINT64_MAX;

	watt_json_text(doc, parent, "baseline_from", watt_baseline_from_name(state->baseline_from));
	watt_json_real(doc, parent, "baseline_uncertainty_w",
		       is_known ? (double)state->baseline_uncertainty_uw / 1e6 : NAN);
}

void watt_json_found_delay(struct watt_json *doc, struct watt_json_node parent, uint64_t delay_ns,
			   uint64_t uncertainty_ns)
{
	watt_json_real(doc, parent, "found_delay_s", uncertainty_ns ? (double)delay_ns / 1e9 : NAN);
	watt_json_known_time(doc, parent, "found_delay_uncertainty_s", uncertainty_ns);
}

void watt_json_known_energy(struct watt_json *doc, struct watt_json_node parent, const char *key,
			    bool is_known, int64_t energy_nj)
{
	char name_nj[64], name_j[64];

	snprintf(name_nj, sizeof(name_nj), "%s_nj", key);
	snprintf(name_j, sizeof(name_j), "%s_j", key);
	if (is_known) {
		watt_json_int(doc, parent, name_nj, energy_nj);
		watt_json_nano(doc, parent, name_j, energy_nj);
	} else {
		watt_json_null(doc, parent, name_nj);
		watt_json_null(doc, parent, name_j);
	}
}

void watt_json_ratio(struct watt_json *doc, struct watt_json_node parent, const char *key,
		     uint32_t ppm)
{
	if (ppm)
		watt_json_nano(doc, parent, key, (int64_t)ppm * 1000);
	else
		watt_json_null(doc, parent, key);
}

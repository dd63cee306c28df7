/* SPDX-License-Identifier: Apache-2.0 */
/*
 * YAML nodes to texts, numbers, mappings and lists, strictly. What libfyaml lets pass and a
 * configuration does not need (aliases, tags, keys that are no words) is an error here.
 */
#include "source/config/config_reader.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/parse.h"
#include "base/utf8.h"

/* ---- errors ---- */

static int line_of(struct fy_node *node)
{
	struct fy_token *token = node ? fy_node_get_scalar_token(node) : NULL;
	const struct fy_mark *mark = token ? fy_token_start_mark(token) : NULL;

	return mark ? mark->line + 1 : 0;
}

int watt_config_complain(struct watt_config_reader *rd, struct fy_node *node, const char *fmt, ...)
{
	int line = line_of(node);
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	watt_log(rd->log, WATT_LOG_ERROR, "%s:%d: %s", rd->name, line ? line : rd->line, text);
	return -EINVAL;
}

/* ---- text ---- */

int watt_config_check_text(struct watt_config_reader *rd, const char *text, size_t len)
{
	bool is_line_begin = true;
	size_t i, n;

	rd->line = 1;
	for (i = 0; i < len; i += n) {
		if (is_line_begin && text[i] == '%')
			return watt_config_complain(rd, NULL,
						    "a line that begins with '%%'; YAML directives "
						    "have no use here");
		n = text[i] ? watt_utf8_decode(text + i, len - i, NULL) : 0;
		if (n == 0)
			return watt_config_complain(rd, NULL, "byte 0x%02x is not UTF-8 text",
						    (unsigned char)text[i]);
		is_line_begin = text[i] == '\n' || text[i] == '\r';
		rd->line += text[i] == '\n';
	}
	rd->line = 1;
	return 0;
}

/* ---- entries ---- */

/* Where the events of a document are. */
struct walk {
	struct level {
		bool is_mapping;
		size_t n; /* nodes in it, which are keys and values in turn in a mapping */
	} levels[WATT_CONFIG_DEPTH_MAX];
	size_t depth;
};

static int enter_node(struct watt_config_reader *rd, struct walk *walk)
{
	struct level *level;

	if (walk->depth == 0)
		return 0;
	level = &walk->levels[walk->depth - 1];
	level->n++;
	if (level->is_mapping && level->n > 2 * WATT_CONFIG_KEYS_MAX)
		return watt_config_complain(rd, NULL, "more than %d keys in one mapping",
					    WATT_CONFIG_KEYS_MAX);
	if (!level->is_mapping && level->n > WATT_CONFIG_ENTRIES_MAX)
		return watt_config_complain(rd, NULL, "more than %d entries in one list",
					    WATT_CONFIG_ENTRIES_MAX);
	return 0;
}

static int walk_event(struct watt_config_reader *rd, struct walk *walk, struct fy_event *event)
{
	const struct fy_mark *mark = fy_event_start_mark(event);
	int r;

	if (mark)
		rd->line = mark->line + 1;
	switch (event->type) {
	case FYET_SCALAR:
	case FYET_ALIAS:
		return enter_node(rd, walk);
	case FYET_MAPPING_START:
	case FYET_SEQUENCE_START:
		r = enter_node(rd, walk);
		if (r < 0)
			return r;
		if (walk->depth == WATT_CONFIG_DEPTH_MAX)
			return watt_config_complain(rd, NULL, "nested deeper than %d levels",
						    WATT_CONFIG_DEPTH_MAX);
		walk->levels[walk->depth++] =
			(struct level){ .is_mapping = event->type == FYET_MAPPING_START };
		return 0;
	case FYET_MAPPING_END:
	case FYET_SEQUENCE_END:
		walk->depth--;
		return 0;
	default:
		return 0;
	}
}

int watt_config_check_entries(struct watt_config_reader *rd, struct fy_parser *parser)
{
	struct walk walk = { .depth = 0 };
	struct fy_event *event;
	int r = 0;

	while (r == 0 && (event = fy_parser_parse(parser))) {
		r = walk_event(rd, &walk, event);
		fy_parser_event_free(parser, event);
	}
	if (r == 0)
		rd->line = 1;
	return r;
}

/* ---- scalars ---- */

/*
 * By its pieces: asked for the text as a whole, libfyaml 0.7.12 forgets memory where that has more
 * than 16 escapes. Of two quotes in a row within single quotes it makes three, though it counts
 * two: what doesn't have the counted length is refused rather than taken wrongly.
 * -1: it is that, too long, or has a NUL.
 */
static int copy_text(struct fy_token *token, char text[WATT_CONFIG_TEXT_MAX + 1])
{
	struct fy_token_iter *iter = fy_token_iter_create(token);
	const struct fy_iter_chunk *chunk = NULL;
	int error = iter ? 0 : -1;
	size_t n = 0;

	while (error == 0 && (chunk = fy_token_iter_chunk_next(iter, chunk, &error))) {
		if (chunk->len > WATT_CONFIG_TEXT_MAX - n || memchr(chunk->str, '\0', chunk->len)) {
			error = -1;
		} else {
			memcpy(text + n, chunk->str, chunk->len);
			n += chunk->len;
		}
	}
	text[n] = '\0';
	fy_token_iter_destroy(iter);
	return error == 0 && n == fy_token_get_text_length(token) ? 0 : -1;
}

char *watt_config_dup_scalar(struct fy_node *node)
{
	char text[WATT_CONFIG_TEXT_MAX + 1];
	struct fy_token *token;

	if (!node || fy_node_get_type(node) != FYNT_SCALAR || fy_node_is_alias(node))
		return NULL;
	token = fy_node_get_scalar_token(node);
	return token && copy_text(token, text) == 0 ? strdup(text) : NULL;
}

int watt_config_take_text(struct watt_config_reader *rd, struct fy_node *node, const char *what,
			  char **ret)
{
	char *text = watt_config_dup_scalar(node);

	if (!text || !*text) {
		free(text);
		return watt_config_complain(rd, node, "%s must be a text of 1 to %d bytes", what,
					    WATT_CONFIG_TEXT_MAX);
	}
	free(*ret);
	*ret = text;
	return 0;
}

int watt_config_take_index(struct watt_config_reader *rd, struct fy_node *node, uint32_t *ret)
{
	_cleanup_free_ char *text = watt_config_dup_scalar(node);
	uint64_t value;

	if (!text || watt_parse_u64(text, &value) < 0 || value > WATT_CONFIG_INDEX_MAX)
		return watt_config_complain(rd, node, "the number of a sensor must be from 0 to %d",
					    WATT_CONFIG_INDEX_MAX);
	*ret = (uint32_t)value;
	return 0;
}

/* A decimal number such as "0.41" times 10^digits, which must come out whole. */
static int parse_decimal(const char *text, unsigned int digits, uint64_t max, uint32_t *ret)
{
	uint64_t whole, value;
	const char *p = text;
	int r;

	r = watt_scan_digits(&p, &whole);
	if (r < 0)
		return r;
	if (whole > max)
		return -ERANGE;
	value = whole;
	if (*p == '.')
		p++;
	for (; digits; digits--) {
		bool is_digit = *p >= '0' && *p <= '9';

		value = value * 10 + (is_digit ? (uint64_t)(*p - '0') : 0);
		p += is_digit;
	}
	if (*p || p[-1] == '.')
		return -EBADMSG;
	if (value > max)
		return -ERANGE;
	*ret = (uint32_t)value;
	return 0;
}

int watt_config_take_decimal(struct watt_config_reader *rd, struct fy_node *node, const char *what,
			     unsigned int places, uint32_t max, uint32_t *ret)
{
	_cleanup_free_ char *text = watt_config_dup_scalar(node);
	uint32_t scale = 1;
	unsigned int i;

	if (text && parse_decimal(text, places, max, ret) == 0)
		return 0;
	for (i = 0; i < places; i++)
		scale *= 10;
	return watt_config_complain(
		rd, node, "%s must be a number from 0 to %u with at most %u decimal places", what,
		max / scale, places);
}

/* ---- mappings and sequences ---- */

static const struct watt_config_field *find_field(const struct watt_config_field *fields,
						  const char *key)
{
	for (; fields->key; fields++)
		if (!strcmp(fields->key, key))
			return fields;
	return NULL;
}

static int complain_key(struct watt_config_reader *rd, struct fy_node *node, const char *key,
			const struct watt_config_field *fields)
{
	char allowed[256] = "";
	size_t len = 0;

	for (; fields->key; fields++)
		len += (size_t)snprintf(allowed + len, sizeof(allowed) - len, "%s%s",
					len ? ", " : "", fields->key);
	if (!key)
		return watt_config_complain(rd, node, "a key must be a word; allowed are: %s",
					    allowed);
	return watt_config_complain(rd, node, "unknown key '%.40s'; allowed are: %s", key, allowed);
}

static int check_required(struct watt_config_reader *rd, const struct watt_config_field *fields,
			  uint32_t seen)
{
	size_t i;

	for (i = 0; fields[i].key; i++)
		if (fields[i].is_required && !(seen & 1u << i))
			return watt_config_complain(rd, NULL, "the entry that ends here lacks '%s'",
						    fields[i].key);
	return 0;
}

int watt_config_read_mapping(struct watt_config_reader *rd, struct fy_node *node, const char *what,
			     const struct watt_config_field *fields, void *obj)
{
	struct fy_node_pair *pair;
	void *cursor = NULL;
	uint32_t seen = 0;
	int r;

	if (!node || fy_node_get_type(node) != FYNT_MAPPING)
		return watt_config_complain(rd, node, "%s must be a mapping ('key: value')", what);
	while ((pair = fy_node_mapping_iterate(node, &cursor))) {
		struct fy_node *key_node = fy_node_pair_key(pair);
		_cleanup_free_ char *key = watt_config_dup_scalar(key_node);
		const struct watt_config_field *field = key ? find_field(fields, key) : NULL;

		if (!field)
			return complain_key(rd, key_node, key, fields);
		rd->line = line_of(key_node);
		/* A key that is there twice never comes here: libfyaml refuses it. */
		seen |= 1u << (field - fields);
		r = field->take(rd, fy_node_pair_value(pair), obj);
		if (r < 0)
			return r;
	}
	return check_required(rd, fields, seen);
}

int watt_config_read_pairs(struct watt_config_reader *rd, struct fy_node *node, const char *what,
			   int (*take)(struct watt_config_reader *rd, char *key,
				       struct fy_node *value, void *obj),
			   void *obj)
{
	struct fy_node_pair *pair;
	void *cursor = NULL;
	int r;

	if (!node || fy_node_get_type(node) != FYNT_MAPPING)
		return watt_config_complain(rd, node, "%s must be a mapping ('key: value')", what);
	while ((pair = fy_node_mapping_iterate(node, &cursor))) {
		struct fy_node *key_node = fy_node_pair_key(pair);
		char *key = watt_config_dup_scalar(key_node);

		if (!key)
			return watt_config_complain(rd, key_node,
						    "a key of %s must be a text of 1 to %d bytes",
						    what, WATT_CONFIG_TEXT_MAX);
		rd->line = line_of(key_node);
		r = take(rd, key, fy_node_pair_value(pair), obj);
		if (r < 0)
			return r;
	}
	return 0;
}

int watt_config_read_sequence(struct watt_config_reader *rd, struct fy_node *node, const char *what,
			      int (*take)(struct watt_config_reader *rd, struct fy_node *node,
					  void *obj),
			      void *obj)
{
	struct fy_node *item;
	void *cursor = NULL;
	int r;

	if (!node || fy_node_get_type(node) != FYNT_SEQUENCE)
		return watt_config_complain(rd, node,
					    "%s must be a list ('- item', or [item, item])", what);
	while ((item = fy_node_sequence_iterate(node, &cursor))) {
		r = take(rd, item, obj);
		if (r < 0)
			return r;
	}
	return 0;
}

int watt_config_grow(struct watt_config_reader *rd, void **array, size_t n, size_t size)
{
	void *p;

	if (n >= WATT_CONFIG_ENTRIES_MAX)
		return watt_config_complain(rd, NULL, "more than %d entries in one list",
					    WATT_CONFIG_ENTRIES_MAX);
	/* The array has room for a power of two, or for none. */
	if (n & (n - 1))
		return 0;
	p = reallocarray(*array, n ? 2 * n : 1, size);
	if (!p)
		return -ENOMEM;
	*array = p;
	return 0;
}

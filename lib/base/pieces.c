/* SPDX-License-Identifier: Apache-2.0 */
/* Walks over the bytes once; only an object that is cut out is kept, until it is complete. */
#include "base/pieces.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

static int keep(struct watt_pieces *pieces, char c)
{
	char *buf;
	size_t cap;

	if (!pieces->is_inside)
		return 0;
	if (pieces->len == pieces->max_len)
		return -EMSGSIZE;
	if (pieces->len == pieces->cap) {
		cap = pieces->cap ? pieces->cap * 2 : 4096;
		buf = realloc(pieces->buf, cap);
		if (!buf)
			return -ENOMEM;
		pieces->buf = buf;
		pieces->cap = cap;
	}
	pieces->buf[pieces->len++] = c;
	return 0;
}

static bool is_wanted(const struct watt_pieces *pieces)
{
	if (pieces->of == WATT_PIECES_STREAM)
		return pieces->depth == 0;
	return pieces->depth == 1 || (pieces->depth == 2 && pieces->open[1] == '[');
}

static int take_opening(struct watt_pieces *pieces, char c)
{
	if (pieces->depth == 0 && (c != '{' || (pieces->of == WATT_PIECES_LIST && pieces->n_whole)))
		return -EBADMSG;
	if (pieces->depth == WATT_PIECES_DEPTH_MAX)
		return -EMSGSIZE;
	if (!pieces->is_inside && c == '{' && is_wanted(pieces)) {
		pieces->is_inside = true;
		pieces->begin_depth = pieces->depth;
		pieces->len = 0;
	}
	pieces->open[pieces->depth++] = c;
	return keep(pieces, c);
}

static int take_closing(struct watt_pieces *pieces, char c)
{
	int r;

	if (!pieces->depth || pieces->open[pieces->depth - 1] != (c == '}' ? '{' : '['))
		return -EBADMSG;
	r = keep(pieces, c);
	if (r < 0)
		return r;
	pieces->depth--;
	pieces->n_whole += pieces->depth == 0;
	if (!pieces->is_inside || pieces->depth != pieces->begin_depth)
		return 0;
	pieces->is_inside = false;
	return pieces->fn(pieces->data, pieces->key, pieces->buf, pieces->len);
}

/* What is in a text; the text that comes last before an object or list is its key. */
static int take_in_text(struct watt_pieces *pieces, char c)
{
	if (pieces->is_escaped)
		pieces->is_escaped = false;
	else if (c == '\\')
		pieces->is_escaped = true;
	else if (c == '"')
		pieces->is_text = false;
	if (pieces->is_key && pieces->is_text && pieces->key_len + 1 < sizeof(pieces->key)) {
		pieces->key[pieces->key_len++] = c;
		pieces->key[pieces->key_len] = '\0';
	}
	return keep(pieces, c);
}

static int take(struct watt_pieces *pieces, char c)
{
	if (pieces->is_text)
		return take_in_text(pieces, c);
	if (c == '{' || c == '[')
		return take_opening(pieces, c);
	if (c == '}' || c == ']')
		return take_closing(pieces, c);
	if (pieces->depth == 0)
		return strchr(" \t\r\n", c) && c ? 0 : -EBADMSG;
	if (c == '"') {
		pieces->is_text = true;
		pieces->is_key = pieces->depth == 1 && pieces->of == WATT_PIECES_LIST;
		if (pieces->is_key) {
			pieces->key_len = 0;
			pieces->key[0] = '\0';
		}
	}
	return keep(pieces, c);
}

int watt_pieces_feed(struct watt_pieces *pieces, const char *text, size_t len)
{
	size_t i;

	for (i = 0; i < len && pieces->error == 0; i++)
		pieces->error = take(pieces, text[i]);
	return pieces->error;
}

int watt_pieces_end(const struct watt_pieces *pieces)
{
	if (pieces->error)
		return pieces->error;
	if (pieces->depth || (pieces->of == WATT_PIECES_LIST && !pieces->n_whole))
		return -EBADMSG;
	return 0;
}

void watt_pieces_done(struct watt_pieces *pieces)
{
	free(pieces->buf);
	pieces->buf = NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cuts JSON that arrives in parts into the objects that it is made of, so that a long list need
 * not be held at once. Whether each is JSON is for who takes it; here brackets are counted, and
 * what is too deep, too long or not balanced is refused. One thread per object.
 */
#ifndef WATT_BASE_PIECES_H
#define WATT_BASE_PIECES_H

#include <stdbool.h>
#include <stddef.h>

#define WATT_PIECES_DEPTH_MAX 64

enum watt_pieces_of {
	WATT_PIECES_STREAM, /* one object after the other */
	WATT_PIECES_LIST,   /* one object: the objects in it, and in the lists in it */
};

/*
 * One object. key: of the member that it is, or is listed in; "" of a stream. 0, or a negative
 * errno that ends it.
 */
typedef int (*watt_piece_fn)(void *data, const char *key, const char *text, size_t len);

struct watt_pieces {
	enum watt_pieces_of of;
	size_t max_len; /* of one */
	watt_piece_fn fn;
	void *data;
	/* what follows is 0 at first */
	char open[WATT_PIECES_DEPTH_MAX]; /* brackets */
	size_t depth, begin_depth;
	char key[32];
	size_t key_len;
	bool is_text, is_escaped, is_key, is_inside;
	size_t n_whole; /* objects that are complete */
	char *buf;
	size_t len, cap;
	int error;
};

/* 0; -EBADMSG: brackets that don't match, or something else than objects; -EMSGSIZE: too deep, or
 * an object that is too long; -ENOMEM; what fn said. An error stays. */
int watt_pieces_feed(struct watt_pieces *pieces, const char *text, size_t len);
/* When no more comes: 0; -EBADMSG: something is missing; the error that there was. */
int watt_pieces_end(const struct watt_pieces *pieces);
void watt_pieces_done(struct watt_pieces *pieces);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State as a list of numbers and texts: one function that visits its values in order both saves and
 * loads them, so that the two can't differ. What is loaded may be a lie: every number has bounds, and
 * one that is outside of them fails all. One thread per object.
 */
#ifndef WATT_BASE_WORDS_H
#define WATT_BASE_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct watt_words {
	bool is_loading;
	int error; /* -ENOMEM; -EBADMSG: too few, or out of bounds; 0: none yet */
	/* of a load: borrowed, and never written */
	uint64_t *list;
	size_t n, cap;
	size_t at; /* of a load: the next one */
	char **texts;
	size_t n_texts, cap_texts;
	size_t at_text;
};

/* Of a save: frees what was written. */
void watt_words_done(struct watt_words *words);
/* Each saves the value, or replaces it by what is loaded. */
void watt_words_u64(struct watt_words *words, uint64_t *value, uint64_t most);
void watt_words_u32(struct watt_words *words, uint32_t *value, uint32_t most);
void watt_words_size(struct watt_words *words, size_t *value, size_t most);
void watt_words_bool(struct watt_words *words, bool *value);
/* Bit for bit; not finite, or outside of the bounds, fails. */
void watt_words_double(struct watt_words *words, double *value, double least, double most);
/* *text is the caller's, NULL where there is none. */
void watt_words_text(struct watt_words *words, char **text);
/* Whether all of a load was used up, and nothing failed: 0, or the error. */
int watt_words_end(const struct watt_words *words);

#endif

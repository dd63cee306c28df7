/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slices of a domain joined to a block, where its sensor is slower than slices are: who was active in
 * it, and what it took. One thread per object.
 */
#ifndef WATT_ATTRIB_BLOCK_H
#define WATT_ATTRIB_BLOCK_H

#include "attrib/learned.h"

struct watt_words; /* base/words.h */

/* Who finds no place in a block is nobody that is known. */
#define WATT_BLOCK_USES 1024

struct watt_block {
	double dt_s;
	double energy_j;
	double capacity_s;             /* of all CPUs */
	struct watt_learned_use *uses; /* names are the block's own */
	size_t n, cap;
	uint16_t index[2 * WATT_BLOCK_USES]; /* of uses by process, plus 1 */
};

/* Joins a slice to it. 0 or -ENOMEM. */
int watt_block_add(struct watt_block *block, const struct watt_learned_slice *slice);
/* As one slice, whose uses are the block's. */
void watt_block_get(struct watt_block *block, struct watt_learned_slice *ret);
/* Nothing is in it any more. */
void watt_block_clear(struct watt_block *block);
void watt_block_done(struct watt_block *block);
/* Saves it, or loads it into *block, which is empty. 0 or words->error. */
int watt_block_visit(struct watt_block *block, struct watt_words *words);

#endif

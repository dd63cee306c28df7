/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers of distinct labels, from 0 in the order in which they came. However many there are, each
 * costs a few comparisons. All zero is an empty one.
 */
#ifndef WATT_CLI_LABELS_H
#define WATT_CLI_LABELS_H

#include <stddef.h>
#include <stdint.h>

#include <wattribute/mark.h>

struct labels {
	void *root;
	size_t n;
	uint64_t n_compares; /* of two labels, so far: what it has cost */
};

#define LABELS_NONE SIZE_MAX

size_t labels_find(struct labels *labels, const char *label);
/* Its number; the next one if it is new. */
size_t labels_get(struct labels *labels, const char *label);
void labels_done(struct labels *labels);

#endif

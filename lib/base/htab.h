/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hash table of nodes that live in the caller's structs. It owns no node and compares no key:
 * the caller walks the nodes of one hash and looks. One thread per object.
 */
#ifndef WATT_BASE_HTAB_H
#define WATT_BASE_HTAB_H

#include <stddef.h>
#include <stdint.h>

struct watt_hnode {
	struct watt_hnode *next;
	uint64_t hash;
};

struct watt_htab {
	struct watt_hnode **buckets; /* a power of two of them */
	size_t n_buckets;
	size_t n;
};

/* 0 or -ENOMEM. */
int watt_htab_init(struct watt_htab *table);
/* Frees the buckets, not the nodes. Accepts a table of zeros. */
void watt_htab_done(struct watt_htab *table);
/* Never fails: without memory to grow, chains get longer. */
void watt_htab_insert(struct watt_htab *table, struct watt_hnode *node, uint64_t hash);
void watt_htab_remove(struct watt_htab *table, struct watt_hnode *node);
/* First node of a hash, and the next one of the same hash; NULL: no more. */
struct watt_hnode *watt_htab_first(const struct watt_htab *table, uint64_t hash);
struct watt_hnode *watt_htab_next(const struct watt_hnode *node);

/*
 * Walks over all nodes; the node that was returned last may be removed and freed.
 *     struct watt_htab_iter it = { 0 };
 *     while ((node = watt_htab_iterate(&table, &it)))
 */
struct watt_htab_iter {
	size_t bucket;
	struct watt_hnode *next;
};

struct watt_hnode *watt_htab_iterate(const struct watt_htab *table, struct watt_htab_iter *iter);

#endif

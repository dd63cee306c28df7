/* SPDX-License-Identifier: Apache-2.0 */
/* A chained hash table of the caller's own nodes. */
#include "base/htab.h"

#include <errno.h>
#include <stdlib.h>

#define FIRST_SIZE 64

int watt_htab_init(struct watt_htab *table)
{
	table->buckets = calloc(FIRST_SIZE, sizeof(*table->buckets));
	if (!table->buckets)
		return -ENOMEM;
	table->n_buckets = FIRST_SIZE;
	table->n = 0;
	return 0;
}

void watt_htab_done(struct watt_htab *table)
{
	free(table->buckets);
	*table = (struct watt_htab){ 0 };
}

static void link_node(struct watt_hnode **buckets, size_t n_buckets, struct watt_hnode *node)
{
	struct watt_hnode **bucket = &buckets[node->hash & (n_buckets - 1)];

	node->next = *bucket;
	*bucket = node;
}

static void grow(struct watt_htab *table)
{
	struct watt_hnode **buckets, *node, *next;
	size_t i;

	buckets = calloc(table->n_buckets * 2, sizeof(*buckets));
	if (!buckets)
		return;
	for (i = 0; i < table->n_buckets; i++) {
		for (node = table->buckets[i]; node; node = next) {
			next = node->next;
			link_node(buckets, table->n_buckets * 2, node);
		}
	}
	free(table->buckets);
	table->buckets = buckets;
	table->n_buckets *= 2;
}

void watt_htab_insert(struct watt_htab *table, struct watt_hnode *node, uint64_t hash)
{
	if (table->n >= table->n_buckets)
		grow(table);
	node->hash = hash;
	link_node(table->buckets, table->n_buckets, node);
	table->n++;
}

void watt_htab_remove(struct watt_htab *table, struct watt_hnode *node)
{
	struct watt_hnode **p = &table->buckets[node->hash & (table->n_buckets - 1)];

	while (*p && *p != node)
		p = &(*p)->next;
	if (!*p)
		return;
	*p = node->next;
	table->n--;
}

static struct watt_hnode *same_hash(struct watt_hnode *node, uint64_t hash)
{
	while (node && node->hash != hash)
		node = node->next;
	return node;
}

struct watt_hnode *watt_htab_first(const struct watt_htab *table, uint64_t hash)
{
	return same_hash(table->buckets[hash & (table->n_buckets - 1)], hash);
}

struct watt_hnode *watt_htab_next(const struct watt_hnode *node)
{
	return same_hash(node->next, node->hash);
}

struct watt_hnode *watt_htab_iterate(const struct watt_htab *table, struct watt_htab_iter *iter)
{
	struct watt_hnode *node = iter->next;

	while (!node && iter->bucket < table->n_buckets)
		node = table->buckets[iter->bucket++];
	iter->next = node ? node->next : NULL;
	return node;
}

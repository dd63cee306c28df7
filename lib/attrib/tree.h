/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The domain tree: what contains what, what may be added, what can be shared. Built once from the
 * channels; immutable from then on.
 */
#ifndef WATT_ATTRIB_TREE_H
#define WATT_ATTRIB_TREE_H

#include <stddef.h>
#include <stdint.h>

#include <wattribute/domain.h>

struct watt_tree {
	struct watt_domain *domains; /* a parent comes before its children */
	size_t n_domains;
	int32_t *domain_of; /* per channel: its domain */
	size_t n_channels;
};

/* By what energy of a kind of domain is shared, if nobody chooses. */
enum watt_share_key watt_tree_key_of_kind(enum watt_domain_kind kind);
/* 0 or -ENOMEM. */
int watt_tree_build(const struct watt_channel *const *channels, size_t n_channels,
		    struct watt_tree *ret);
/* Accepts a tree of zeros. */
void watt_tree_done(struct watt_tree *tree);

#endif

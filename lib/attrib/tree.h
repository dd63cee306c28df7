/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The domain tree: what contains what, what may be added, what can be shared. Built from the
 * channels that there are at the beginning; what comes later is put behind, and changes nothing
 * of what is there: neither numbers nor what is added.
 */
#ifndef WATT_ATTRIB_TREE_H
#define WATT_ATTRIB_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <wattribute/domain.h>

/* Domains that may come later. */
#define WATT_TREE_SPARE 512

struct watt_tree_view;

struct watt_tree {
	/* What is computed: a parent comes before its children; they never move, nor change. */
	struct watt_domain *domains;
	/* What is shown where that is another place: below a whole that came later. NULL: the same. */
	const struct watt_domain **shown;
	struct watt_tree_view *views; /* all that were ever shown */
	size_t n_domains;
	size_t cap_domains;
	int32_t machine_total; /* that contains every root; -1: none */
	int32_t late_total;    /* that came later, and is shown above them; -1: none */
	int32_t *domain_of;    /* per channel: its domain; -1: none, it tells of context */
	size_t n_channels;
};

/* By what energy of a kind of domain is shared, if nobody chooses. */
enum watt_share_key watt_tree_key_of_kind(enum watt_domain_kind kind);
/* Whether nothing says by itself who uses a domain, or that anybody does. */
bool watt_tree_is_rest(const struct watt_domain *domain);
/* 0 or -ENOMEM. */
int watt_tree_build(const struct watt_channel *const *channels, size_t n_channels,
		    struct watt_tree *ret);
/*
 * Adds the domains of the channels behind the first n_channels of the tree. A part of a whole
 * that has a residual is taken out of it; a part of one that is shared as a whole is shown in it.
 * 0, -ENOMEM, -ENOSPC: too many.
 */
int watt_tree_grow(struct watt_tree *tree, const struct watt_channel *const *channels,
		   size_t n_channels);
/*
 * Adds a part of a GPU that nobody measures: what it takes is told by who is active there.
 * 0; 1: that is no such part, it is a domain already, or there is no room; -ENOMEM.
 */
int watt_tree_add_instance(struct watt_tree *tree, const char *path);
/*
 * Finds the places of the domains from `first` on, which have come: a whole or a total whose parts
 * are there already is shown above them, and changes nothing of what is computed. 0 or -ENOMEM.
 */
int watt_tree_show(struct watt_tree *tree, const struct watt_channel *const *channels,
		   size_t first);
/* A domain as others see it. It never changes: one that finds another place is another one. */
const struct watt_domain *watt_tree_get(const struct watt_tree *tree, size_t index);
/* Accepts a tree of zeros. */
void watt_tree_done(struct watt_tree *tree);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The domain tree in the order and with the branches in which it is drawn. */
#ifndef WATT_CLI_DOMAIN_TREE_H
#define WATT_CLI_DOMAIN_TREE_H

#include <stddef.h>

#include <wattribute/domain.h>

struct domain_tree_node {
	size_t index;    /* of the domain */
	char stem[128];  /* the branch in front of its name */
	char below[128]; /* the branch in front of what hangs below it */
};

/*
 * Draws n domains, each below its parent. Returns an array of n nodes; the caller frees it.
 */
struct domain_tree_node *domain_tree_draw(const struct watt_domain *const *domains, size_t n);

#endif

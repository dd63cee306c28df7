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
/*
 * The residual of n that has what this part of the machine does not tell: what is left of its whole.
 * -1: none, or it is no part of the machine.
 */
int domain_tree_find_rest(const struct watt_domain *const *domains, size_t n, size_t part);

#endif

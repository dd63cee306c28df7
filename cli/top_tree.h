/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of `top` as a tree of processes, each below its parent. */
#ifndef WATT_CLI_TOP_TREE_H
#define WATT_CLI_TOP_TREE_H

#include <stddef.h>

struct top_row;

/* Sets tree_w and tree of every row: its own and all below it. */
void top_tree_sum(struct top_row *rows, size_t n);
/* Puts sorted rows in the order of the tree, siblings as they were, and draws its branches. */
void top_tree_order(struct top_row *rows, size_t n);

#endif

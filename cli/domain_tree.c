/* SPDX-License-Identifier: Apache-2.0 */
/* Draws the domain tree with lines, or with ASCII where the locale has no lines. */
#include "domain_tree.h"

#include <stdbool.h>
#include <stdio.h>

#include "text.h"
#include "xalloc.h"

#define DEPTH_MAX 16

struct drawing {
	const struct watt_domain *const *domains;
	size_t n;
	struct domain_tree_node *nodes;
	size_t n_nodes;
};

static void draw_children(struct drawing *drawing, int parent, const char *below, size_t depth)
{
	const char *branch = text_is_utf8() ? "├─ " : "|- ", *last = text_is_utf8() ? "└─ " : "`- ";
	const char *line = text_is_utf8() ? "│  " : "|  ";
	size_t i, n_left = 0;

	for (i = 0; i < drawing->n; i++)
		n_left += drawing->domains[i]->parent == parent;
	for (i = 0; i < drawing->n; i++) {
		struct domain_tree_node *node = &drawing->nodes[drawing->n_nodes];
		bool is_last;

		if (drawing->domains[i]->parent != parent || drawing->n_nodes == drawing->n)
			continue;
		is_last = --n_left == 0;
		drawing->n_nodes++;
		node->index = i;
		snprintf(node->stem, sizeof(node->stem), "%s%s", below,
			 depth == 0 ? "" :
			 is_last    ? last :
				      branch);
		snprintf(node->below, sizeof(node->below), "%s%s", below,
			 depth == 0 ? "" :
			 is_last    ? "   " :
				      line);
		if (depth < DEPTH_MAX)
			draw_children(drawing, (int)i, node->below, depth + 1);
	}
}

struct domain_tree_node *domain_tree_draw(const struct watt_domain *const *domains, size_t n)
{
	struct drawing drawing = { .domains = domains, .n = n };

	drawing.nodes = xcalloc(n, sizeof(*drawing.nodes));
	draw_children(&drawing, -1, "", 0);
	return drawing.nodes;
}

int domain_tree_find_rest(const struct watt_domain *const *domains, size_t n, size_t part)
{
	size_t i;

	for (i = 0; i < n && domains[part]->is_partition; i++)
		if (i != part && domains[i]->kind == WATT_DOMAIN_RESIDUAL &&
		    domains[i]->is_partition && domains[i]->parent == domains[part]->parent)
			return (int)i;
	return -1;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Orders rows as a tree by the pid of the parent. A parent that is not among them, or that would
 * close a circle (pids are used again), makes a row a root.
 */
#include "top_tree.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"
#include "top_model.h"
#include "xalloc.h"

#define NONE SIZE_MAX
#define DEPTH_MAX 64
#define DEPTH_DRAWN 12

struct place {
	uint32_t pid;
	size_t index;
};

static int by_pid(const void *left, const void *right)
{
	const struct place *a = left, *b = right;

	return (a->pid > b->pid) - (a->pid < b->pid);
}

/* The row with a pid, or NONE. */
static size_t find(const struct place *places, size_t n, uint32_t pid)
{
	struct place key = { .pid = pid };
	const struct place *found = bsearch(&key, places, n, sizeof(key), by_pid);

	return found && pid ? found->index : NONE;
}

/* Index of each row's parent; the caller frees it. */
static size_t *find_parents(const struct top_row *rows, size_t n)
{
	auto_free struct place *places = xcalloc(n, sizeof(*places));
	size_t *parents = xcalloc(n, sizeof(*parents)), i;

	for (i = 0; i < n; i++)
		places[i] = (struct place){ .pid = rows[i].pid, .index = i };
	qsort(places, n, sizeof(*places), by_pid);
	for (i = 0; i < n; i++) {
		size_t up, depth = 0;

		parents[i] = find(places, n, rows[i].pid ? rows[i].parent_pid : 0);
		for (up = parents[i]; up != NONE && up != i && depth < DEPTH_MAX; depth++)
			up = up < i ? parents[up] : find(places, n, rows[up].parent_pid);
		if (up != NONE)
			parents[i] = NONE;
	}
	return parents;
}

void top_tree_sum(struct top_row *rows, size_t n)
{
	auto_free size_t *parents = find_parents(rows, n);
	size_t i, up;

	for (i = 0; i < n; i++) {
		for (up = parents[i]; up != NONE; up = parents[up]) {
			rows[up].tree = watt_energy_add(rows[up].tree, rows[i].energy);
			if (!isnan(rows[i].power_w))
				rows[up].tree_w += rows[i].power_w;
			if (!isnan(rows[i].shown_w))
				rows[up].shown_tree_w += rows[i].shown_w;
			rows[up].shown_tree_j += rows[i].shown_j;
		}
	}
}

struct drawing {
	const struct top_row *rows;
	size_t n;
	const size_t *first; /* child of each row; first[n]: the first root */
	const size_t *next;  /* sibling */
	struct top_row *out;
	size_t n_out;
};

static void draw(struct drawing *drawing, size_t parent, const char *below, size_t depth)
{
	const char *branch = text_is_utf8() ? "├─" : "|-", *last = text_is_utf8() ? "└─" : "`-";
	const char *line = text_is_utf8() ? "│ " : "| ";
	size_t i;

	for (i = drawing->first[parent]; i != NONE; i = drawing->next[i]) {
		struct top_row *row = &drawing->out[drawing->n_out++];
		bool is_last = drawing->next[i] == NONE;
		auto_free char *deeper = NULL;

		*row = drawing->rows[i];
		if (depth > 0) {
			free(row->stem);
			row->stem = xasprintf("%s%s", below, is_last ? last : branch);
		}
		/* So deep that the names would be pushed off the screen: indent no further. */
		deeper = xasprintf("%s%s", below,
				   depth == 0 || depth > DEPTH_DRAWN ? "" :
				   is_last                           ? "  " :
								       line);
		draw(drawing, i, deeper, depth + 1);
	}
}

void top_tree_order(struct top_row *rows, size_t n)
{
	auto_free size_t *parents = find_parents(rows, n);
	auto_free size_t *first = xcalloc(n + 1, sizeof(*first));
	auto_free size_t *next = xcalloc(n, sizeof(*next));
	auto_free struct top_row *out = xcalloc(n, sizeof(*out));
	struct drawing drawing = { .rows = rows, .n = n, .first = first, .next = next, .out = out };
	size_t i;

	for (i = 0; i <= n; i++)
		first[i] = NONE;
	/* From the end, so that each list of children keeps the order of the rows. */
	for (i = n; i-- > 0;) {
		size_t parent = parents[i] == NONE ? n : parents[i];

		next[i] = first[parent];
		first[parent] = i;
	}
	draw(&drawing, n, "", 0);
	memcpy(rows, out, drawing.n_out * sizeof(*rows));
}

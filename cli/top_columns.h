/* SPDX-License-Identifier: Apache-2.0 */
/* The columns of `top`: which there are, how wide they are, and what stands in them. */
#ifndef WATT_CLI_TOP_COLUMNS_H
#define WATT_CLI_TOP_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>

#include "top_model.h"

#define TOP_COLUMNS_MAX 32
#define TOP_CELL_SIZE 640

enum top_column_kind {
	TOP_COLUMN_PID,
	TOP_COLUMN_COUNT,
	TOP_COLUMN_USER,
	TOP_COLUMN_CPU,
	TOP_COLUMN_GPU,
	TOP_COLUMN_POWER,
	TOP_COLUMN_UNCERTAINTY,
	TOP_COLUMN_ENERGY,
	TOP_COLUMN_TREE,
	TOP_COLUMN_DOMAIN,
	TOP_COLUMN_NAME,
};

struct top_column {
	enum top_column_kind kind;
	size_t domain; /* of TOP_COLUMN_DOMAIN */
	size_t width;  /* 0: what is left of the line */
	bool is_right;
	char title[32];
};

struct top_columns {
	struct top_column column[TOP_COLUMNS_MAX];
	size_t n;
	int decimals_w; /* of all powers and energies */
	int decimals_j;
	bool is_joules;   /* domains and the tree in joules instead of watts */
	bool is_live;     /* user ids are those of this machine */
	bool is_unknown;  /* no energy is known at all: nor is a 0 of idle or of nobody */
	bool is_unshared; /* nothing tells who used anything: 0 of somebody is not known */
};

/*
 * Chooses the columns for a page of `width` columns (0: endless). With has_domains, one for each
 * domain as far as there is room.
 */
void top_columns_choose(struct top_columns *columns, const struct top_model *model,
			const struct watt_view *view, bool has_domains, size_t width);
/* The text of one cell, not padded. Returns buf (TOP_CELL_SIZE bytes). */
char *top_columns_cell(const struct top_columns *columns, size_t i, const struct top_row *row,
		       char *buf);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table of text with aligned columns: the one writer of every command that prints a list.
 * Cells are cleaned when they are added.
 */
#ifndef WATT_CLI_TABLE_H
#define WATT_CLI_TABLE_H

#include <stddef.h>
#include <stdio.h>

struct table;

enum table_flag {
	TABLE_RIGHT = 1u << 0, /* aligned at the right: numbers */
	TABLE_CUT = 1u << 1,   /* may be cut when the table is wider than the page */
};

struct table *table_new(void);
struct table *table_free(struct table *table);
/* All columns come before the first cell. */
void table_add_column(struct table *table, const char *title, unsigned int flags);
/* The next cell, from left to right, row after row. */
__attribute__((format(printf, 2, 3))) void table_add(struct table *table, const char *format, ...);
size_t table_get_row_count(const struct table *table);
/* Prints it with its titles; width 0: as wide as it is. Columns that are empty throughout are
 * left out. */
void table_print(const struct table *table, FILE *out, size_t width);

#endif

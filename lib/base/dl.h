/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Libraries that are opened while the program runs, and tables of their functions. What a library
 * lacks is NULL in the table: each caller decides what it can do without. Thread-safe.
 */
#ifndef WATT_BASE_DL_H
#define WATT_BASE_DL_H

#include <stddef.h>

struct watt_dl_symbol {
	const char *name;
	size_t offset; /* of the pointer to the function in the table */
};

#define WATT_DL_SYMBOL(table, member, name) \
	{ \
		name, offsetof(table, member) \
	}

/* 0; -ENOENT: there is no such library; -ELIBBAD: it can't be loaded. */
int watt_dl_open(const char *file, void **ret);
/* Accepts NULL; returns NULL. Nothing of the library may be called any more. */
void *watt_dl_close(void *library);
/* Fills a table of pointers to functions. Returns how many there are. */
size_t watt_dl_bind(void *library, const struct watt_dl_symbol *symbols, size_t n, void *table);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory for the command: there is nothing sensible to do without it, so it ends the program.
 * The library never does this.
 */
#ifndef WATT_CLI_XALLOC_H
#define WATT_CLI_XALLOC_H

#include <stddef.h>

__attribute__((noreturn)) void xalloc_fail(void);
void *xcalloc(size_t n, size_t size);
void *xrealloc(void *p, size_t n, size_t size);
char *xstrdup(const char *text);
__attribute__((format(printf, 1, 2))) char *xasprintf(const char *format, ...);

/* Frees a local at the end of its scope. */
#define auto_free __attribute__((cleanup(xfree_pointer)))
void xfree_pointer(void *p);

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Memory or the end: the command has no use for half of its data. */
#include "xalloc.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void xalloc_fail(void)
{
	fputs("wattribute: out of memory\n", stderr);
	exit(EXIT_FAILURE);
}

static void *checked(void *p)
{
	if (!p)
		xalloc_fail();
	return p;
}

void *xcalloc(size_t n, size_t size)
{
	return checked(calloc(n ? n : 1, size));
}

void *xrealloc(void *p, size_t n, size_t size)
{
	return checked(reallocarray(p, n ? n : 1, size));
}

char *xstrdup(const char *text)
{
	return checked(strdup(text));
}

char *xasprintf(const char *format, ...)
{
	va_list args;
	char *text = NULL;
	int r;

	va_start(args, format);
	r = vasprintf(&text, format, args);
	va_end(args);
	return checked(r < 0 ? NULL : text);
}

void xfree_pointer(void *p)
{
	free(*(void **)p);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Opens libraries by name or path. Knows nothing of what is in them. */
#include "base/dl.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

int watt_dl_open(const char *file, void **ret)
{
	/* its names are nobody else's, and one that lacks a library of its own fails here */
	void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	const char *why;

	if (library) {
		*ret = library;
		return 0;
	}
	if (strchr(file, '/'))
		return access(file, F_OK) < 0 ? -ENOENT : -ELIBBAD;
	why = dlerror();
	return why && strstr(why, "No such file") ? -ENOENT : -ELIBBAD;
}

void *watt_dl_close(void *library)
{
	if (library)
		dlclose(library);
	return NULL;
}

size_t watt_dl_bind(void *library, const struct watt_dl_symbol *symbols, size_t n, void *table)
{
	size_t i, found = 0;
	void *symbol;

	for (i = 0; i < n; i++) {
		symbol = dlsym(library, symbols[i].name);
		memcpy((char *)table + symbols[i].offset, &symbol, sizeof(symbol));
		found += symbol != NULL;
	}
	return found;
}

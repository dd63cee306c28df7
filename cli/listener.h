/* SPDX-License-Identifier: Apache-2.0 */
/* Who measures and can be told marks: found by pid, by the file that is written, or alone. */
#ifndef WATT_CLI_LISTENER_H
#define WATT_CLI_LISTENER_H

#include <stddef.h>
#include <stdint.h>

#include <wattribute/mark.h>

struct listeners {
	struct watt_mark_listener *list; /* ordered by pid */
	size_t n;
};

void listeners_find(struct listeners *ret);
void listeners_done(struct listeners *listeners);
/* That of process pid, or of the nearest of its ancestors that has one; NULL: none. */
const struct watt_mark_listener *listeners_of_pid(const struct listeners *listeners, uint32_t pid);
/* That which has the file open; NULL: none. */
const struct watt_mark_listener *listeners_of_file(const struct listeners *listeners,
						   const char *path);
/* "123 (wattribute top), 456 (...)"; free it. */
char *listeners_describe(const struct listeners *listeners);

#endif

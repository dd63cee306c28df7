/* SPDX-License-Identifier: Apache-2.0 */
/* What the machine is, for whoever reads a recording of it later. */
#ifndef WATT_MACHINE_H
#define WATT_MACHINE_H

#include "record/record.h"
#include "source/source.h"

/* A description that owns its texts. */
struct watt_machine_text {
	struct watt_machine machine; /* points into what follows */
	char host[65];
	char os[128];
	char kernel[65];
	char arch[65];
	char cpu[128];
};

/*
 * Looks at the machine that env shows: of a captured one, what its files tell. What is not known
 * is NULL or 0. Printable UTF-8 only.
 */
void watt_machine_read(const struct watt_env *env, struct watt_machine_text *ret);
/* PRETTY_NAME of the text of an os-release file (os-release(5)); "" if there is none. */
void watt_machine_parse_os(const char *text, char *ret, size_t size);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What the machine is, for whoever reads a recording of it later. */
#ifndef WATT_MACHINE_H
#define WATT_MACHINE_H

#include "record/record.h"
#include "source/source.h"

#define WATT_HOST_SIZE 65 /* as the kernel has it, with the end */

/* A description that owns its texts. */
struct watt_machine_text {
	struct watt_machine machine; /* points into what follows */
	char host[WATT_HOST_SIZE];
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
/* Its node name, which is returned too; NULL: not known. */
const char *watt_machine_read_host(const struct watt_env *env, char ret[WATT_HOST_SIZE]);
/* 0: not known. */
uint64_t watt_machine_read_memory_bytes(const struct watt_env *env);
/* PRETTY_NAME of the text of an os-release file (os-release(5)); "" if there is none. */
void watt_machine_parse_os(const char *text, char *ret, size_t size);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent's files in YAML: one document of UTF-8 text without directives. What is wrong is told
 * as one sentence with file and line.
 */
#ifndef WATT_AGENT_YAML_H
#define WATT_AGENT_YAML_H

#include <stddef.h>

#define YAML_VALUE_MAX 4096 /* bytes of a plain value */

struct fy_node;

struct yaml {
	const char *name; /* of the file; borrowed */
	char error[640];  /* what was wrong */
};

/* Takes what a document has; root is NULL in an empty one. 0 or a negative errno. */
typedef int (*yaml_keep_fn)(void *data, struct fy_node *root);

/* 0, or what keep() said; -EINVAL: error says what is wrong. A file without a document: 0. */
int yaml_read(struct yaml *yaml, const char *text, size_t n, yaml_keep_fn keep, void *data);
/* The file of that name. As yaml_read(), or the errno of reading it. */
int yaml_read_file(struct yaml *yaml, yaml_keep_fn keep, void *data);

/* The line of a scalar, from 1. */
int yaml_line(struct fy_node *node);
/* The text of a plain value of at most YAML_VALUE_MAX bytes, owned by the caller; NULL: it is none. */
char *yaml_scalar(struct fy_node *node);
/* Puts a sentence with file and line into error. Returns -EINVAL. */
__attribute__((format(printf, 3, 4))) int yaml_complain(struct yaml *yaml, int line,
							const char *format, ...);

#endif

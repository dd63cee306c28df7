/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a command writes its result: standard output, or a file that appears under its name only
 * when it is complete. Each failure is told in one line.
 */
#ifndef WATT_CLI_OUTPUT_H
#define WATT_CLI_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

struct output {
	FILE *file;
	const char *path; /* NULL: standard output */
	char *temp;       /* name until it is complete; NULL: it has none, or needs none */
	bool is_new;      /* it will be published by output_commit() */
	bool can_replace;
};

/* path NULL or "-": standard output. A file that is there is refused unless can_replace. */
int output_open(struct output *output, const char *path, bool can_replace);
/* Publishes what was written. 0 or a negative errno; nothing is left in either case. */
int output_commit(struct output *output);
/* Forgets what was written. May be called after any of the others. */
void output_discard(struct output *output);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording, or a part of it, written to a file by one of the library's sinks: what export, plot
 * and report have in common.
 */
#ifndef WATT_CLI_CONVERSION_H
#define WATT_CLI_CONVERSION_H

#include <stdbool.h>

#include "excerpt.h"
#include "options.h"

#define CONVERSION_CHOICES 8

struct conversion_choice {
	const char *option;
	const char *value;
};

struct conversion {
	const char *format; /* name of the sink */
	const char *path;   /* of the recording */
	const char *other;  /* to compare it with; NULL: none */
	const char *output; /* NULL: standard output */
	bool can_replace;
	struct excerpt excerpt;
	uint64_t window_ns; /* where the excerpt has none; 0: as many as a person can look at */
	struct conversion_choice choices[CONVERSION_CHOICES]; /* what was chosen of the sink */
	size_t n_choices;
	struct options common;
};

enum conversion_code {
	CONVERSION_FORCE = 3072, /* above all codes of options.h, excerpt.h, of commands */
};

/* clang-format off */
/* The last ones of a table. */
#define CONVERSION_LONG \
	{ "output", required_argument, NULL, 'o' }, \
	{ "force", no_argument, NULL, CONVERSION_FORCE }, \
	EXCERPT_LONG, \
	OPTIONS_POLICY_LONG, \
	{ "verbose", no_argument, NULL, 'v' }, \
	{ "help", no_argument, NULL, 'h' }, \
	{ NULL, 0, NULL, 0 }
/* clang-format on */

/* Takes an option that is no command's own. 0; -EINVAL: it is none, or a line has been printed. */
int conversion_take(struct conversion *conversion, int code);
/*
 * Takes all options and the name of the recording; those of the command by take_own(), as
 * options_take(). 0 or -EINVAL, and a line has been printed.
 */
int conversion_take_all(struct conversion *conversion, int argc, char **argv, const char *letters,
			const struct option *longs, int (*take_own)(void *data, int code),
			void *data);
/* Chooses an option of the sink; the strings must stay. */
void conversion_choose(struct conversion *conversion, const char *option, const char *value);
/*
 * Writes it. 0 or a negative errno, and a line has been printed; -EINVAL: something was asked for
 * that can't be.
 */
int conversion_run(const struct conversion *conversion);

#endif

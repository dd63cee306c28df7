/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two recordings side by side: the mean power of each domain, phase and name, with the interval
 * of the difference. A mean of windows is compared with another one, by confidence.h.
 */
#ifndef WATT_CLI_COMPARE_H
#define WATT_CLI_COMPARE_H

#include <stdbool.h>
#include <stddef.h>

#include "confidence.h"
#include "phases.h"
#include "series.h"

/* What is known of one thing in one of the two. */
struct comparison_side {
	bool is_there;
	int64_t energy_nj;
	uint64_t elapsed_ns;
	struct confidence power_w;
};

struct comparison_row {
	char *name;
	struct comparison_side side[2];     /* the recording, and the other one */
	struct confidence_difference power; /* from the other one to the recording */
};

struct comparison_list {
	struct comparison_row *rows;
	size_t n;
};

struct comparison {
	struct comparison_row total;
	struct comparison_row command;   /* what was followed; on no side where nothing was */
	struct comparison_list domains;  /* by path */
	struct comparison_list phases;   /* by label; none where neither has marks */
	struct comparison_list entities; /* by name, processes of one name together; by energy */
	size_t n_left_out;               /* names beyond those that used the most */
};

struct comparison_source {
	const struct series *series;
	const struct phases *phases;
};

/* source[0] is the recording, source[1] the one that it is compared with. */
void comparison_build(struct comparison *comparison, const struct comparison_source source[2]);
void comparison_done(struct comparison *comparison);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How old the readings of a slow channel are: the age at which they are best explained by what the
 * parts of the machine took, as a sum of each times a factor of its own, and a rest. Pure.
 */
#ifndef WATT_TIMELINE_MATCH_H
#define WATT_TIMELINE_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WATT_MATCH_PARTS 3
/* No reading is expected to be older. */
#define WATT_MATCH_MAX_DELAY_NS 12000000000ULL

/* A reading of power. */
struct watt_observation {
	uint64_t t_ns; /* when it was read */
	double power_w;
	uint64_t window_ns; /* the mean of so long; 0: nobody knows of how long */
};

/* Energy of each part at the steps [first, end) of a grid. */
struct watt_match_parts {
	const double *energy_j[WATT_MATCH_PARTS]; /* NULL: there is none */
	uint64_t first;
	uint64_t end;
	uint64_t step_ns;
};

struct watt_match {
	uint64_t delay_ns;       /* from the end of what it is the mean of to its reading */
	uint64_t window_ns;      /* of that mean */
	uint64_t age_ns;         /* from the middle of it to its reading: that is known best */
	uint64_t uncertainty_ns; /* standard, of age_ns */
	double explained_ratio;  /* of the variance of the readings */
	double factor[WATT_MATCH_PARTS];
	double rest_w;
	size_t n; /* readings that were used */
};

/*
 * 0; -EAGAIN: too few readings, or they stood still; -ENODATA: no age explains them, or none
 * better than another, and what is returned is a guess that is as vague as it says.
 */
int watt_match_find(const struct watt_match_parts *parts, const struct watt_observation *list,
		    size_t n, struct watt_match *ret);

/* Whether what was found once still explains the readings. true also where they say nothing. */
bool watt_match_holds(const struct watt_match_parts *parts, const struct watt_observation *list,
		      size_t n, const struct watt_match *match);

#endif

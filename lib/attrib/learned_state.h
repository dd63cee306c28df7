/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of what was learned, for the files of the filter alone. */
#ifndef WATT_ATTRIB_LEARNED_STATE_H
#define WATT_ATTRIB_LEARNED_STATE_H

#include "attrib/learned.h"

#include "base/profile.h"

#define BINS 8 /* of the load curve */
#define MAP_SIZE 512
#define CANDIDATES 2048
#define PRIOR_ERROR 0.8      /* of a program, in means of all, when nothing is known */
#define DRIFT_S 300          /* in which watts come to differ anew as far as programs do */
#define REST_PRIOR_ERROR 3.0 /* the same two of what nobody is known to cause */
#define REST_DRIFT_S 3600
#define SPREAD_MIN 0.02 /* and how far they always may */
#define FLOOR 0.05      /* nobody takes less than this part of the mean */
#define RUN_SLICES 20
#define NOISE_BEGIN 0.1 /* standard deviation of what nothing explains, of the first slice */
#define QUIET_SLICES 5  /* in a row that say at once that less is unexplained */
#define OTHERS 0        /* the learner of all that have none of their own */

struct learner {
	uint64_t key;
	uint64_t process; /* the first one of a program; 0: it is of a process */
	bool has_many;    /* others too run the program */
	bool is_process;
	bool is_common;   /* what a unit of it is worth, for all programs */
	bool is_informed; /* of its features */
	double features[WATT_N_FEATURES];
	double watts;    /* of a process: difference to its program */
	double recent_j; /* by which who is to go is found */
	uint64_t newest_slice;
	/* of a program, for people: what it is called, and what it is known from */
	char *name, *cgroup; /* owned; NULL: not known */
	bool is_executable;
	double cpu_s;
	uint64_t n_slices;
};

/* A process that may get a learner; which one it is, lies apart, where it is looked for. */
struct candidate {
	uint64_t newest_slice;
	uint32_t n_slices;
	double own_s; /* what it ran, and all of its program, in seconds of the curve */
	double program_s;
	double info;  /* of its difference to its program: 1 by the variance that slices leave it */
	double score; /* and what they say of it, by that variance */
};

/* Neighbouring slices: how far they have moved watts together. */
struct run {
	double moved_w[WATT_LEARNED_MAX];
	double expected_w2[WATT_LEARNED_MAX]; /* of that, squared: when errors are independent */
	uint32_t n;
};

/* Running means of what slices say of how sure rows are. */
struct check {
	/* of the last second: errors, what was expected of them, and of that by what is known of watts */
	double squares_j2, expected_j2, explained_j2;
	double energy_j;
	double level_j, level_j2; /* errors of one sign, and the square of that */
	/* of slices that are learned from together: errors of each, by how long one lasts */
	double open_j2s, open_energy_j;
	bool is_open; /* the newest were such slices */
};

struct habit {
	double prior_error;
	double drift_s;
	bool has_load; /* its scale is that of the work, which a calm machine has yet to see */
};

/* What the newest slices have left unexplained. */
struct quiet {
	double squares_j2;
	uint32_t n;
};

struct watt_learned {
	struct habit habit;                    /* from the beginning */
	const struct watt_profile_part *prior; /* NULL: none */
	struct learner list[WATT_LEARNED_MAX];
	size_t n, n_deviations;
	double *cov; /* WATT_LEARNED_MAX squared, symmetric */
	double curve[BINS + 1];
	double noise; /* variance of a slice's energy that nothing explains, J^2 */
	double sum_w; /* decaying sums, whose ratio is the mean of all: watts by their weight */
	double sum_weight;
	double scale_w;     /* the mean by which what nobody knew began */
	uint64_t n_scaled;  /* slices since */
	double told, error; /* running means */
	double told_weight;
	double apart, unsure; /* the same: squared distance to the mean, and squared uncertainty */
	double spread[2];     /* variance in squared means: of programs, of processes in one */
	double left;          /* the same: of programs, from what their features say */
	size_t features[WATT_N_FEATURES]; /* their learners; 0: nobody told of any */
	size_t discount;                  /* the same, of what siblings take less */
	struct run run;
	struct check check;
	struct quiet quiet;
	double scale; /* by how much farther runs move watts than independent errors do, squared */
	uint64_t n_slices;
	uint8_t map[MAP_SIZE];        /* index plus 1 of who has a key; 0: nobody */
	uint32_t n_maps;              /* how often it was made */
	uint64_t counted[CANDIDATES]; /* processes, 0: nobody */
	struct candidate candidates[CANDIDATES];
	/* scratch of an update */
	double h[WATT_LEARNED_MAX];
	double ch[WATT_LEARNED_MAX];
	size_t active[WATT_LEARNED_MAX];
	size_t n_active;
};

static inline double *cov_at(const struct watt_learned *l, size_t i, size_t j)
{
	return &l->cov[i * WATT_LEARNED_MAX + j];
}

static inline double squared(double x)
{
	return x * x;
}

/* watt_learned_time() of those that nobody tells of a busy sibling, which are most. */
static inline double time_of(const struct watt_learned *l, const struct watt_learned_use *use)
{
	return use->shared_s > 0 ? watt_learned_time(l, use) : use->cpu_s;
}

/* Who has divided the slice has found its learners, and as a rule none has come since. */
static inline bool is_sought(const struct watt_learned *l, const struct watt_learned_use *use)
{
	return use->sought && use->sought == l->n_maps;
}

/* Variance of a process's difference to its program, of which nothing is known. */
static inline double deviation_prior(const struct watt_learned *l)
{
	return l->spread[true] * squared(watt_learned_mean_w(l));
}

/* What slices say of the difference of a process to its program: its variance, and itself. */
static inline double variance_of(double prior, const struct candidate *one)
{
	return prior / (1 + prior * one->info);
}

/* ---- learned.c ---- */

/* OTHERS: it has none. */
size_t watt_learner_find(const struct watt_learned *l, uint64_t key);
/* The place of a new one, whose watts are so uncertain; OTHERS: there is none. */
size_t watt_learner_add(struct watt_learned *l, const struct learner *learner, double error_w);
double watt_learned_watts(const struct watt_learned *l, const struct watt_learned_use *use,
			  double mean);
/*
 * A measurement: those who are active are in h. First its variance by what is known, then what it
 * teaches, by its error and the variance of that.
 */
double watt_learned_explain(struct watt_learned *l);
void watt_learned_correct(struct watt_learned *l, double error_j, double variance);

/* Finds learners by their keys anew. */
void watt_learned_map(struct watt_learned *l);

/* ---- learned_scale.c ---- */

/* A slice's part in the mean of all, which is by energy: an hour of next to nothing is soon forgotten. */
void watt_learned_take_mean(struct watt_learned *l, double energy_j, double busy_s, double g);
/* The same where what is measured is mostly noise: by time, and as what is known has it. */
void watt_learned_take_mean_expected(struct watt_learned *l, double expected_j, double busy_s);
/* After a slice that nobody expected, by a new scale: one of those who ran is not what he was. */
void watt_learned_doubt_active(struct watt_learned *l);
/* Whether the scale is new because power rose: what is known is that of a calmer machine. */
bool watt_learned_is_risen(const struct watt_learned *l);
/*
 * Then those who ran in a slice that is off by far are taken for less known, by as much as explains
 * it: it teaches what they are now, and is no noise. Returns whether any are; they are in h.
 */
bool watt_learned_doubt_risen(struct watt_learned *l, double error_j, double variance);
/*
 * By a new scale, few slices that are all off by much less than was thought say so: a running mean
 * takes long.
 */
void watt_learned_note_quiet(struct watt_learned *l, double error_j);
/* By which the first slices of a scale move what they leave unexplained: they say how much it is. */
double watt_learned_begin_rate(const struct watt_learned *l);

/* ---- learned_check.c ---- */

/*
 * The filter takes slices for independent. Where a sensor is late by turns what one has too much
 * the next one lacks, and more is known than it thinks; where watts change in a way that it does
 * not follow, errors are alike and less is. Both show in how far watts move in a run of slices.
 */
void watt_learned_note_check(struct watt_learned *l, const struct watt_learned_slice *slice,
			     double error_j, double explained_j2, double expected_j2);
/* One is another program's by now. */
void watt_learned_forget_run(struct watt_learned *l, size_t i);

/* ---- learned_evidence.c ---- */

/* Of a process: one that nothing is known of where it is not counted. */
const struct candidate *watt_evidence_look_up(const struct watt_learned *l,
					      const struct watt_learned_use *use);
/* Where a process is counted: it has few places, and who was away for longest gives way. */
size_t watt_evidence_find(struct watt_learned *l, const struct watt_learned_use *use);
/*
 * Evidence lies about in memory, and is needed when the slice teaches. First, where that of its uses
 * may be is fetched; once their learners are known, what is there is found, and fetched in turn.
 */
void watt_evidence_fetch(const struct watt_learned *l, const struct watt_learned_slice *slice);
void watt_evidence_seek(const struct watt_learned *l, struct watt_learned_slice *slice);
/* The slice is off by error_j, of that variance. */
void watt_evidence_note(struct watt_learned *l, const struct watt_learned_slice *slice, double g,
			double error_j, double variance);

/* Who has been found in this slice, as a rule has kept its place. */
static inline const struct candidate *evidence_of(const struct watt_learned *l,
						  const struct watt_learned_use *use)
{
	if (l->counted[use->seen_at] == use->process)
		return &l->candidates[use->seen_at];
	return watt_evidence_look_up(l, use);
}

/* ---- learned_change.c ---- */

/*
 * Watts come to differ as far as those of all do. Of those who ran in a slice, it says how fast: where
 * it is nearer to what was expected than that allows for, what was learned still holds, and would else
 * follow what no program did. squared_sigmas: of its error; who ran is in h.
 */
void watt_learned_grow(struct watt_learned *l, double dt_s, double squared_sigmas);

/* ---- learned_kept.c ---- */

void watt_learned_forget_names(struct watt_learned *l);

/* ---- learned_counts.c ---- */

/* Where a slice tells of shared time, room for the discount; it may take somebody's place. */
void watt_learned_make_discount(struct watt_learned *l, const struct watt_learned_slice *slice);
/* How the slice's energy depends on the discount; everybody else is in h already. */
void watt_learned_take_discount(struct watt_learned *l, const struct watt_learned_slice *slice);
/* Watts that are expected of a program, beside the mean. */
double watt_learned_expect(const struct watt_learned *l, const struct learner *one);
/* Squared distance that is expected between a program's watts and what its features say. */
double watt_learned_left(const struct watt_learned *l, size_t at);
/* How many learners are common to all. */
size_t watt_learned_count_common(const struct watt_learned *l);

#endif

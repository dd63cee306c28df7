/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Learns the watts of programs from the sensor alone: the power changes when the mix of what runs
 * changes, and each slice is an equation E = g(load) * sum(t_i * w_i). A Kalman filter over the
 * watts w of programs, and of processes that differ from their program, with a curve g of the load
 * that holds what load itself does (a package that wakes, turbo, SMT on average). Pure arithmetic
 * on its own state: no clock, no libm, no fused operations, so that the same slices give the same
 * bits on every machine. One thread per object.
 */
#ifndef WATT_ATTRIB_LEARNED_H
#define WATT_ATTRIB_LEARNED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attrib/features.h"

struct watt_words;        /* base/words.h */
struct watt_profile_part; /* base/profile.h */

/* Learners of a domain: memory is bounded, what finds no place shares one. */
#define WATT_LEARNED_MAX 128

struct watt_learned;

/* Who was active in a slice. */
struct watt_learned_use {
	uint64_t program;   /* hash of what it runs; the same for all processes of it */
	uint64_t process;   /* its own number; 0: nobody that is known */
	const char *name;   /* of the program, borrowed; NULL: nobody asks for it */
	const char *cgroup; /* the same, where the name is no executable; NULL: not known */
	bool is_executable;
	double cpu_s;        /* its CPU time in the slice, above 0 */
	double shared_s;     /* of it, beside a busy sibling; 0: none, or nobody told */
	double watts;        /* out: per busy CPU */
	double error;        /* out: standard uncertainty of that */
	uint16_t at[2];      /* scratch: its learners, of the program and of itself */
	uint16_t counted_at; /* scratch: where its evidence is, which the slice adds to */
	uint16_t seen_at;    /* scratch: where it was, if anywhere */
	uint32_t sought;     /* scratch: by which of the learner's maps `at` is; 0: by none */
};

struct watt_learned_slice {
	double dt_s;
	double energy_j; /* dynamic */
	uint32_t n_cpus;
	struct watt_learned_use *uses;
	size_t n_uses;
	/* squared distances of its begin and its end to the readings beside them: who ran meanwhile is
	 * in it and its energy is not, or the reverse */
	double edge_s2;
	/* of several, from one reading to the next: what it leaves unexplained says nothing of each */
	bool is_joint;
};

/* is_rest: of what nobody is known to cause, in blocks of seconds. NULL: no memory. */
struct watt_learned *watt_learned_new(bool is_rest);
/* Accepts NULL. */
void watt_learned_free(struct watt_learned *learned);
/* Sets watts and error of each use. watts is above 0 once a slice was learned, and 0 before. */
void watt_learned_estimate(const struct watt_learned *learned, struct watt_learned_slice *slice);
/* The same of watts alone. */
void watt_learned_weigh(const struct watt_learned *learned, struct watt_learned_slice *slice);
/* The dynamic energy that is expected of a slice, in J; 0 before one was learned. */
double watt_learned_predict(const struct watt_learned *learned, struct watt_learned_slice *slice);
/* Learns from a slice of which everything is known. 0 or -ENOMEM, and nothing was learned. */
int watt_learned_update(struct watt_learned *learned, struct watt_learned_slice *slice);
/*
 * What features (watt_features_get()) say of a program's watts, once. What a unit of each is worth is
 * learned with all the rest, so that those who were learned tell of those who were not.
 */
void watt_learned_inform(struct watt_learned *learned, uint64_t program, const double *features);
/* Whether a program has a learner that has not been told of its features. */
bool watt_learned_is_curious(const struct watt_learned *learned, uint64_t program);
/*
 * How much of the energy went to whom the slices tell of, 0 to 1: by how far the uncertainty of
 * their watts is below that of programs nobody knows anything of.
 */
double watt_learned_told(const struct watt_learned *learned);
/*
 * How far the watts of those who are active lie apart, by how unsure they are, both squared. 1 or
 * less: they may as well be equal.
 */
double watt_learned_significance(const struct watt_learned *learned);
/*
 * Slices since power rose far above what it was, or since the first: what is known from before then
 * may be by another scale.
 */
uint64_t watt_learned_count_scaled(const struct watt_learned *learned);
/* The CPU time of a use that counts, in s: less than all of it, where siblings were busy. */
double watt_learned_time(const struct watt_learned *learned, const struct watt_learned_use *use);
/* Standard uncertainty of watts, relative, as a mean by energy. */
double watt_learned_error(const struct watt_learned *learned);
/* Watts of a busy CPU, as a mean of all; 0: nothing was learned yet. */
double watt_learned_mean_w(const struct watt_learned *learned);
/* What is not known of somebody's watts. */
struct watt_learned_doubt {
	double watts;   /* as watt_learned_estimate() has them; 0: nothing was learned yet */
	double mean_w;  /* of all */
	double own_w2;  /* variance that it shares with nobody */
	uint16_t at[2]; /* its learners: rows of the covariance */
	uint16_t n_at;  /* one or two of them */
};
void watt_learned_doubt(const struct watt_learned *learned, uint64_t program, uint64_t process,
			struct watt_learned_doubt *ret);
/* Rows and columns of the covariance; 0: nothing was learned yet. */
size_t watt_learned_size(const struct watt_learned *learned);
/* One row of it, in W^2. */
const double *watt_learned_covariance(const struct watt_learned *learned, size_t row);
/* Variance that the watts of a row gain in a second in which nothing is seen of them. */
double watt_learned_growth(const struct watt_learned *learned, size_t row);
/*
 * Of slices that are learned from together, in each of which energy is what it would be at even power:
 * how far one is off, and how long that lasts. Sets watts of each use.
 */
void watt_learned_note_open(struct watt_learned *learned, struct watt_learned_slice *slice,
			    double lasts_s);
/* Relative variance of a row's energy by that, times seconds: of a longer time it is less. */
double watt_learned_open(const struct watt_learned *learned);
/*
 * Relative variance of a row's energy by power that no program causes, as leakage, and that goes
 * to all who run. It lasts for seconds.
 */
double watt_learned_level(const struct watt_learned *learned);
/* By what the variances are too small or too large, as slices have it. */
double watt_learned_scale(const struct watt_learned *learned);
/* Variance of a program's watts that nobody knows anything of, in squared means. */
double watt_learned_prior(const struct watt_learned *learned);
/*
 * What is known of programs from before: those that come begin with it. It is borrowed and must
 * outlive the object, and nothing was learned yet. NULL: nothing.
 */
void watt_learned_set_prior(struct watt_learned *learned, const struct watt_profile_part *prior);
/* Adds what is known of programs to a profile, those of the prior too that did not run. 0 or
 * -ENOMEM. */
int watt_learned_tell(const struct watt_learned *learned, struct watt_profile_part *ret);
/*
 * Saves all that it knows, or loads it in place of what it knew. What is loaded has to make sense:
 * the error is in words, and nothing is known then. 0 or words->error.
 */
int watt_learned_visit(struct watt_learned *learned, struct watt_words *words);
/*
 * The same of what slices say of how sure it is. Recordings of before don't have it: forgotten, it is
 * found anew within a minute.
 */
int watt_learned_visit_check(struct watt_learned *learned, struct watt_words *words);
void watt_learned_forget_check(struct watt_learned *learned);
/* Learners that have a place of their own. */
size_t watt_learned_count(const struct watt_learned *learned);

#endif

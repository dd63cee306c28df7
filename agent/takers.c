/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shares are those of the energy that the roster let out, and watts those of the history: what is
 * held back in one step comes in another, and the sum is the machine's power all the same.
 */
#include "takers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "xalloc.h"

/* Who took how much in the step that ends. */
struct claim {
	const struct roster_user *user;
	nanojoules taken_nj;
};

static nanojoules partition_sum(const struct roster_sum *sums, const struct census *census)
{
	nanojoules sum = 0;
	size_t i;

	for (i = 0; i < census->n_domains; i++)
		if (census->domains[i]->is_partition)
			sum += sums[ROSTER_DOMAIN(i)].out;
	return sum;
}

/* Since the last step. */
static nanojoules advance(nanojoules *last_nj, nanojoules now_nj)
{
	nanojoules taken_nj = now_nj - *last_nj;

	*last_nj = now_nj;
	return taken_nj;
}

static double machine_power_w(const struct history_point *point, const struct census *census)
{
	double power_w = NAN;
	size_t i;

	for (i = 0; i < point->n_domains && i < census->n_domains; i++)
		if (census->domains[i]->is_partition && !isnan(point->power_w[i]))
			power_w = (isnan(power_w) ? 0 : power_w) + point->power_w[i];
	return power_w;
}

/* ---- names ---- */

static uint32_t take_name(struct takers_level *level, const char *labels)
{
	size_t i, room = level->n_names;

	for (i = 0; i < level->n_names; i++) {
		if (!level->names[i].labels)
			room = i;
		else if (strcmp(level->names[i].labels, labels) == 0)
			break;
	}
	if (i == level->n_names) {
		i = room;
		if (i == level->n_names)
			level->names =
				xrealloc(level->names, ++level->n_names, sizeof(*level->names));
		level->names[i] = (struct takers_name){ .labels = xstrdup(labels) };
	}
	level->names[i].refs++;
	return (uint32_t)i;
}

static void forget_step(struct takers_level *level, struct takers_step *step)
{
	uint32_t i;

	for (i = 0; i < step->n; i++) {
		struct takers_name *name = &level->names[step->takers[i].name];

		if (--name->refs > 0)
			continue;
		free(name->labels);
		name->labels = NULL;
	}
	step->n = 0;
}

/* ---- steps ---- */

/* Keeps the largest, the largest first. */
static void rank(struct claim *claims, size_t *n, struct claim claim)
{
	size_t at = *n < TAKERS_MOST ? (*n)++ : TAKERS_MOST;

	for (; at > 0 && claims[at - 1].taken_nj < claim.taken_nj; at--)
		if (at < TAKERS_MOST)
			claims[at] = claims[at - 1];
	if (at < TAKERS_MOST)
		claims[at] = claim;
}

static size_t rank_users(const struct roster_level *users, const struct census *census,
			 struct claim *claims)
{
	size_t n = 0, i;

	for (i = 0; i < users->n_users; i++) {
		struct roster_user *user = users->users[i];
		nanojoules taken_nj = advance(&user->told_nj, partition_sum(user->sums, census));

		if (taken_nj > 0)
			rank(claims, &n, (struct claim){ user, taken_nj });
	}
	return n;
}

/* rest_nj: what is neither idle nor nobody's. */
static void add_level(struct takers_level *level, struct takers_step *step,
		      const struct roster_level *users, const struct census *census,
		      nanojoules rest_nj, double w_per_nj)
{
	struct claim claims[TAKERS_MOST];
	size_t n = rank_users(users, census, claims), i;

	for (i = 0; i < n && !isnan(w_per_nj); i++) {
		step->takers[step->n++] =
			(struct taker){ take_name(level, claims[i].user->labels),
					(float)((double)claims[i].taken_nj * w_per_nj) };
		rest_nj -= claims[i].taken_nj;
	}
	step->others_w = (float)((double)rest_nj * w_per_nj);
}

void takers_add(struct takers *takers, const struct history *history, struct roster *roster,
		const struct census *census)
{
	nanojoules whole_nj = advance(&takers->whole_nj, partition_sum(roster->whole, census));
	nanojoules idle_nj = advance(&takers->idle_nj, partition_sum(roster->idle, census));
	nanojoules unattributed_nj =
		advance(&takers->unattributed_nj, partition_sum(roster->unattributed, census));
	size_t slot = history_slot(history, history->n - 1);
	double power_w = machine_power_w(&history->points[slot], census);
	double w_per_nj = whole_nj > 0 ? power_w / (double)whole_nj : NAN;
	int kind;

	for (kind = 0; kind < LEVEL_N; kind++) {
		struct takers_level *level = &takers->levels[kind];
		struct takers_step *step;

		if (!(roster->opts.levels & 1u << kind))
			continue;
		if (!level->steps)
			level->steps = xcalloc(HISTORY_POINTS, sizeof(*level->steps));
		step = &level->steps[slot];
		forget_step(level, step);
		step->idle_w = (float)((double)idle_nj * w_per_nj);
		step->unattributed_w = (float)((double)unattributed_nj * w_per_nj);
		add_level(level, step, &roster->levels[kind], census,
			  whole_nj - idle_nj - unattributed_nj, w_per_nj);
	}
}

const struct takers_step *takers_get(const struct takers *takers, const struct history *history,
				     enum level_kind kind, size_t index)
{
	const struct takers_level *level = &takers->levels[kind];

	return level->steps && index < history->n ? &level->steps[history_slot(history, index)] :
						    NULL;
}

void takers_done(struct takers *takers)
{
	size_t i;
	int kind;

	for (kind = 0; kind < LEVEL_N; kind++) {
		struct takers_level *level = &takers->levels[kind];

		for (i = 0; i < level->n_names; i++)
			free(level->names[i].labels);
		free(level->names);
		free(level->steps);
	}
	memset(takers, 0, sizeof(*takers));
}

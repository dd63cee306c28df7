/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The key `learned`: CPU time, or time on the engines of a GPU, weighed by the watts that each
 * program is learned to take. Where its own uncertainty says that it can't tell, its fallback
 * divides.
 */
#include "attrib/key.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "attrib/block.h"
#include "attrib/features.h"
#include "attrib/learned.h"
#include "attrib/significance.h"
#include "attrib/tree.h"
#include "base/util.h"

#define READY_SLICES 10
/* Of the energy, how much must go to whom something is known of: to begin with it, and to go on. */
#define TOLD_BEGIN 0.2
#define TOLD_STAY 0.15
/* And how far apart, by how unsure, watts must be; less of it is no better than to take them for
 * equal. */
#define APART_BEGIN 1.5
#define APART_STAY 1.2
#define WEIGHT_SCALE 256 /* of a program that takes as much as the mean */
#define WEIGHT_MOST 1e18
#define AHEAD 8               /* uses, of which memory is asked for before they are needed */
#define NOBODY UINT64_MAX     /* as a program */
#define CHECK_MARK UINT64_MAX /* of a recording: no time */
#define MOST_S 1e12           /* of a time that is loaded */
#define LEAST_J 1e-9          /* a block without energy, for a learner that takes none without */

struct learned_state {
	struct watt_learned *learned;
	struct watt_features *features; /* NULL: nobody counts anything */
	struct watt_learned_use *uses;
	size_t cap_uses;
	uint32_t *index; /* of uses by actor, plus 1 */
	size_t cap_index;
	uint64_t taken_ns; /* whose uses these are: of the slice that ends there */
	size_t n_taken;
	uint64_t n_slices;
	bool is_ready;
	struct watt_block *joint; /* of slices up to the next reading; NULL: there never was one */
	uint64_t joint_end_ns;    /* while there is something in it */
	uint64_t joint_edge_ns;   /* how far its begin lies from a reading */
	struct rest *rest;        /* NULL: somebody causes it in any case */
};

/* What a domain needs of which nobody knows whether programs cause it. */
struct rest {
	struct watt_significance significance;
	uint64_t least_ns;           /* of a block */
	struct watt_block blocks[2]; /* neighbours */
	bool is_second;              /* the first one is whole */
};

static int init(void *data, const struct watt_domain *domain)
{
	struct learned_state *state = data;

	(void)domain;
	state->learned = watt_learned_new(false);
	return state->learned ? 0 : -ENOMEM;
}

static int init_rest(void *data, const struct watt_domain *domain)
{
	struct learned_state *state = data;

	(void)domain;
	state->learned = watt_learned_new(true);
	state->rest = calloc(1, sizeof(*state->rest));
	if (state->learned && state->rest)
		return 0;
	free(state->rest);
	watt_learned_free(state->learned);
	return -ENOMEM;
}

static void done(void *data)
{
	struct learned_state *state = data;

	if (state->joint)
		watt_block_done(state->joint);
	free(state->joint);
	if (state->rest) {
		watt_block_done(&state->rest->blocks[0]);
		watt_block_done(&state->rest->blocks[1]);
	}
	free(state->rest);
	watt_learned_free(state->learned);
	free(state->uses);
	free(state->index);
	free(state->features);
}

/*
 * Programs and processes have the same numbers in every session and part of one: those of
 * accounts are counted by who came first.
 */
static uint64_t number_of(const struct watt_account *account)
{
	const struct watt_name *name = account->name;

	return name->has_identity || name->has_cgroup ? name->number : 1 + (uint64_t)account->kind;
}

/* What somebody runs: the executable, or its name in its cgroup where that is not known. */
static uint64_t program_of(const struct watt_member *actor)
{
	const struct watt_account *account = watt_member_get_user(actor);
	const struct watt_account *cgroup = actor->sums[WATT_MEMBER_CGROUP];
	const struct watt_name *name = watt_account_get_title(account);

	if (name->has_program)
		return name->program;
	return watt_hash_u64((name->program ? name->program : number_of(account)) ^
			     watt_hash_u64(cgroup ? number_of(cgroup) : 0));
}

/* What it is called, for a profile. */
static void set_name(struct watt_learned_use *use, const struct watt_member *actor)
{
	const struct watt_account *cgroup = actor->sums[WATT_MEMBER_CGROUP];
	const struct watt_name *name = watt_account_get_title(watt_member_get_user(actor));

	use->is_executable = name->has_program;
	use->name = name->has_program ? name->identity.exe : name->text;
	if (!name->has_program && cgroup && cgroup->name->has_cgroup)
		use->cgroup = cgroup->name->cgroup.path;
}

static void take_use(struct watt_learned_use *use, const struct watt_part *part)
{
	const struct watt_member *actor = part->use->actor;

	*use = (struct watt_learned_use){ .cpu_s = (double)part->use->amount / 1e9 };
	if (!actor)
		return;
	use->program = program_of(actor);
	use->process = number_of(watt_member_get_user(actor));
	set_name(use, actor);
}

/* What is about to be asked of who did something; nobody has looked there since the last slice. */
static void prefetch_user(const struct watt_part *part)
{
	const struct watt_member *actor = part->use->actor;

	if (actor)
		watt_prefetch(watt_account_get_title(watt_member_get_user(actor)));
}

static bool is_taken(const struct learned_state *state, const struct watt_key_slice *slice)
{
	return state->taken_ns == slice->t1_ns && state->n_taken == slice->n_needed;
}

/* Where uses are found by their actors: each is at the first free place behind its hash. */
static int index_uses(struct learned_state *state, const struct watt_key_slice *slice,
		      size_t *ret_size)
{
	size_t size = 16, i, at;

	while (size < 2 * slice->n_needed)
		size *= 2;
	if (size > state->cap_index) {
		uint32_t *index = reallocarray(state->index, size, sizeof(*index));

		if (!index)
			return -ENOMEM;
		state->index = index;
		state->cap_index = size;
	}
	memset(state->index, 0, size * sizeof(*state->index));
	for (i = 0; i < slice->n_needed; i++) {
		at = watt_hash_u64((uintptr_t)slice->parts[i].use->actor) & (size - 1);
		while (state->index[at])
			at = (at + 1) & (size - 1);
		state->index[at] = (uint32_t)i + 1;
	}
	*ret_size = size;
	return 0;
}

/* Who was on several places of the domain has it where it ran. */
static void share(struct learned_state *state, const struct watt_key_slice *slice, size_t size,
		  const struct watt_part *part)
{
	size_t at = watt_hash_u64((uintptr_t)part->use->actor) & (size - 1);
	double left_s = (double)part->use->amount / 1e9;

	for (; state->index[at] && left_s > 0; at = (at + 1) & (size - 1)) {
		struct watt_learned_use *use = &state->uses[state->index[at] - 1];
		double room_s = use->cpu_s - use->shared_s;

		if (slice->parts[state->index[at] - 1].use->actor != part->use->actor)
			continue;
		room_s = WATT_MIN(room_s, left_s);
		use->shared_s += room_s;
		left_s -= room_s;
	}
}

/* How much of its time each had a busy sibling. */
static int take_shared(struct learned_state *state, const struct watt_key_slice *slice)
{
	size_t size = 0, i;
	int r = index_uses(state, slice, &size);

	for (i = slice->n_needed; i < slice->n_parts && r == 0; i++)
		if (slice->parts[i].kind == WATT_ACTIVITY_SHARED_TIME && slice->parts[i].use->actor)
			share(state, slice, size, &slice->parts[i]);
	return r;
}

static int take_slice(struct learned_state *state, const struct watt_key_slice *slice,
		      struct watt_learned_slice *ret)
{
	size_t i;
	int r = 0;

	*ret = (struct watt_learned_slice){ .dt_s = (double)(slice->t1_ns - slice->t0_ns) / 1e9,
					    .energy_j = (double)slice->dynamic_nj / 1e9,
					    .n_cpus = slice->n_units };
	/* who divides a slice learns from it next */
	for (i = 0; i < slice->n_needed && r == 0 && !is_taken(state, slice); i++) {
		if (i + AHEAD < slice->n_needed)
			prefetch_user(&slice->parts[i + AHEAD]);
		r = watt_grow((void **)&state->uses, &state->cap_uses, i, sizeof(*state->uses));
		if (r == 0)
			take_use(&state->uses[i], &slice->parts[i]);
	}
	if (r == 0 && !is_taken(state, slice) &&
	    (slice->likes & WATT_KEY_BIT(WATT_ACTIVITY_SHARED_TIME)))
		r = take_shared(state, slice);
	if (r == 0) {
		state->taken_ns = slice->t1_ns;
		state->n_taken = slice->n_needed;
	}
	ret->uses = state->uses;
	ret->n_uses = slice->n_needed;
	return r;
}

static uint32_t readiness_ppm(const void *data)
{
	const struct learned_state *state = data;

	if (state->n_slices < READY_SLICES ||
	    watt_learned_count_scaled(state->learned) < READY_SLICES)
		return 0;
	return (uint32_t)(watt_learned_told(state->learned) * 1e6);
}

static uint32_t uncertainty_ppm(const void *data)
{
	const struct learned_state *state = data;

	return (uint32_t)(WATT_MIN(watt_learned_error(state->learned), 1000.0) * 1e6);
}

/* What a domain takes beside idle and programs, as if somebody had one CPU for all the time. */
static struct watt_learned_use nobody_of(double dt_s)
{
	return (struct watt_learned_use){ .program = NOBODY, .cpu_s = dt_s };
}

static uint64_t weigh_nobody(const struct learned_state *state,
			     const struct watt_learned_slice *slice, double mean_w)
{
	struct watt_learned_use nobody = nobody_of(slice->dt_s);
	struct watt_learned_slice view = { .uses = &nobody, .n_uses = 1 };

	watt_learned_weigh(state->learned, &view);
	return (uint64_t)WATT_MIN(slice->dt_s * 1e9 * (nobody.watts / mean_w) * WEIGHT_SCALE,
				  WEIGHT_MOST);
}

static int weigh(void *data, const struct watt_key_slice *slice)
{
	struct learned_state *state = data;
	struct watt_learned_slice view;
	double mean_w;
	size_t i;
	int r;

	if (!state->is_ready)
		return -EAGAIN;
	r = take_slice(state, slice, &view);
	if (r < 0)
		return r;
	watt_learned_weigh(state->learned, &view);
	mean_w = watt_learned_mean_w(state->learned);
	if (slice->nobody)
		slice->nobody->weight = weigh_nobody(state, &view, mean_w);
	for (i = 0; i < slice->n_needed; i++) {
		const struct watt_learned_use *use = &view.uses[i];
		double time_ns = (double)slice->parts[i].use->amount;

		if (use->shared_s > 0)
			time_ns = watt_learned_time(state->learned, use) * 1e9;
		slice->parts[i].weight =
			1 + (uint64_t)WATT_MIN(time_ns * (use->watts / mean_w) * WEIGHT_SCALE,
					       WEIGHT_MOST);
	}
	return 0;
}

/* What counters say of those who ran: it is what is expected of their watts. */
static int take_features(struct learned_state *state, const struct watt_key_slice *slice,
			 const struct watt_learned_slice *view)
{
	double features[WATT_N_FEATURES];
	size_t i;

	if (!state->features)
		state->features = calloc(1, sizeof(*state->features));
	if (!state->features)
		return -ENOMEM;
	watt_features_begin(state->features);
	for (i = 0; i < view->n_uses; i++)
		if (view->uses[i].program)
			watt_features_add_time(state->features, view->uses[i].program,
					       view->uses[i].cpu_s, slice->likes);
	for (i = 0; i < slice->n_parts; i++) {
		const struct watt_part *part = &slice->parts[i];

		if ((slice->likes & WATT_KEY_BIT(part->kind)) && part->use->actor)
			watt_features_add(state->features, program_of(part->use->actor), part->kind,
					  (double)part->use->amount);
	}
	for (i = 0; i < view->n_uses; i++)
		if (watt_learned_is_curious(state->learned, view->uses[i].program) &&
		    watt_features_get(state->features, view->uses[i].program, features))
			watt_learned_inform(state->learned, view->uses[i].program, features);
	return 0;
}

static void clear_joint(struct learned_state *state)
{
	if (state->joint)
		watt_block_clear(state->joint);
}

/* With what is less than idle: noise has two sides, and leaving one out is a bias. */
static int join(struct learned_state *state, const struct watt_key_slice *slice,
		struct watt_learned_slice view)
{
	view.energy_j = (double)slice->energy_nj / 1e9 - (double)slice->idle_uw * 1e-6 * view.dt_s;
	if (!state->joint)
		state->joint = calloc(1, sizeof(*state->joint));
	state->joint_end_ns = slice->t1_ns;
	return state->joint ? watt_block_add(state->joint, &view) : -ENOMEM;
}

static double get_edge_s2(uint64_t edge0_ns, uint64_t edge1_ns)
{
	double edge0_s = (double)edge0_ns / 1e9, edge1_s = (double)edge1_ns / 1e9;

	return edge0_s * edge0_s + edge1_s * edge1_s;
}

/*
 * Between two readings energy is what it would be at even power: a slice that ends nearer to its own
 * middle than to a reading tells nothing of who ran in it. Those from one reading to the next are
 * one. 1: they are not whole yet; else *view is what teaches.
 */
static int await_reading(struct learned_state *state, const struct watt_key_slice *slice,
			 struct watt_learned_slice *view)
{
	uint64_t half_ns = (slice->t1_ns - slice->t0_ns) / 2;
	bool is_end = slice->edge_ns[1] <= half_ns;
	double joint_s, edge_s2;
	int r;

	if (state->joint_end_ns != slice->t0_ns)
		clear_joint(state);
	joint_s = state->joint ? state->joint->dt_s : 0;
	if (!(joint_s > 0) && slice->edge_ns[0] > half_ns)
		return 1;
	is_end = is_end && joint_s + view->dt_s >= (double)slice->joint_ns / 1e9;
	if (!(joint_s > 0))
		state->joint_edge_ns = slice->edge_ns[0];
	edge_s2 = get_edge_s2(state->joint_edge_ns, slice->edge_ns[1]);
	view->edge_s2 = edge_s2;
	if (is_end && !(joint_s > 0))
		return 0;
	r = join(state, slice, *view);
	if (r < 0 || !is_end)
		return r < 0 ? r : 1;
	watt_block_get(state->joint, view);
	view->edge_s2 = edge_s2;
	view->is_joint = true;
	return 0;
}

static int teach(struct learned_state *state, struct watt_learned_slice *taught)
{
	double told, apart;
	int r;

	if (!(taught->energy_j > 0) || !taught->n_uses)
		return 0;
	r = watt_learned_update(state->learned, taught);
	if (r < 0)
		return r;
	state->n_slices++;
	told = watt_learned_told(state->learned);
	apart = watt_learned_significance(state->learned);
	state->is_ready = state->n_slices >= READY_SLICES &&
			  watt_learned_count_scaled(state->learned) >= READY_SLICES &&
			  told >= (state->is_ready ? TOLD_STAY : TOLD_BEGIN) &&
			  apart >= (state->is_ready ? APART_STAY : APART_BEGIN);
	return 0;
}

static int learn(void *data, const struct watt_key_slice *slice)
{
	struct learned_state *state = data;
	struct watt_learned_slice view, taught;
	int r;

	/* idle energy is no program's: who learns from it takes it for theirs */
	if (!slice->is_complete || !slice->is_idle_known) {
		clear_joint(state);
		return 0;
	}
	r = take_slice(state, slice, &view);
	taught = view;
	if (r == 0)
		r = await_reading(state, slice, &taught);
	/* in half of it one slice has what the other ones lack */
	if (r >= 0 && state->joint && state->joint->dt_s > 0)
		watt_learned_note_open(state->learned, &view, state->joint->dt_s / 2);
	if (r == 0) {
		r = teach(state, &taught);
		clear_joint(state);
	}
	if (r >= 0 && slice->likes && slice->dynamic_nj > 0)
		r = take_features(state, slice, &view);
	return WATT_MIN(r, 0);
}

/* ---- where nobody knows whether programs cause it ---- */

static double significance(const void *data, bool *ret_is)
{
	const struct learned_state *state = data;

	*ret_is = state->is_ready;
	return watt_significance_t(&state->rest->significance);
}

static uint32_t rest_readiness_ppm(const void *data)
{
	const struct learned_state *state = data;

	return state->is_ready ? WATT_MAX(readiness_ppm(data), 1u) : 0;
}

static double change_w(const struct watt_learned_slice pair[2], double energy0_j, double energy1_j)
{
	return energy1_j / pair[1].dt_s - energy0_j / pair[0].dt_s;
}

static int learn_block(struct learned_state *state, struct watt_learned_slice *block)
{
	/* less than idle is as good as idle: noise has two sides, and leaving one out is a bias */
	if (state->n_slices)
		block->energy_j = WATT_MAX(block->energy_j, LEAST_J);
	if (!(block->energy_j > 0))
		return 0;
	state->n_slices++;
	return watt_learned_update(state->learned, block);
}

/* Two blocks are whole: what was expected of them is held against it, and then they teach. */
static int learn_pair(struct learned_state *state, uint64_t idle_uw)
{
	struct rest *rest = state->rest;
	struct watt_learned_slice pair[2];
	int r = 0;
	size_t i;

	for (i = 0; i < 2; i++) {
		watt_block_get(&rest->blocks[i], &pair[i]);
		pair[i].energy_j -= (double)idle_uw * 1e-6 * pair[i].dt_s;
	}
	if (state->n_slices)
		watt_significance_add(&rest->significance,
				      change_w(pair, watt_learned_predict(state->learned, &pair[0]),
					       watt_learned_predict(state->learned, &pair[1])),
				      change_w(pair, pair[0].energy_j, pair[1].energy_j));
	for (i = 0; i < 2 && r == 0; i++)
		r = learn_block(state, &pair[i]);
	state->is_ready = state->n_slices >= READY_SLICES && rest->significance.is_significant;
	return r;
}

static void clear_pair(struct rest *rest)
{
	watt_block_clear(&rest->blocks[0]);
	watt_block_clear(&rest->blocks[1]);
	rest->is_second = false;
}

static int learn_rest(void *data, const struct watt_key_slice *slice)
{
	struct learned_state *state = data;
	struct rest *rest = state->rest;
	struct watt_block *block = &rest->blocks[rest->is_second];
	struct watt_learned_use nobody = nobody_of((double)(slice->t1_ns - slice->t0_ns) / 1e9);
	struct watt_learned_slice view;
	int r;

	rest->least_ns = WATT_MAX(rest->least_ns, slice->block_ns);
	if (!slice->is_complete || !slice->is_idle_known || !slice->is_usable) {
		clear_pair(rest);
		return 0;
	}
	r = take_slice(state, slice, &view);
	view.energy_j = (double)slice->energy_nj / 1e9;
	view.n_cpus++; /* that nobody has */
	if (r == 0)
		r = watt_block_add(block, &view);
	if (r == 0)
		r = watt_block_add(block,
				   &(struct watt_learned_slice){ .uses = &nobody, .n_uses = 1 });
	if (r < 0 || block->dt_s * 1e9 < (double)rest->least_ns)
		return r;
	if (rest->is_second) {
		r = learn_pair(state, slice->idle_uw);
		clear_pair(rest);
		return r;
	}
	rest->is_second = true;
	return 0;
}

static void set_prior(void *data, const struct watt_profile_part *prior)
{
	struct learned_state *state = data;

	watt_learned_set_prior(state->learned, prior);
}

static int tell(const void *data, struct watt_profile_part *ret)
{
	const struct learned_state *state = data;

	ret->domain.readiness_ppm = readiness_ppm(data);
	ret->domain.significance_ratio = watt_learned_significance(state->learned);
	return watt_learned_tell(state->learned, ret);
}

/* The last of it, where there is one. */
static void visit_joint(struct learned_state *state, struct watt_words *words)
{
	bool has_joint = words->is_loading ? words->at < words->n :
					     state->joint && state->joint->dt_s > 0;
	size_t i;

	if (words->is_loading)
		clear_joint(state);
	if (words->error || !has_joint)
		return;
	if (!state->joint)
		state->joint = calloc(1, sizeof(*state->joint));
	if (!state->joint) {
		words->error = -ENOMEM;
		return;
	}
	watt_words_u64(words, &state->joint_end_ns, UINT64_MAX);
	watt_block_visit(state->joint, words);
	for (i = 0; i < state->joint->n; i++)
		watt_words_double(words, &state->joint->uses[i].shared_s, 0, MOST_S);
	/* recordings of before have none */
	if (words->is_loading)
		state->joint_edge_ns = 0;
	if (!words->is_loading || words->at < words->n)
		watt_words_u64(words, &state->joint_edge_ns, UINT64_MAX);
	if (words->error && words->is_loading)
		clear_joint(state);
}

/* Recordings of before have none: what comes next there is the end of a joint, or nothing. */
static void visit_check(struct learned_state *state, struct watt_words *words)
{
	uint64_t mark = CHECK_MARK;

	if (words->error || !watt_learned_size(state->learned))
		return;
	if (words->is_loading && (words->at == words->n || words->list[words->at] != mark)) {
		watt_learned_forget_check(state->learned);
		return;
	}
	watt_words_u64(words, &mark, UINT64_MAX);
	watt_learned_visit_check(state->learned, words);
}

static int visit(void *data, struct watt_words *words)
{
	struct learned_state *state = data;

	watt_words_u64(words, &state->n_slices, UINT64_MAX >> 1);
	watt_words_bool(words, &state->is_ready);
	watt_learned_visit(state->learned, words);
	watt_features_visit(&state->features, words);
	if (state->rest) {
		watt_significance_visit(&state->rest->significance, words);
		watt_words_u64(words, &state->rest->least_ns, UINT64_MAX >> 1);
		watt_block_visit(&state->rest->blocks[0], words);
		watt_block_visit(&state->rest->blocks[1], words);
		watt_words_bool(words, &state->rest->is_second);
	}
	visit_check(state, words);
	if (!state->rest)
		visit_joint(state, words);
	if (words->error && words->is_loading)
		state->is_ready = false;
	if (words->is_loading && !watt_learned_size(state->learned))
		state->is_ready = false;
	return words->error;
}

static const double *covariance(const void *learned, size_t row)
{
	return watt_learned_covariance(learned, row);
}

static double growth(const void *learned, size_t row)
{
	return watt_learned_growth(learned, row);
}

static void get_space(const void *data, struct watt_key_space *ret)
{
	const struct learned_state *state = data;

	double mean_w = watt_learned_mean_w(state->learned);

	*ret = (struct watt_key_space){
		.n = watt_learned_size(state->learned),
		.scale = watt_learned_scale(state->learned),
		.open = watt_learned_open(state->learned),
		.level = watt_learned_level(state->learned),
		.prior = watt_learned_prior(state->learned) * mean_w * mean_w,
		.state = state->learned,
		.covariance = covariance,
		.growth = growth,
	};
}

/* CPU time alone takes all for equal: what is known to be otherwise is a bias of it. */
static void doubt(const void *data, const struct watt_member *actor, bool is_fallback,
		  struct watt_key_doubt *ret)
{
	const struct learned_state *state = data;
	struct watt_learned_doubt known;
	double weight_w;

	watt_learned_doubt(state->learned, program_of(actor),
			   number_of(watt_member_get_user(actor)), &known);
	*ret = (struct watt_key_doubt){ .own = watt_learned_prior(state->learned) };
	if (!(known.watts > 0))
		return;
	weight_w = is_fallback ? known.mean_w : known.watts;
	*ret = (struct watt_key_doubt){ .at = { known.at[0], known.at[1] },
					.n_at = known.n_at,
					.by = 1 / weight_w,
					.own = known.own_w2 / (weight_w * weight_w),
					.bias = (known.watts - weight_w) / weight_w };
}

/* A GPU's engines are to it what CPUs are to a package. */
static bool is_of_gpu(const struct watt_domain *domain)
{
	return watt_tree_key_of_kind(domain->kind) == WATT_KEY_GPU_TIME;
}

#define LEARNED(activity, otherwise) \
	.id = WATT_KEY_LEARNED, .needs = WATT_KEY_BIT(activity), .fallback = (otherwise), \
	.state_size = sizeof(struct learned_state), .done = done, \
	.uncertainty_ppm = uncertainty_ppm, .get_space = get_space, .doubt = doubt, \
	.weigh = weigh, .set_prior = set_prior, .tell = tell, .visit = visit

const struct watt_key_ops watt_key_learned = {
	LEARNED(WATT_ACTIVITY_CPU_TIME, WATT_KEY_CPU_TIME),
	.init = init,
	.readiness_ppm = readiness_ppm,
	.learn = learn,
	.likes = WATT_KEY_BIT(WATT_ACTIVITY_CYCLES) | WATT_KEY_BIT(WATT_ACTIVITY_INSTRUCTIONS) |
		 WATT_KEY_BIT(WATT_ACTIVITY_SHARED_TIME) | WATT_KEY_BIT(WATT_ACTIVITY_IRQ_TIME),
};

const struct watt_key_ops watt_key_learned_gpu = {
	LEARNED(WATT_ACTIVITY_GPU_TIME, WATT_KEY_GPU_TIME),
	.suits = is_of_gpu,
	.init = init,
	.readiness_ppm = readiness_ppm,
	.learn = learn,
};

const struct watt_key_ops watt_key_learned_rest = {
	LEARNED(WATT_ACTIVITY_CPU_TIME, WATT_KEY_NONE),
	.suits = watt_tree_is_rest,
	.weighs_nobody = true,
	.init = init_rest,
	.readiness_ppm = rest_readiness_ppm,
	.significance = significance,
	.learn = learn_rest,
};

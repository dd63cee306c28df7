/* SPDX-License-Identifier: Apache-2.0 */
/* The table of share keys, those that need no memory, and what all have in common. */
#include "attrib/key.h"

#include <errno.h>
#include <stdlib.h>

#include "attrib/tree.h"

#define READY_PPM 1000000

/* Every unit of activity counts the same. */
static int weigh_by_amount(void *state, const struct watt_key_slice *slice)
{
	size_t i;

	for (i = 0; i < slice->n_parts; i++)
		slice->parts[i].weight = slice->parts[i].use->amount;
	return 0;
}

/* Nothing on this machine tells who used it: nobody has a part. */
static const struct watt_key_ops key_none = {
	.id = WATT_KEY_NONE,
	.weigh = weigh_by_amount,
};

/* It may be that somebody does, and nobody knows who: what is idle is known all the same. */
static int weigh_nobody(void *state, const struct watt_key_slice *slice)
{
	size_t i;

	(void)state;
	for (i = 0; i < slice->n_parts; i++)
		slice->parts[i].weight = 0;
	return 0;
}

static const struct watt_key_ops key_nobody = {
	.id = WATT_KEY_NONE,
	.suits = watt_tree_is_rest,
	.needs = WATT_KEY_BIT(WATT_ACTIVITY_CPU_TIME),
	.weigh = weigh_nobody,
};

static const struct watt_key_ops key_cpu_time = {
	.id = WATT_KEY_CPU_TIME,
	.needs = WATT_KEY_BIT(WATT_ACTIVITY_CPU_TIME),
	.weigh = weigh_by_amount,
};

/*
 * Counts of CPUs. CPU time is needed, too: it says how busy they were. Where nobody counted anything
 * there is nothing to tell by.
 */
static int weigh_by_count(void *state, const struct watt_key_slice *slice)
{
	bool has_any = false;
	size_t i;

	(void)state;
	for (i = 0; i < slice->n_parts; i++) {
		struct watt_part *part = &slice->parts[i];

		part->weight = part->kind == WATT_ACTIVITY_CPU_TIME ? 0 : part->use->amount;
		has_any |= part->weight > 0;
	}
	return has_any && slice->is_complete ? 0 : -EAGAIN;
}

static const struct watt_key_ops key_cycles = {
	.id = WATT_KEY_CYCLES,
	.needs = WATT_KEY_BIT(WATT_ACTIVITY_CPU_TIME) | WATT_KEY_BIT(WATT_ACTIVITY_CYCLES),
	.fallback = WATT_KEY_CPU_TIME,
	.weigh = weigh_by_count,
};

static const struct watt_key_ops key_instructions = {
	.id = WATT_KEY_INSTRUCTIONS,
	.needs = WATT_KEY_BIT(WATT_ACTIVITY_CPU_TIME) | WATT_KEY_BIT(WATT_ACTIVITY_INSTRUCTIONS),
	.fallback = WATT_KEY_CPU_TIME,
	.weigh = weigh_by_count,
};

static const struct watt_key_ops key_gpu_time = {
	.id = WATT_KEY_GPU_TIME,
	.needs = WATT_KEY_BIT(WATT_ACTIVITY_GPU_TIME),
	.weigh = weigh_by_amount,
};

/* Who holds memory pays for it, whether he does anything with it or not. */
static const struct watt_key_ops key_gpu_memory = {
	.id = WATT_KEY_GPU_MEMORY,
	.needs = WATT_KEY_BIT(WATT_ACTIVITY_GPU_MEMORY),
	.weigh = weigh_by_amount,
};

/* one key per line */
/* clang-format off */
const struct watt_key_ops *const watt_key_registry[] = {
	&key_nobody,
	&key_none,
	&key_cpu_time,
	&key_gpu_time,
	&watt_key_learned_gpu,
	&watt_key_learned_rest,
	&watt_key_learned,
	&key_gpu_memory,
	&key_cycles,
	&key_instructions,
	NULL,
};
/* clang-format on */

const struct watt_key_ops *watt_key_find(const struct watt_key_ops *const *table,
					 enum watt_share_key id, const struct watt_domain *domain)
{
	for (; *table; table++)
		if ((*table)->id == id && (!(*table)->suits || (*table)->suits(domain)))
			return *table;
	return NULL;
}

static int open_key(struct watt_key *key, const struct watt_key_ops *ops,
		    const struct watt_domain *domain)
{
	void *state = ops->state_size ? calloc(1, ops->state_size) : NULL;
	int r = 0;

	if (ops->state_size && !state)
		return -ENOMEM;
	if (ops->init)
		r = ops->init(state, domain);
	if (r < 0) {
		free(state);
		return r;
	}
	*key = (struct watt_key){ ops, state };
	return 0;
}

int watt_key_chain_init(struct watt_key_chain *chain, const struct watt_key_ops *const *table,
			const struct watt_domain *domain)
{
	const struct watt_key_ops *ops = watt_key_find(table, domain->key, domain);
	int r;

	if (!ops)
		return -EINVAL;
	while (ops && chain->n < WATT_KEY_CHAIN) {
		r = open_key(&chain->keys[chain->n], ops, domain);
		if (r < 0)
			return r;
		chain->n++;
		ops = ops->id == WATT_KEY_NONE ? NULL : watt_key_find(table, ops->fallback, domain);
	}
	return 0;
}

void watt_key_chain_done(struct watt_key_chain *chain)
{
	size_t i;

	for (i = 0; i < chain->n; i++) {
		if (chain->keys[i].ops->done)
			chain->keys[i].ops->done(chain->keys[i].state);
		free(chain->keys[i].state);
	}
	*chain = (struct watt_key_chain){ 0 };
}

uint32_t watt_key_readiness_ppm(const struct watt_key *key)
{
	return key->ops->readiness_ppm ? key->ops->readiness_ppm(key->state) : READY_PPM;
}

uint32_t watt_key_uncertainty_ppm(const struct watt_key *key)
{
	return key->ops->uncertainty_ppm ? key->ops->uncertainty_ppm(key->state) : 0;
}

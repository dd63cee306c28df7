/* SPDX-License-Identifier: Apache-2.0 */
/* It must not know what is made of a block. */
#include "attrib/block.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "base/words.h"

#define MOST 1e12

static bool is_same(const struct watt_learned_use *a, const struct watt_learned_use *b)
{
	return a->program == b->program && a->process == b->process;
}

/* Where in the index it is, or would be. */
static size_t seek(const struct watt_block *block, const struct watt_learned_use *use)
{
	size_t size = WATT_ARRAY_SIZE(block->index);
	size_t at = watt_hash_u64(use->program ^ watt_hash_u64(use->process)) % size;

	while (block->index[at] && !is_same(&block->uses[block->index[at] - 1], use))
		at = (at + 1) % size;
	return at;
}

static int append(struct watt_block *block, const struct watt_learned_use *use, size_t at)
{
	int r = watt_grow((void **)&block->uses, &block->cap, block->n, sizeof(*block->uses));
	struct watt_learned_use *mine;

	if (r < 0)
		return r;
	mine = &block->uses[block->n++];
	*mine = (struct watt_learned_use){ .program = use->program,
					   .process = use->process,
					   .is_executable = use->is_executable };
	/* without memory for it, it has no name */
	mine->name = use->name ? strdup(use->name) : NULL;
	mine->cgroup = use->cgroup ? strdup(use->cgroup) : NULL;
	block->index[at] = (uint16_t)block->n;
	return 0;
}

static int add_use(struct watt_block *block, const struct watt_learned_use *use)
{
	static const struct watt_learned_use nobody;
	size_t at = seek(block, use);
	int r = 0;

	if (!block->index[at] && block->n + 1 >= WATT_BLOCK_USES) {
		at = seek(block, &nobody);
		use = block->index[at] ? use : &nobody;
	}
	if (!block->index[at])
		r = append(block, use, at);
	return r < 0 ? r : (int)at;
}

int watt_block_add(struct watt_block *block, const struct watt_learned_slice *slice)
{
	size_t i;

	for (i = 0; i < slice->n_uses; i++) {
		int at = add_use(block, &slice->uses[i]);

		if (at < 0)
			return at;
		block->uses[block->index[at] - 1].cpu_s += slice->uses[i].cpu_s;
		block->uses[block->index[at] - 1].shared_s += slice->uses[i].shared_s;
	}
	block->dt_s += slice->dt_s;
	block->energy_j += slice->energy_j;
	block->capacity_s += slice->dt_s * slice->n_cpus;
	return 0;
}

void watt_block_get(struct watt_block *block, struct watt_learned_slice *ret)
{
	*ret = (struct watt_learned_slice){ .dt_s = block->dt_s,
					    .energy_j = block->energy_j,
					    .uses = block->uses,
					    .n_uses = block->n };
	if (block->dt_s > 0)
		ret->n_cpus = (uint32_t)(block->capacity_s / block->dt_s + 0.5);
	ret->n_cpus = WATT_MAX(ret->n_cpus, 1u);
}

void watt_block_clear(struct watt_block *block)
{
	size_t i;

	for (i = 0; i < block->n; i++) {
		free((char *)block->uses[i].name);
		free((char *)block->uses[i].cgroup);
	}
	if (block->n)
		memset(block->index, 0, sizeof(block->index));
	block->n = 0;
	block->dt_s = block->energy_j = block->capacity_s = 0;
}

void watt_block_done(struct watt_block *block)
{
	watt_block_clear(block);
	free(block->uses);
	*block = (struct watt_block){ 0 };
}

static void visit_use(struct watt_learned_use *use, struct watt_words *words)
{
	char *name = (char *)use->name, *cgroup = (char *)use->cgroup;

	watt_words_u64(words, &use->program, UINT64_MAX);
	watt_words_u64(words, &use->process, UINT64_MAX);
	watt_words_bool(words, &use->is_executable);
	watt_words_double(words, &use->cpu_s, 0, MOST);
	watt_words_text(words, &name);
	watt_words_text(words, &cgroup);
	use->name = name;
	use->cgroup = cgroup;
}

static void load_use(struct watt_block *block, struct watt_words *words)
{
	struct watt_learned_use use = { 0 };
	int at = 0;

	visit_use(&use, words);
	if (!words->error && block->index[seek(block, &use)])
		words->error = -EBADMSG;
	if (!words->error) {
		at = add_use(block, &use);
		words->error = WATT_MIN(at, 0);
	}
	if (!words->error)
		block->uses[block->n - 1].cpu_s = use.cpu_s;
	free((char *)use.name);
	free((char *)use.cgroup);
}

int watt_block_visit(struct watt_block *block, struct watt_words *words)
{
	size_t n = block->n, i;

	watt_words_size(words, &n, WATT_BLOCK_USES);
	for (i = 0; i < n && !words->error; i++) {
		if (words->is_loading)
			load_use(block, words);
		else
			visit_use(&block->uses[i], words);
	}
	watt_words_double(words, &block->dt_s, 0, MOST);
	watt_words_double(words, &block->energy_j, -MOST, MOST);
	watt_words_double(words, &block->capacity_s, 0, MOST);
	if (words->error && words->is_loading)
		watt_block_clear(block);
	return words->error;
}

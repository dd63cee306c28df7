/* SPDX-License-Identifier: Apache-2.0 */
/* Opens sources and finds out what has come. It must not run on the thread of the quick sources. */
#include "sample/lookup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/util.h"

static uint64_t hash_text(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = hash * 31 + (unsigned char)*text;
	return watt_hash_u64(hash);
}

static uint64_t hash_names(const struct watt_env *env, const char *const *dirs)
{
	uint64_t hash = 1;
	size_t i;

	for (; dirs && *dirs; dirs++) {
		struct watt_names names = WATT_NAMES_INIT;

		hash = hash_text(hash, *dirs);
		if (watt_root_list(&env->sysfs, *dirs, "", &names) < 0)
			continue;
		for (i = 0; i < names.n; i++)
			hash = hash_text(hash, names.name[i]);
		watt_names_free(&names);
	}
	return hash;
}

static void look_for_changes(struct watt_lookup *lookup)
{
	uint64_t hash = hash_names(lookup->env, lookup->ops->watched);

	lookup->has_changed = hash != lookup->names_hash || !lookup->ops->watched;
	lookup->names_hash = hash;
}

static void run_lookup(struct watt_reader *reader, struct watt_task *task)
{
	struct watt_lookup *lookup = watt_container_of(task, struct watt_lookup, task);
	const struct watt_known known = { (const char *const *)lookup->known, lookup->n_known };
	uint64_t begin_ns = watt_now_ns();

	lookup->error = 0;
	lookup->power = NULL;
	switch (lookup->kind) {
	case WATT_LOOKUP_OPEN:
		lookup->error = lookup->ops->open(lookup->env, &lookup->power);
		break;
	case WATT_LOOKUP_CHANGES:
		look_for_changes(lookup);
		break;
	case WATT_LOOKUP_RESCAN:
		/* what is wrong with the others was said when they were met first */
		watt_reader_set_quiet(reader, true);
		lookup->error = lookup->ops->rescan(lookup->env, &known, &lookup->power);
		watt_reader_set_quiet(reader, false);
		break;
	}
	lookup->cost_ns = watt_now_ns() - begin_ns;
}

static void drop_lookup(struct watt_task *task)
{
	watt_lookup_free(watt_container_of(task, struct watt_lookup, task));
}

int watt_lookup_new(const struct watt_power_ops *ops, const struct watt_env *env,
		    struct watt_lookup **ret)
{
	struct watt_lookup *lookup = calloc(1, sizeof(*lookup));

	if (!lookup)
		return -ENOMEM;
	lookup->task.run = run_lookup;
	lookup->task.drop = drop_lookup;
	lookup->ops = ops;
	lookup->env = env;
	*ret = lookup;
	return 0;
}

static void forget_known(struct watt_lookup *lookup)
{
	while (lookup->n_known > 0)
		free(lookup->known[--lookup->n_known]);
}

struct watt_lookup *watt_lookup_free(struct watt_lookup *lookup)
{
	if (!lookup)
		return NULL;
	if (lookup->power)
		lookup->ops->close(lookup->power);
	forget_known(lookup);
	free(lookup->known);
	free(lookup);
	return NULL;
}

void watt_lookup_clear(struct watt_lookup *lookup, enum watt_lookup_kind kind)
{
	forget_known(lookup);
	lookup->kind = kind;
	lookup->task.what = kind == WATT_LOOKUP_OPEN ? "opening it" : "looking for what has come";
	lookup->has_changed = false;
	lookup->error = 0;
	lookup->power = NULL;
}

int watt_lookup_add_known(struct watt_lookup *lookup, const char *name)
{
	int r = watt_grow((void **)&lookup->known, &lookup->cap_known, lookup->n_known,
			  sizeof(char *));

	if (r < 0)
		return r;
	lookup->known[lookup->n_known] = strdup(name);
	if (!lookup->known[lookup->n_known])
		return -ENOMEM;
	lookup->n_known++;
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds the domain tree. A path lies inside its prefix; a machine total contains every root that
 * is not itself a total. What overlaps in an unknown way, shows the machine from outside, or
 * measures the total once more is never added.
 */
#include "attrib/tree.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

struct builder {
	const struct watt_channel *const *channels;
	struct watt_tree tree;
};

enum watt_share_key watt_tree_key_of_kind(enum watt_domain_kind kind)
{
	switch (kind) {
	case WATT_DOMAIN_TOTAL:
	case WATT_DOMAIN_PACKAGE:
	case WATT_DOMAIN_CORES:
	case WATT_DOMAIN_DRAM:
	case WATT_DOMAIN_CORE:
	case WATT_DOMAIN_CPU_RAIL:
	case WATT_DOMAIN_SUPPLY:
		return WATT_KEY_CPU_TIME;
	case WATT_DOMAIN_GPU:
	case WATT_DOMAIN_UNCORE: /* the GPU in the CPU's chip */
	case WATT_DOMAIN_GPU_INSTANCE:
		return WATT_KEY_GPU_TIME;
	case WATT_DOMAIN_RAIL:
	case WATT_DOMAIN_RESIDUAL:
		break;
	}
	return WATT_KEY_NONE;
}

bool watt_tree_is_rest(const struct watt_domain *domain)
{
	return watt_tree_key_of_kind(domain->kind) == WATT_KEY_NONE;
}

static void name_domain(struct watt_domain *domain, const char *path)
{
	const char *slash = strrchr(path, '/');

	domain->path = path;
	domain->name = slash ? slash + 1 : path;
}

static const struct watt_channel *channel_of(const struct builder *b, const struct watt_domain *d)
{
	return d->channel < 0 ? NULL : b->channels[d->channel];
}

static int describe_domain(const struct watt_channel *channel, size_t index,
			   struct watt_domain *ret)
{
	*ret = (struct watt_domain){
		.sz = sizeof(*ret),
		.kind = channel->kind,
		.origin = channel->origin,
		.key = watt_tree_key_of_kind(channel->kind),
		.parent = -1,
		.channel = (int32_t)index,
		.package_id = channel->package_id,
		.die_id = channel->die_id,
		.core_id = channel->core_id,
		.uncertainty_ppm = channel->uncertainty_ppm,
	};
	ret->path = strdup(channel->domain);
	if (!ret->path)
		return -ENOMEM;
	name_domain(ret, ret->path);
	return 0;
}

static bool has_flag(const struct builder *b, const struct watt_domain *d, uint32_t flag)
{
	const struct watt_channel *channel = channel_of(b, d);

	return channel && (channel->flags & flag);
}

static int find_path(const struct watt_tree *tree, const char *path)
{
	size_t i;

	for (i = 0; i < tree->n_domains; i++)
		if (!strcmp(tree->domains[i].path, path))
			return (int)i;
	return -1;
}

/* Or read for another one: another channel is better. */
static bool is_unread(const struct builder *b, size_t channel)
{
	return b->channels[channel]->flags & (WATT_CHANNEL_UNREAD | WATT_CHANNEL_HELPS);
}

/* Gives a domain to a channel that can be read, from one that can't. */
static void take_over(struct builder *b, int domain, size_t index)
{
	struct watt_domain *d = &b->tree.domains[domain];
	const char *path = d->path;
	struct watt_domain taken;

	if (describe_domain(b->channels[index], index, &taken) < 0)
		return; /* it stays as it is */
	free((char *)path);
	*d = taken;
}

/*
 * One domain per path, in the order of the channels: the first channel of a path measures it, or
 * the first one that could be read.
 */
static int add_channel_domains(struct builder *b)
{
	struct watt_tree *tree = &b->tree;
	size_t i;
	int r;

	for (i = 0; i < tree->n_channels; i++) {
		const struct watt_channel *channel = b->channels[i];
		int found = find_path(tree, channel->domain);

		if (watt_quantity_is_context(channel->quantity)) {
			tree->domain_of[i] = -1;
			continue;
		}
		tree->domain_of[i] = found >= 0 ? found : (int32_t)tree->n_domains;
		if (found >= 0 && !is_unread(b, i) &&
		    is_unread(b, (size_t)tree->domains[found].channel))
			take_over(b, found, i);
		if (found >= 0)
			continue;
		r = describe_domain(channel, i, &tree->domains[tree->n_domains++]);
		if (r < 0)
			return r;
	}
	return 0;
}

/* The domain whose path is the longest proper prefix; -1: none. */
static int parent_by_path(const struct watt_tree *tree, const char *path)
{
	int best = -1;
	size_t best_len = 0, i;

	for (i = 0; i < tree->n_domains; i++) {
		size_t len = strlen(tree->domains[i].path);

		if (len <= best_len || strncmp(path, tree->domains[i].path, len) ||
		    path[len] != '/')
			continue;
		best = (int)i;
		best_len = len;
	}
	return best;
}

static bool has_children(const struct watt_tree *tree, size_t domain)
{
	size_t i;

	for (i = 0; i < tree->n_domains; i++)
		if (tree->domains[i].parent == (int32_t)domain)
			return true;
	return false;
}

/*
 * The first root total: it stands for the machine, and others count only beside it. One that
 * counts goes before one that stands still.
 */
static int first_total(const struct builder *b)
{
	const struct watt_tree *tree = &b->tree;
	int first = -1;
	size_t i;

	for (i = 0; i < tree->n_domains; i++) {
		const struct watt_domain *d = &tree->domains[i];

		/* one that nobody may add, as "psys-1", has nothing in it that would be */
		if (d->kind != WATT_DOMAIN_TOTAL || d->parent >= 0 ||
		    has_flag(b, d, WATT_CHANNEL_OVERLAP_UNKNOWN))
			continue;
		if (!has_flag(b, d, WATT_CHANNEL_UNREAD))
			return (int)i;
		first = first < 0 ? (int)i : first;
	}
	return first;
}

/* A total that names no parts by its path is one of the whole machine: the first one found. */
static int find_machine_total(const struct builder *b)
{
	const struct watt_tree *tree = &b->tree;
	int total = first_total(b);

	return total < 0 || has_children(tree, (size_t)total) ? -1 : total;
}

/*
 * Whether they tell of the same machine. What is estimated is no part of what is measured; what is
 * simulated is, where somebody asked for both: adding them would count the machine twice.
 */
static bool can_be_part(const struct watt_domain *d, const struct watt_domain *total)
{
	return d->origin == total->origin ||
	       (d->origin != WATT_ORIGIN_ESTIMATED && total->origin != WATT_ORIGIN_ESTIMATED);
}

static bool is_outside(const struct builder *b, const struct watt_domain *d)
{
	return d->kind == WATT_DOMAIN_TOTAL || d->kind == WATT_DOMAIN_SUPPLY ||
	       has_flag(b, d, WATT_CHANNEL_OVERLAP_UNKNOWN);
}

static void link_parents(struct builder *b)
{
	struct watt_tree *tree = &b->tree;
	int total;
	size_t i;

	for (i = 0; i < tree->n_domains; i++)
		tree->domains[i].parent = parent_by_path(tree, tree->domains[i].path);
	total = tree->machine_total = find_machine_total(b);
	if (total < 0)
		return;
	for (i = 0; i < tree->n_domains; i++)
		if (tree->domains[i].parent < 0 && !is_outside(b, &tree->domains[i]) &&
		    can_be_part(&tree->domains[i], &tree->domains[total]))
			tree->domains[i].parent = total;
}

static bool is_same_source(const struct builder *b, const struct watt_domain *a,
			   const struct watt_domain *d)
{
	return !strcmp(channel_of(b, a)->source, channel_of(b, d)->source);
}

/* Named by its path, rather than put below it since it is the machine's. */
static bool has_own_parts(const struct watt_tree *tree, const struct watt_domain *total)
{
	size_t len = strlen(total->path), i;

	for (i = 0; i < tree->n_domains; i++)
		if (!strncmp(tree->domains[i].path, total->path, len) &&
		    tree->domains[i].path[len] == '/')
			return true;
	return false;
}

static bool counts_as_root(const struct builder *b, const struct watt_domain *d, int total)
{
	const struct watt_tree *tree = &b->tree;

	if (d->parent >= 0 || d->kind == WATT_DOMAIN_SUPPLY ||
	    has_flag(b, d, WATT_CHANNEL_OVERLAP_UNKNOWN))
		return false;
	/* Boards with several inputs: totals of one source with parts of their own add up. */
	if (d->kind == WATT_DOMAIN_TOTAL && d != &tree->domains[total])
		return is_same_source(b, &tree->domains[total], d) &&
		       has_own_parts(tree, &tree->domains[total]);
	return true;
}

static void mark_summed(struct builder *b)
{
	struct watt_tree *tree = &b->tree;
	int total = first_total(b);
	bool measured = false, any = false;
	size_t i;

	for (i = 0; i < tree->n_domains; i++) {
		tree->domains[i].is_summed = counts_as_root(b, &tree->domains[i], total);
		any |= tree->domains[i].is_summed;
		measured |= tree->domains[i].is_summed &&
			    tree->domains[i].origin == WATT_ORIGIN_MEASURED;
	}
	for (i = 0; i < tree->n_domains; i++) {
		struct watt_domain *d = &tree->domains[i];

		if (measured && d->origin == WATT_ORIGIN_ESTIMATED)
			d->is_summed = 0; /* never mixed with measured */
		if (!any && d->kind == WATT_DOMAIN_SUPPLY && d->parent < 0)
			d->is_summed = 1; /* nothing else tells of the machine */
	}
}

/* Where nothing but a GPU can be shared it is not worth the while: its key may never be ready. */
static bool is_of_cpus(const struct watt_domain *d)
{
	return watt_tree_key_of_kind(d->kind) == WATT_KEY_CPU_TIME;
}

static bool has_keyed_child(const struct watt_tree *tree, size_t domain)
{
	size_t i;

	for (i = 0; i < tree->n_domains; i++)
		if (tree->domains[i].parent == (int32_t)domain &&
		    (is_of_cpus(&tree->domains[i]) || has_keyed_child(tree, i)))
			return true;
	return false;
}

static int add_residual(struct builder *b, size_t parent)
{
	struct watt_tree *tree = &b->tree;
	const struct watt_domain *p = &tree->domains[parent];
	struct watt_domain *d = &tree->domains[tree->n_domains];
	enum watt_origin origin = p->origin;
	char *path;
	size_t i;

	if (asprintf(&path, "%s/residual", p->path) < 0)
		return -ENOMEM;
	/* worth what the worst of its terms is */
	for (i = 0; i < tree->n_domains; i++)
		if (tree->domains[i].parent == (int32_t)parent && tree->domains[i].is_partition)
			origin = WATT_MAX(origin, tree->domains[i].origin);
	*d = (struct watt_domain){
		.sz = sizeof(*d),
		.kind = WATT_DOMAIN_RESIDUAL,
		.origin = origin,
		.parent = (int32_t)parent,
		.channel = -1,
		.is_partition = 1,
		.package_id = -1,
		.die_id = -1,
		.core_id = -1,
	};
	name_domain(d, path);
	tree->n_domains++;
	return 0;
}

/*
 * Below a summed root: the largest domains that can be shared. A package is taken whole, its
 * cores are a part of it; a total with parts that can be shared is taken as those and the rest.
 */
static int mark_partition(struct builder *b, size_t domain)
{
	struct watt_tree *tree = &b->tree;
	struct watt_domain *d = &tree->domains[domain];
	size_t n = tree->n_domains, i;
	int r;

	if (!has_keyed_child(tree, domain) || (is_of_cpus(d) && d->kind != WATT_DOMAIN_TOTAL)) {
		d->is_partition = 1;
		return 0;
	}
	for (i = 0; i < n; i++) {
		if (tree->domains[i].parent != (int32_t)domain)
			continue;
		r = mark_partition(b, i);
		if (r < 0)
			return r;
	}
	return add_residual(b, domain);
}

static int mark_partitions(struct builder *b)
{
	size_t n = b->tree.n_domains, i;
	int r;

	for (i = 0; i < n; i++) {
		if (!b->tree.domains[i].is_summed)
			continue;
		r = mark_partition(b, i);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Position of each domain when parents come before children and siblings keep their order. */
static void visit(const struct watt_tree *tree, int32_t parent, int32_t *order, size_t *n)
{
	size_t i;

	for (i = 0; i < tree->n_domains; i++) {
		if (tree->domains[i].parent != parent)
			continue;
		order[(*n)++] = (int32_t)i;
		visit(tree, (int32_t)i, order, n);
	}
}

static int sort_tree(struct watt_tree *tree)
{
	struct watt_domain *sorted = calloc(tree->cap_domains, sizeof(*sorted));
	int32_t *order = calloc(tree->n_domains + 1, sizeof(*order));
	int32_t *place = calloc(tree->n_domains + 1, sizeof(*place));
	size_t n = 0, i;

	if (!sorted || !order || !place) {
		free(sorted);
		free(order);
		free(place);
		return -ENOMEM;
	}
	visit(tree, -1, order, &n);
	for (i = 0; i < n; i++)
		place[order[i]] = (int32_t)i;
	for (i = 0; i < n; i++) {
		sorted[i] = tree->domains[order[i]];
		if (sorted[i].parent >= 0)
			sorted[i].parent = place[sorted[i].parent];
	}
	for (i = 0; i < tree->n_channels; i++)
		if (tree->domain_of[i] >= 0)
			tree->domain_of[i] = place[tree->domain_of[i]];
	if (tree->machine_total >= 0)
		tree->machine_total = place[tree->machine_total];
	free(tree->domains);
	tree->domains = sorted;
	free(order);
	free(place);
	return 0;
}

int watt_tree_build(const struct watt_channel *const *channels, size_t n_channels,
		    struct watt_tree *ret)
{
	struct builder b = {
		.channels = channels,
		.tree = { .n_channels = n_channels, .machine_total = -1, .late_total = -1 }
	};
	int r = -ENOMEM;

	/* at most one residual per domain; what is spare is not touched */
	b.tree.cap_domains = 2 * n_channels + 1 + WATT_TREE_SPARE;
	b.tree.domains = calloc(b.tree.cap_domains, sizeof(*b.tree.domains));
	b.tree.shown = calloc(b.tree.cap_domains, sizeof(struct watt_domain *));
	b.tree.domain_of = calloc(n_channels + 1, sizeof(*b.tree.domain_of));
	if (!b.tree.domains || !b.tree.shown || !b.tree.domain_of)
		goto err_free;
	r = add_channel_domains(&b);
	if (r < 0)
		goto err_free;
	link_parents(&b);
	mark_summed(&b);
	r = mark_partitions(&b);
	if (r < 0)
		goto err_free;
	r = sort_tree(&b.tree);
	if (r < 0)
		goto err_free;
	*ret = b.tree;
	return 0;
err_free:
	watt_tree_done(&b.tree);
	return r;
}

/* ---- what comes later ---- */

/* A domain in another place than where it is computed. */
struct watt_tree_view {
	struct watt_domain domain; /* its texts are those of the tree's */
	struct watt_tree_view *next;
};

const struct watt_domain *watt_tree_get(const struct watt_tree *tree, size_t index)
{
	return tree->shown[index] ? tree->shown[index] : &tree->domains[index];
}

static bool contains(const struct watt_tree *tree, int32_t whole, int32_t part)
{
	for (; part >= 0; part = watt_tree_get(tree, (size_t)part)->parent)
		if (part == whole)
			return true;
	return false;
}

/* From now on, the part is shown below the whole. What was shown stays with whoever has it. */
static int show_below(struct watt_tree *tree, size_t part, int32_t whole)
{
	struct watt_tree_view *view;

	if (contains(tree, (int32_t)part, whole))
		return 0; /* the names contradict themselves */
	view = calloc(1, sizeof(*view));
	if (!view)
		return -ENOMEM;
	view->domain = tree->domains[part];
	view->domain.parent = whole;
	view->next = tree->views;
	tree->views = view;
	tree->shown[part] = &view->domain;
	return 0;
}

static bool is_inside(const char *path, const char *whole)
{
	size_t len = strlen(whole);

	return !strncmp(path, whole, len) && path[len] == '/';
}

/* Whether a domain that was there lies inside this one. */
static bool has_parts(const struct watt_tree *tree, const struct watt_domain *d)
{
	size_t i;

	for (i = 0; i < tree->n_domains; i++)
		if (is_inside(tree->domains[i].path, d->path))
			return true;
	return false;
}

static bool has_residual(const struct watt_tree *tree, int32_t whole)
{
	size_t i;

	for (i = 0; i < tree->n_domains; i++)
		if (tree->domains[i].kind == WATT_DOMAIN_RESIDUAL &&
		    tree->domains[i].parent == whole)
			return true;
	return false;
}

static bool is_addable(const struct watt_channel *channel)
{
	return channel->kind != WATT_DOMAIN_TOTAL && channel->kind != WATT_DOMAIN_SUPPLY &&
	       !(channel->flags & WATT_CHANNEL_OVERLAP_UNKNOWN);
}

/* Whether a new root is added to the machine's energy: none that is added now is counted twice. */
static bool is_new_root(const struct watt_tree *tree, const struct watt_domain *d,
			const struct watt_channel *channel)
{
	bool any = false;
	size_t i;

	for (i = 0; i < tree->n_domains; i++) {
		if (!tree->domains[i].is_summed)
			continue;
		any = true;
		/* never mixed with measured; a supply shows the machine from outside */
		if (tree->domains[i].origin != d->origin ||
		    tree->domains[i].kind == WATT_DOMAIN_SUPPLY ||
		    tree->domains[i].kind == WATT_DOMAIN_TOTAL)
			return false;
	}
	if (has_parts(tree, d))
		return false;
	return is_addable(channel) || (!any && channel->kind == WATT_DOMAIN_TOTAL);
}

static void place_late(struct watt_tree *tree, const struct watt_channel *channel,
		       struct watt_domain *d)
{
	d->parent = parent_by_path(tree, d->path);
	if (d->parent < 0 && tree->machine_total >= 0 && is_addable(channel) &&
	    !has_parts(tree, d) && can_be_part(d, &tree->domains[tree->machine_total]))
		d->parent = tree->machine_total;
	if (d->parent < 0)
		d->is_summed = d->is_partition = is_new_root(tree, d, channel);
	else
		d->is_partition = has_residual(tree, d->parent);
}

/* Whether what is shown below `parent` now belongs closer below a whole of that path. */
static bool is_closer(const struct watt_tree *tree, const char *whole, int32_t parent)
{
	return parent < 0 || !is_inside(tree->domains[parent].path, whole);
}

static bool is_root_of(const struct builder *b, const struct watt_domain *total, size_t i)
{
	const struct watt_domain *d = &b->tree.domains[i];

	return watt_tree_get(&b->tree, i)->parent < 0 && !is_outside(b, d) && can_be_part(d, total);
}

/* What was there already, and lies inside the newest domain. */
static int show_parts(struct builder *b, size_t whole)
{
	struct watt_tree *tree = &b->tree;
	const struct watt_domain *d = &tree->domains[whole];
	bool is_total = tree->late_total == (int32_t)whole;
	size_t i;
	int r = 0;

	for (i = 0; i < whole && r == 0; i++)
		if (is_total ? is_root_of(b, d, i) :
			       is_inside(tree->domains[i].path, d->path) &&
				       is_closer(tree, d->path, watt_tree_get(tree, i)->parent))
			r = show_below(tree, i, (int32_t)whole);
	return r;
}

/* Where the newest domain is shown, and what is shown below it. */
static int show_late(struct builder *b, size_t newest)
{
	struct watt_tree *tree = &b->tree;
	const struct watt_domain *d = &tree->domains[newest];
	int32_t total = tree->machine_total >= 0 ? tree->machine_total : tree->late_total;
	int r = 0;

	if (d->parent < 0 && d->kind == WATT_DOMAIN_TOTAL && total < 0 && !has_parts(tree, d) &&
	    !has_flag(b, d, WATT_CHANNEL_OVERLAP_UNKNOWN))
		tree->late_total = (int32_t)newest;
	else if (d->parent < 0 && total >= 0 && is_root_of(b, &tree->domains[total], newest))
		r = show_below(tree, newest, total);
	return r < 0 ? r : show_parts(b, newest);
}

int watt_tree_grow(struct watt_tree *tree, const struct watt_channel *const *channels,
		   size_t n_channels)
{
	int32_t *domain_of;
	int r;

	if (n_channels <= tree->n_channels)
		return 0;
	domain_of = reallocarray(tree->domain_of, n_channels + 1, sizeof(*domain_of));
	if (!domain_of)
		return -ENOMEM;
	tree->domain_of = domain_of;
	for (; tree->n_channels < n_channels; tree->n_channels++) {
		const struct watt_channel *channel = channels[tree->n_channels];
		struct watt_domain *d = &tree->domains[tree->n_domains];
		int found = find_path(tree, channel->domain);

		if (watt_quantity_is_context(channel->quantity)) {
			domain_of[tree->n_channels] = -1;
			continue;
		}
		domain_of[tree->n_channels] = found >= 0 ? found : (int32_t)tree->n_domains;
		if (found >= 0)
			continue;
		if (tree->n_domains == tree->cap_domains)
			return -ENOSPC;
		r = describe_domain(channel, tree->n_channels, d);
		if (r < 0)
			return r;
		place_late(tree, channel, d);
		tree->n_domains++;
	}
	return 0;
}

int watt_tree_add_instance(struct watt_tree *tree, const char *path)
{
	struct watt_domain *d = &tree->domains[tree->n_domains];
	int parent = parent_by_path(tree, path);
	enum watt_origin origin;
	char *copy;

	if (parent < 0 || tree->domains[parent].kind != WATT_DOMAIN_GPU ||
	    find_path(tree, path) >= 0 || tree->n_domains == tree->cap_domains)
		return 1;
	copy = strdup(path);
	if (!copy)
		return -ENOMEM;
	origin = WATT_MAX(tree->domains[parent].origin, WATT_ORIGIN_ESTIMATED);
	*d = (struct watt_domain){
		.sz = sizeof(*d),
		.kind = WATT_DOMAIN_GPU_INSTANCE,
		.origin = origin,
		.key = tree->domains[parent].key,
		.parent = parent,
		.channel = -1,
		.package_id = -1,
		.die_id = -1,
		.core_id = -1,
	};
	name_domain(d, copy);
	tree->n_domains++;
	return 0;
}

int watt_tree_show(struct watt_tree *tree, const struct watt_channel *const *channels, size_t first)
{
	struct builder b = { .channels = channels, .tree = *tree };
	int r = 0;

	for (; first < tree->n_domains && r == 0; first++)
		r = show_late(&b, first);
	*tree = b.tree;
	return r;
}

void watt_tree_done(struct watt_tree *tree)
{
	size_t i;

	while (tree->views) {
		struct watt_tree_view *view = tree->views;

		tree->views = view->next;
		free(view);
	}
	for (i = 0; i < tree->n_domains; i++)
		free((char *)tree->domains[i].path);
	free(tree->shown);
	free(tree->domains);
	free(tree->domain_of);
	*tree = (struct watt_tree){ 0 };
}

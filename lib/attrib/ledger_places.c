/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which places are a domain's: slots of CPUs by their package, die and core, others by their path.
 * It must not know who acts there.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "attrib/state.h"

static bool is_place_of(const struct watt_domain *d, const struct watt_cpu_place *place)
{
	return (d->package_id < 0 || place->package_id < 0 || d->package_id == place->package_id) &&
	       (d->die_id < 0 || place->die_id < 0 || d->die_id == place->die_id) &&
	       (d->core_id < 0 || place->core_id < 0 || d->core_id == place->core_id);
}

/* Several slots, and none has a place: the first one has everything until others are needed. */
static bool is_whole(const struct watt_attrib *at)
{
	uint32_t i = 0;

	while (at->places && i < at->n_slots && at->places[i].package_id < 0)
		i++;
	return at->places && at->n_slots > 1 && i == at->n_slots;
}

/*
 * A slot of several that has no place yet is for CPUs that may come. The one behind all stands for
 * CPUs that are in no slot.
 */
static bool is_slot_of(const struct watt_attrib *at, const struct watt_domain *domain,
		       uint32_t slot)
{
	if (is_whole(at))
		return slot == 0 || slot == at->n_slots || domain->package_id < 0;
	if (slot == at->n_slots)
		return domain->package_id < 0;
	if (!at->places)
		return true;
	if (at->n_slots > 1 && at->places[slot].package_id < 0)
		return domain->package_id < 0;
	return is_place_of(domain, &at->places[slot]);
}

/* Whether what lies at this path is a part of the domain, by its name or in the tree. */
static bool is_path_of(const struct watt_tree *tree, const struct watt_domain *domain,
		       const char *path)
{
	size_t len = strlen(domain->path), i;
	int32_t d;

	if (!strncmp(path, domain->path, len) && (!path[len] || path[len] == '/'))
		return true;
	for (i = 0; i < tree->n_domains; i++)
		if (!strcmp(tree->domains[i].path, path))
			for (d = (int32_t)i; d >= 0; d = watt_tree_get(tree, (size_t)d)->parent)
				if (&tree->domains[d] == domain)
					return true;
	return false;
}

/* CPUs go by their slots, anything else by where it lies. None is an instance's of a GPU. */
static bool has_slot(const struct watt_attrib *at, const struct watt_ledger *ledger, uint32_t slot)
{
	return slot <= at->n_slots && !watt_ledger_is_instance(ledger) &&
	       is_slot_of(at, ledger->domain, slot);
}

static bool has_place(const struct watt_attrib *at, const struct watt_ledger *ledger,
		      enum watt_activity_kind kind, const char *path)
{
	uint32_t slot;

	if (watt_activity_is_of_cpus(kind))
		return watt_activity_cpus_slot(path, &slot) == 0 && has_slot(at, ledger, slot);
	if (watt_ledger_is_instance(ledger))
		return watt_instance_has_path(ledger->domain, path);
	return is_path_of(&at->tree, ledger->domain, path);
}

static int add_place(const struct watt_attrib *at, struct watt_ledger *ledger,
		     enum watt_activity_kind kind, const char *path)
{
	uint32_t n = ledger->n_places[kind];
	bool *has = realloc(ledger->has_place[kind], (n + 1) * sizeof(*has));

	if (!has)
		return -ENOMEM;
	has[n] = has_place(at, ledger, kind, path);
	ledger->has_place[kind] = has;
	ledger->n_places[kind]++;
	return 0;
}

/* A domain that comes late may have places that came before it. */
static int add_known_places(const struct watt_attrib *at, struct watt_ledger *ledger)
{
	enum watt_activity_kind kind;
	size_t i;
	int r = 0;

	for (kind = 0; kind < WATT_N_ACTIVITIES; kind++)
		for (i = 0; i < at->activities[kind].n_places && r == 0; i++)
			r = add_place(at, ledger, kind, at->activities[kind].places[i].path);
	return r;
}

int watt_ledgers_add_place(struct watt_attrib *at, enum watt_activity_kind kind, const char *path)
{
	size_t i;
	int r = 0;

	for (i = 0; i < at->n_ledgers && r == 0; i++)
		if (at->ledgers[i].n_places[kind] == at->activities[kind].n_places)
			r = add_place(at, &at->ledgers[i], kind, path);
	return r;
}

int watt_ledger_init_places(const struct watt_attrib *at, struct watt_ledger *ledger)
{
	bool *has = calloc(at->n_slots + 1, sizeof(*has));
	uint32_t i;

	if (!has)
		return -ENOMEM;
	for (i = 0; i <= at->n_slots; i++)
		has[i] = has_slot(at, ledger, i);
	ledger->has_place[WATT_ACTIVITY_CPU_TIME] = has;
	ledger->n_places[WATT_ACTIVITY_CPU_TIME] = at->n_slots + 1;
	return add_known_places(at, ledger);
}

static void take_slots(const struct watt_attrib *at, struct watt_ledger *ledger)
{
	enum watt_activity_kind kind;
	uint32_t i;

	for (i = 0; i <= at->n_slots; i++)
		ledger->has_place[WATT_ACTIVITY_CPU_TIME][i] = has_slot(at, ledger, i);
	for (kind = 0; kind < WATT_N_ACTIVITIES; kind++)
		for (i = 0; watt_activity_is_of_cpus(kind) && i < ledger->n_places[kind]; i++)
			ledger->has_place[kind][i] =
				has_place(at, ledger, kind, at->activities[kind].places[i].path);
}

void watt_ledgers_take_slots(struct watt_attrib *at)
{
	size_t i;

	for (i = 0; i < at->n_ledgers; i++)
		take_slots(at, &at->ledgers[i]);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instances of a GPU: nobody measures them, so each has what those who are active in it have of
 * their GPU's energy, to the nJ. What is idle, and what nobody in an instance has taken, is the
 * GPU's alone: instances and that are the GPU.
 */
#include <string.h>

#include "attrib/state.h"

bool watt_instance_has_path(const struct watt_domain *instance, const char *path)
{
	size_t gpu_len = (size_t)(instance->name - instance->path);
	const char *slash = strrchr(path, '/');

	return slash && !strcmp(slash + 1, instance->name) &&
	       !strncmp(path, instance->path, gpu_len);
}

bool watt_instance_is_there(const struct watt_attrib *at, const struct watt_ledger *instance)
{
	return watt_activities_are_there(at, WATT_ACTIVITY_GPU_TIME, instance->domain->path);
}

const struct watt_ledger *watt_ledger_get_divider(const struct watt_attrib *at,
						  const struct watt_ledger *ledger)
{
	return watt_ledger_is_instance(ledger) ? &at->ledgers[ledger->domain->parent] : ledger;
}

static bool is_instance_of(const struct watt_attrib *at, const struct watt_ledger *ledger,
			   const struct watt_ledger *gpu)
{
	return ledger != gpu && watt_ledger_get_divider(at, ledger) == gpu;
}

/* The instance at whose place a part was. NULL: none. */
static struct watt_ledger *find_instance(struct watt_attrib *at, const struct watt_ledger *gpu,
					 const struct watt_part *part)
{
	uint32_t place = part->use->place;
	size_t i;

	for (i = 0; i < at->n_ledgers; i++) {
		struct watt_ledger *ledger = &at->ledgers[i];

		if (is_instance_of(at, ledger, gpu) && place < ledger->n_places[part->kind] &&
		    ledger->has_place[part->kind][place])
			return ledger;
	}
	return NULL;
}

/* The same nJ in both. */
static void give(struct watt_attrib *at, struct watt_ledger *ledger, const struct watt_part *part)
{
	size_t domain = (size_t)(ledger->domain - at->tree.domains);

	ledger->energy_nj += part->share_nj;
	if (part->use->actor) {
		watt_member_add_energy(part->use->actor, domain, part->share_nj);
		return;
	}
	ledger->unattributed_nj += part->share_nj;
	at->unattributed->energy_nj[domain] += part->share_nj;
}

static void advance(const struct watt_attrib *at, struct watt_ledger *ledger,
		    const struct watt_ledger *gpu, const struct watt_slice *slice)
{
	size_t w;

	for (w = 0; w < at->accounts.n_windows && !ledger->is_started; w++)
		ledger->bases[w].t_ns = slice->t0_ns;
	if (!ledger->is_started)
		ledger->start_ns = slice->t0_ns;
	ledger->is_started = true;
	ledger->key = gpu->key;
	ledger->cursor_ns = slice->t1_ns;
}

void watt_instances_advance(struct watt_attrib *at, const struct watt_ledger *gpu,
			    const struct watt_slice *slice, const struct watt_key_slice *view,
			    size_t n)
{
	size_t i;

	for (i = 0; gpu->n_instances && i < n; i++) {
		struct watt_ledger *ledger = find_instance(at, gpu, &view->parts[i]);

		if (ledger)
			give(at, ledger, &view->parts[i]);
	}
	for (i = 0; gpu->n_instances && i < at->n_ledgers; i++)
		if (is_instance_of(at, &at->ledgers[i], gpu))
			advance(at, &at->ledgers[i], gpu, slice);
}

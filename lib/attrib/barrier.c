/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A barrier: attribution stops at the end of one slice in every domain, until all have got there. A
 * snapshot taken then means the same time everywhere, however slow a sensor is.
 */
#include "attrib/state.h"

#include "base/util.h"

/* What a domain has attributed already can't be taken back: t_ns, or where the quickest is. */
static uint64_t not_before_the_quickest(const struct watt_attrib *at, uint64_t t_ns)
{
	size_t i;

	for (i = 0; i < at->tree.n_domains; i++)
		if (at->ledgers[i].is_started)
			t_ns = WATT_MAX(t_ns, at->ledgers[i].cursor_ns);
	return t_ns;
}

void watt_attrib_set_barrier(struct watt_attrib *at, uint64_t t_ns)
{
	/* all others are to get there, and no further */
	at->barrier_ns = t_ns ? not_before_the_quickest(at, t_ns) : 0;
}

uint64_t watt_attrib_cut_ns(const struct watt_attrib *at, uint64_t t_ns)
{
	size_t i;

	if (!at->had_sweep)
		return 0;
	t_ns = not_before_the_quickest(at, t_ns);
	if (at->slices.n && watt_slices_get(&at->slices, 0)->t0_ns >= t_ns)
		return watt_slices_get(&at->slices, 0)->t0_ns;
	for (i = 0; i < at->slices.n; i++)
		if (watt_slices_get(&at->slices, i)->t1_ns >= t_ns)
			return watt_slices_get(&at->slices, i)->t1_ns;
	return at->last_sweep_ns >= t_ns ? at->last_sweep_ns : 0;
}

bool watt_attrib_is_at_barrier(const struct watt_attrib *at, const struct watt_timeline *tl)
{
	size_t i;

	if (!at->barrier_ns || at->last_sweep_ns < at->barrier_ns)
		return false;
	for (i = 0; i < at->tree.n_domains; i++) {
		const struct watt_slice *next =
			watt_slices_find(&at->slices, at->ledgers[i].next_seq);

		/*
		 * What is not waited for comes with a later snapshot, and its status says so. One
		 * that waits for an activity may have taken nothing yet.
		 */
		if (next && next->t0_ns < at->barrier_ns &&
		    watt_ledger_status(at, &at->ledgers[i], tl) == WATT_STATUS_OK)
			return false;
	}
	return true;
}

static void count_ahead(struct watt_account *account, uint64_t cpu_ns)
{
	size_t i;

	if (!account)
		return;
	account->ahead_cpu_ns += cpu_ns;
	for (i = 0; i < WATT_ACCOUNT_UPS && account->up[i]; i++)
		account->up[i]->ahead_cpu_ns += cpu_ns;
}

static void forget_ahead(const struct watt_accounts *accounts)
{
	struct watt_member *member;
	size_t i;

	for (i = 0; i < accounts->n; i++) {
		accounts->list[i]->ahead_cpu_ns = 0;
		if (accounts->list[i]->kind != WATT_ENTITY_THREAD)
			continue;
		for (member = accounts->list[i]->members; member; member = member->next)
			member->ahead_cpu_ns = 0;
	}
}

void watt_barrier_count_ahead(struct watt_attrib *at)
{
	size_t i, u, s;

	forget_ahead(&at->accounts);
	for (i = 0; at->barrier_ns && i < at->slices.n; i++) {
		const struct watt_slice *slice = watt_slices_get(&at->slices, i);

		const struct watt_uses *uses = &slice->uses[WATT_ACTIVITY_CPU_TIME];

		for (u = 0; slice->t0_ns >= at->barrier_ns && u < uses->n; u++) {
			const struct watt_use *use = &uses->list[u];

			if (!use->actor)
				continue;
			use->actor->ahead_cpu_ns += use->amount;
			count_ahead(use->actor->self, use->amount);
			for (s = 0; s < WATT_MEMBER_SUMS; s++)
				count_ahead(use->actor->sums[s], use->amount);
		}
	}
}

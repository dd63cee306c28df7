/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The readers of a session, each with a window of its own: where it began is kept with every
 * account and every ledger. Room for windows is made when it is needed, and used again.
 */
#include "attrib/state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MORE_WINDOWS 4

int watt_cursors_init(struct watt_attrib *at)
{
	at->cursors = calloc(at->accounts.n_windows, sizeof(*at->cursors));
	if (!at->cursors)
		return -ENOMEM;
	at->cursors[0].is_open = true;
	return 0;
}

int watt_cursors_find(const struct watt_attrib *at, uint32_t id, size_t *ret_reader)
{
	size_t i;

	for (i = 0; i < at->accounts.n_windows; i++) {
		if (!at->cursors[i].is_open || at->cursors[i].id != id)
			continue;
		*ret_reader = i;
		return 0;
	}
	return -ESRCH;
}

static int add_windows(struct watt_attrib *at)
{
	size_t had = at->accounts.n_windows, n = had + MORE_WINDOWS;
	struct watt_cursor_state *cursors;
	int r;

	cursors = reallocarray(at->cursors, n, sizeof(*cursors));
	if (!cursors)
		return -ENOMEM;
	memset(&cursors[had], 0, MORE_WINDOWS * sizeof(*cursors));
	at->cursors = cursors;
	r = watt_ledgers_add_windows(at, n);
	return r < 0 ? r : watt_accounts_add_windows(&at->accounts, n);
}

static void rebase_ledger(const struct watt_ledger *ledger, struct watt_ledger_base *base)
{
	*base = (struct watt_ledger_base){
		.t_ns = ledger->cursor_ns,
		.n_told = ledger->n_told,
		.energy_nj = ledger->energy_nj,
		.idle_nj = ledger->idle_nj,
		.unattributed_nj = ledger->unattributed_nj,
		.shared_idle_nj = ledger->shared_idle_nj,
		.clamped_ns = ledger->clamped_ns,
		.transient_ns = ledger->transient_ns,
	};
}

void watt_cursors_begin_window(struct watt_attrib *at, size_t reader, uint64_t t_ns)
{
	size_t i;

	for (i = 0; i < at->tree.n_domains; i++)
		rebase_ledger(&at->ledgers[i], &at->ledgers[i].bases[reader]);
	watt_accounts_rebase(&at->accounts, reader);
	at->cursors[reader].window_start_ns = at->had_sweep ? t_ns : 0;
}

/* Nobody owes it a last row: it has seen none. */
static void forget_rows(struct watt_attrib *at, size_t reader)
{
	size_t i;

	for (i = 0; i < at->accounts.n; i++)
		at->accounts.list[i]->looks[reader].is_owed = false;
}

int watt_attrib_open_cursor(struct watt_attrib *at, uint32_t id, uint64_t t_ns)
{
	size_t reader;
	int r;

	if (watt_cursors_find(at, id, &reader) == 0)
		return -EEXIST;
	for (reader = 0; reader < at->accounts.n_windows && at->cursors[reader].is_open; reader++)
		;
	if (reader > WATT_CURSORS_MAX) /* and the session's own */
		return -EMFILE;
	if (reader == at->accounts.n_windows) {
		r = add_windows(at);
		if (r < 0)
			return r;
	}
	r = watt_gauges_begin(at, reader, t_ns);
	if (r < 0)
		return r;
	at->cursors[reader].id = id;
	at->cursors[reader].is_open = true;
	at->cursors[reader].n_snapshots = 0;
	watt_barrier_count_ahead(at);
	watt_cursors_begin_window(at, reader, t_ns);
	forget_rows(at, reader);
	return 0;
}

int watt_attrib_close_cursor(struct watt_attrib *at, uint32_t id)
{
	size_t reader;
	int r;

	r = id ? watt_cursors_find(at, id, &reader) : -EINVAL;
	if (r < 0)
		return r;
	at->cursors[reader].is_open = false;
	forget_rows(at, reader);
	return 0;
}

int watt_attrib_window_start_ns(const struct watt_attrib *at, uint32_t cursor, uint64_t *ret_t_ns)
{
	size_t reader;
	int r = watt_cursors_find(at, cursor, &reader);

	if (r < 0)
		return r;
	*ret_t_ns = at->cursors[reader].window_start_ns;
	if (!*ret_t_ns)
		*ret_t_ns = at->first_sweep_ns;
	return 0;
}

size_t watt_attrib_gone_count(const struct watt_attrib *at)
{
	return at->n_gone;
}

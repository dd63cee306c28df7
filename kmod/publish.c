// SPDX-License-Identifier: GPL-2.0-only
#include "publish.h"

#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/time64.h>

#include "ledger.h"
#include "params.h"
#include "pause.h"
#include "rapl.h"
#include "system.h"
#include "unit.h"

/* Dead processes stay for two windows, and as long as RCU may keep their threads. */
#define GRACE_NS NSEC_PER_SEC

static struct watt_window windows[WATT_WINDOWS];
static u64 writing, done; /* numbers of windows; the first is 1 */

static size_t n_rapl(void)
{
	return (size_t)watt_units_count() * WATT_RAPL_N;
}

int watt_publish_init(void)
{
	unsigned int i;

	for (i = 0; i < WATT_WINDOWS; i++) {
		windows[i].rapl_nj = kcalloc(n_rapl(), sizeof(u64), GFP_KERNEL);
		if (!windows[i].rapl_nj) {
			watt_publish_done();
			return -ENOMEM;
		}
	}
	return 0;
}

void watt_publish_done(void)
{
	unsigned int i;

	for (i = 0; i < WATT_WINDOWS; i++) {
		kfree(windows[i].rapl_nj);
		windows[i].rapl_nj = NULL;
	}
}

static void show_machine(struct watt_window *window, u64 now_ns, u64 n_samples)
{
	unsigned int unit, domain;

	window->end_ns = now_ns;
	window->n_samples = n_samples;
	window->sample_ns = watt_param_sample_ns();
	window->window_ns = watt_param_window_ns();
	watt_system_read(&window->counts);
	window->energy = watt_ledger_total();
	window->idle = watt_ledger_idle();
	window->unlisted = watt_process_unlisted()->energy;
	for (unit = 0; unit < watt_units_count(); unit++)
		for (domain = 0; domain < WATT_RAPL_N; domain++)
			if (watt_rapl_has(unit, domain))
				window->rapl_nj[unit * WATT_RAPL_N + domain] =
					watt_rapl_energy_nj(unit, domain) |
					(watt_rapl_is_read(unit) ? 0 : WATT_RAPL_OLD);
}

static void show_process(struct watt_process *process, u64 window)
{
	struct watt_state *state = &process->shown[window % WATT_WINDOWS];

	if (process->last_window || !process->n_to_show)
		return;
	process->n_to_show--;
	if (process->is_final)
		watt_process_refresh_dead(process);
	state->counts = process->now;
	state->energy = process->energy;
	state->is_alive = process->is_alive;
	if (process->first_window)
		return;
	/* What it used before its first window is all new, if it was born in it. */
	if (!process->is_newborn) {
		struct watt_state *before = &process->shown[(window - 1) % WATT_WINDOWS];

		before->counts = process->now;
	}
	/* with what shown[] has of it: watt_publish_get_process() */
	smp_store_release(&process->first_window, window);
}

static void show_processes(u64 window)
{
	struct list_head *all = watt_processes_all();
	struct watt_process *process;

	list_for_each_entry(process, all, node) {
		show_process(process, window);
		watt_pause_after_one();
	}
}

static bool is_crowded(void)
{
	return watt_processes_count() > watt_param_max_processes() / 4 * 3;
}

/* Decides what becomes of a dead one. True: it was removed. */
static bool bury(struct watt_process *process, u64 window, u64 now_ns)
{
	if (!process->is_final)
		return false;
	if (!process->dead_window) {
		process->dead_window = window;
		process->dead_ns = now_ns;
	} else if (process->last_window) {
		if (window < process->last_window + WATT_WINDOWS)
			return false;
		watt_process_remove(process);
		return true;
	} else if (window > process->dead_window + 1 &&
		   (now_ns - process->dead_ns >= GRACE_NS || is_crowded())) {
		WRITE_ONCE(process->last_window, window - 1);
		watt_amount_add(&watt_process_unlisted()->energy, &process->energy);
	}
	return false;
}

static struct watt_process *bury_all(struct watt_process *dying, u64 window, u64 now_ns)
{
	struct watt_process *next, *stay = NULL;

	for (; dying; dying = next) {
		next = dying->next_dead;
		watt_pause_after_one();
		if (bury(dying, window, now_ns))
			continue;
		dying->next_dead = stay;
		stay = dying;
	}
	return stay;
}

struct watt_process *watt_publish(u64 now_ns, u64 n_samples, struct watt_process *dying)
{
	u64 window = writing + 1;

	WRITE_ONCE(writing, window);
	smp_wmb(); /* whoever sees anything of what follows sees this */
	dying = bury_all(dying, window, now_ns);
	watt_processes_free_removed();
	show_processes(window);
	watt_pause();
	show_machine(&windows[window % WATT_WINDOWS], now_ns, n_samples);
	/* with all that it shows: watt_publish_window() */
	smp_store_release(&done, window);
	return dying;
}

u64 watt_publish_window(void)
{
	/* before what it shows: watt_publish() */
	return smp_load_acquire(&done);
}

/* Whether `window` and the one before were left alone until now. */
static bool is_intact(u64 window)
{
	smp_rmb(); /* what was read before is not newer */
	return READ_ONCE(writing) <= window + 1;
}

void watt_publish_get(u64 *window, struct watt_window *ret, u64 *ret_rapl_nj)
{
	while (true) {
		const struct watt_window *from = &windows[*window % WATT_WINDOWS];

		*ret = *from;
		if (ret_rapl_nj)
			memcpy(ret_rapl_nj, from->rapl_nj, n_rapl() * sizeof(u64));
		if (is_intact(*window))
			break;
		*window = watt_publish_window();
	}
	ret->rapl_nj = ret_rapl_nj;
}

bool watt_publish_get_process(const struct watt_process *process, u64 *window,
			      struct watt_state *ret, struct watt_state *ret_before)
{
	u64 first, last;

	do {
		/* before shown[]: show_process() */
		first = smp_load_acquire(&process->first_window);
		last = READ_ONCE(process->last_window);
		*ret = process->shown[*window % WATT_WINDOWS];
		*ret_before = process->shown[(*window - 1) % WATT_WINDOWS];
		if (is_intact(*window))
			return first && first <= *window && (!last || last >= *window);
		*window = watt_publish_window();
	} while (true);
}

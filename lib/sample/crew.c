/* SPDX-License-Identifier: Apache-2.0 */
/* Who reads: threads that start, stop, hang and are given up. What they read is not known here. */
#include "sample/crew.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <wattribute/session.h>

#include "base/clock.h"
#include "base/util.h"

/* What takes longer than this hangs. */
#define HUNG_NS (5 * WATT_NSEC_PER_SEC)

static int add(struct watt_crew *crew, const char *name, bool is_blocking, bool is_realtime,
	       const struct watt_env *env, struct watt_crew_member **ret)
{
	const struct watt_reader_opts opts = {
		.name = name,
		.env = env,
		.epoch_ns = crew->opts->epoch_ns,
		/* what can block may also compute for long: it must never be above others */
		.is_realtime = is_realtime && !crew->opts->is_never_realtime,
	};
	struct watt_crew_member *member = calloc(1, sizeof(*member));
	int r = member ? 0 : -ENOMEM;

	if (r == 0)
		r = watt_grow((void **)&crew->members, &crew->cap, crew->n,
			      sizeof(struct watt_crew_member *));
	if (r == 0)
		r = watt_reader_new(&opts, &member->reader);
	if (r < 0) {
		free(member);
		return r;
	}
	member->name = name;
	watt_strlcpy(member->title, name, sizeof(member->title));
	member->is_blocking = is_blocking;
	crew->members[crew->n++] = member;
	*ret = member;
	return 0;
}

static void free_member(struct watt_crew_member *member)
{
	watt_reader_free(member->reader);
	free(member);
}

void watt_crew_done(struct watt_crew *crew)
{
	bool is_given_up = false;
	size_t i;

	for (i = 0; i < crew->n; i++)
		is_given_up |= crew->members[i]->is_given_up && crew->members[i] != crew->finder;
	/* its environment is that of sources that others read */
	for (i = 0; i < crew->n; i++)
		if (crew->members[i] != crew->finder)
			free_member(crew->members[i]);
	if (crew->finder && !is_given_up)
		free_member(crew->finder);
	free(crew->members);
	*crew = (struct watt_crew){ 0 };
}

int watt_crew_add_waiting(struct watt_crew *crew, const struct watt_power_ops *ops,
			  const struct watt_env *env, struct watt_crew_member **ret)
{
	int r = add(crew, ops->name, true, false, env, ret);

	if (r == 0 && ops->flags & WATT_POWER_FAREWELL)
		watt_reader_set_farewell((*ret)->reader);
	return r;
}

int watt_crew_add_finder(struct watt_crew *crew, const struct watt_env *env)
{
	return crew->finder ? 0 : add(crew, "watt-finder", false, false, env, &crew->finder);
}

struct watt_crew_member *watt_crew_find_waiting(const struct watt_crew *crew,
						const struct watt_power_ops *ops)
{
	size_t i;

	for (i = 0; i < crew->n; i++)
		if (crew->members[i]->is_blocking && crew->members[i]->name == ops->name)
			return crew->members[i];
	return NULL;
}

struct watt_crew_member *watt_crew_find(const struct watt_crew *crew,
					const struct watt_reader *reader)
{
	size_t i = 0;

	while (crew->members[i]->reader != reader)
		i++;
	return crew->members[i];
}

int watt_crew_get(struct watt_crew *crew, const struct watt_power_ops *ops,
		  struct watt_crew_member **ret)
{
	bool is_blocking = ops->flags & WATT_POWER_BLOCKING;
	int r;

	*ret = is_blocking ? watt_crew_find_waiting(crew, ops) : crew->fast;
	if (*ret)
		return 0;
	if (is_blocking)
		return watt_crew_add_waiting(crew, ops, NULL, ret);
	r = add(crew, "watt-fast", false, true, NULL, ret);
	if (r == 0)
		crew->fast = *ret;
	return r;
}

int watt_crew_get_tier(struct watt_crew *crew, struct watt_crew_member *first, enum watt_tier tier,
		       struct watt_crew_member **ret)
{
	char thread[16];
	size_t i;
	int r;

	for (i = 0; i < crew->n; i++) {
		*ret = crew->members[i];
		if ((*ret)->is_blocking && (*ret)->name == first->name && (*ret)->has_tier &&
		    (*ret)->tier == tier)
			return 0;
	}
	*ret = first;
	if (first->has_tier) {
		snprintf(thread, sizeof(thread), "%.8s-%s", first->name, watt_tier_name(tier));
		r = add(crew, thread, true, false, watt_reader_get_env(first->reader), ret);
		if (r < 0)
			return r;
		(*ret)->name = first->name;
		snprintf((*ret)->title, sizeof((*ret)->title), "%.12s, %s tier", first->name,
			 watt_tier_name(tier));
	}
	(*ret)->has_tier = true;
	(*ret)->tier = tier;
	return 0;
}

void watt_crew_set_env(struct watt_crew *crew, const struct watt_power_ops *ops,
		       const struct watt_env *env)
{
	size_t i;

	for (i = 0; i < crew->n; i++)
		if (crew->members[i]->is_blocking && crew->members[i]->name == ops->name)
			watt_reader_set_env(crew->members[i]->reader, env);
}

/* ---- running ---- */

void watt_crew_watch_deadline(struct watt_crew *crew, struct watt_crew_member *member,
			      uint64_t now_ns)
{
	const char *what;
	uint64_t since_ns = watt_reader_busy_since_ns(member->reader, &what);
	bool is_hung = since_ns && now_ns > since_ns + HUNG_NS;

	if (is_hung && !member->has_hung)
		watt_log(&crew->opts->log, WATT_LOG_WARNING,
			 "%s: %s has taken more than %u s: it is stale; nothing waits for it",
			 member->title, what, (unsigned int)(HUNG_NS / WATT_NSEC_PER_SEC));
	if (!is_hung && member->has_hung)
		watt_log(&crew->opts->log, WATT_LOG_INFO, "%s: it has come back", member->title);
	member->has_hung = is_hung;
}

int watt_crew_start(struct watt_crew *crew)
{
	size_t i;
	int r = 0;

	for (i = 0; i < crew->n && r >= 0; i++) {
		if (crew->members[i]->is_given_up)
			r = -EBUSY;
		else if (!watt_reader_is_running(crew->members[i]->reader))
			r = watt_reader_start(crew->members[i]->reader);
	}
	return r;
}

static uint64_t stop_deadline_ns(const struct watt_crew *crew,
				 const struct watt_crew_member *member, uint64_t begin_ns)
{
	uint64_t timeout_ns = crew->opts->stop_timeout_ns;

	return begin_ns +
	       (member->is_blocking ? WATT_MIN(timeout_ns, WATT_SLOW_STOP_NS) : timeout_ns);
}

/* Who can block is not waited for: not to have come back at once is no fault, nor news. */
static void say_given_up(const struct watt_crew *crew, const struct watt_crew_member *member)
{
	const char *what;
	uint64_t since_ns = watt_reader_busy_since_ns(member->reader, &what);

	if (member->is_blocking && (!since_ns || watt_now_ns() <= since_ns + HUNG_NS))
		watt_log(&crew->opts->log, WATT_LOG_INFO,
			 "%s: a read is not waited for; its thread ends when it comes back",
			 member->title);
	else
		watt_log(&crew->opts->log, WATT_LOG_WARNING,
			 "%s: a read hangs; its thread ends when it comes back", member->title);
}

int watt_crew_stop(struct watt_crew *crew)
{
	uint64_t begin_ns = watt_now_ns();
	int n_hung = 0;
	size_t i;

	for (i = 0; i < crew->n; i++)
		watt_reader_ask_stop(crew->members[i]->reader);
	for (i = 0; i < crew->n; i++) {
		struct watt_crew_member *member = crew->members[i];

		if (watt_reader_join(member->reader, stop_deadline_ns(crew, member, begin_ns)) == 0)
			continue;
		n_hung++;
		if (!member->is_given_up)
			say_given_up(crew, member);
		member->is_given_up = true;
	}
	return n_hung;
}

void watt_crew_close_waiting(struct watt_crew *crew)
{
	uint64_t deadline_ns = watt_now_ns() + WATT_SLOW_STOP_NS;
	size_t i;

	for (i = 0; i < crew->n; i++)
		if (crew->members[i]->is_blocking)
			watt_reader_ask_close(crew->members[i]->reader);
	for (i = 0; i < crew->n; i++)
		if (crew->members[i]->is_blocking)
			watt_reader_join(crew->members[i]->reader, deadline_ns);
}

int watt_crew_count_stranded(const struct watt_crew *crew)
{
	int n = 0;
	size_t i;

	for (i = 0; i < crew->n; i++)
		n += crew->members[i]->is_given_up &&
		     !watt_reader_keeps_env(crew->members[i]->reader);
	return n;
}

uint64_t watt_crew_run_due(struct watt_crew *crew, uint64_t now_ns)
{
	uint64_t due_ns = UINT64_MAX;
	size_t i;

	for (i = 0; i < crew->n; i++) {
		uint64_t t_ns = watt_reader_run_due(crew->members[i]->reader, now_ns);

		due_ns = WATT_MIN(due_ns, t_ns);
	}
	return due_ns;
}

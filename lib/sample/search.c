/* SPDX-License-Identifier: Apache-2.0 */
/* When a source is asked what has come. It must not know what is read of it. */
#include "sample/search.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/util.h"

/* How often somebody looks for what has come: whether the names have changed, in quick sources;
 * for what is gone and may be back, unless that takes a large part of the time; in slow ones. */
#define LOOK_NS WATT_NSEC_PER_SEC
#define SEARCH_NS (100 * WATT_NSEC_PER_MSEC)
#define SEARCH_PART 5
#define SLOW_LOOK_NS (10 * WATT_NSEC_PER_SEC)
/* What has come may not be complete when its name is there: looked at now, and again. */
#define RESCANS 3
/* What could not be read may be readable one day, without any name that changes. */
#define RETRY_LOOKS 10

int watt_search_new(const struct watt_power_ops *ops, struct watt_reader *reader,
		    uint64_t asked_period_ns, uint64_t now_ns, struct watt_search **ret)
{
	struct watt_search *search = calloc(1, sizeof(*search));
	int r = search ? watt_lookup_new(ops, watt_reader_get_env(reader), &search->lookup) :
			 -ENOMEM;

	if (r < 0) {
		free(search);
		return r;
	}
	search->ops = ops;
	search->asked_period_ns = asked_period_ns;
	search->reader = reader;
	search->answered_ns = now_ns;
	search->lookup->task.owner = search;
	*ret = search;
	return 0;
}

struct watt_search *watt_search_free(struct watt_search *search)
{
	if (!search)
		return NULL;
	if (search->power)
		search->ops->close(search->power);
	watt_lookup_free(search->lookup);
	free(search);
	return NULL;
}

void watt_search_skip_open(struct watt_search *search, uint64_t now_ns)
{
	search->is_open = true; /* or it comes one day */
	search->next_ns = now_ns + LOOK_NS;
}

bool watt_search_is_due(const struct watt_search *search, bool is_started, uint64_t now_ns)
{
	return search->lookup && now_ns >= search->next_ns && (!search->is_open || is_started);
}

static int tell_known(struct watt_lookup *lookup, const struct watt_search_view *view)
{
	size_t i;
	int r = 0;

	for (i = 0; i < view->n_names && r == 0; i++)
		r = watt_lookup_add_known(lookup, view->names[i]);
	return r;
}

/* Whether it is time to try again what could not be read. */
static bool takes_retry(struct watt_search *search)
{
	if (!search->is_open || !search->has_refused || ++search->n_looks < RETRY_LOOKS)
		return false;
	search->n_looks = 0;
	return true;
}

void watt_search_look(struct watt_search *search, const struct watt_search_view *view)
{
	struct watt_lookup *lookup = search->lookup;
	bool is_due;

	if (lookup->has_changed)
		search->n_rescans = RESCANS;
	is_due = takes_retry(search) || search->n_rescans > 0 || view->is_any_gone;
	watt_lookup_clear(lookup, !search->is_open ? WATT_LOOKUP_OPEN :
				  is_due           ? WATT_LOOKUP_RESCAN :
						     WATT_LOOKUP_CHANGES);
	if (lookup->kind == WATT_LOOKUP_RESCAN && tell_known(lookup, view) < 0)
		return;
	search->lookup = NULL;
	if (watt_reader_send(search->reader, &lookup->task) < 0) {
		search->lookup = lookup;
		return;
	}
	search->is_heard = false;
	if (lookup->kind == WATT_LOOKUP_RESCAN && search->n_rescans > 0)
		search->n_rescans--;
}

/* What it is asked next, when it did not open. */
static void note_refusal(struct watt_search *search, int error, const struct watt_log *log)
{
	search->error = error;
	if (!search->is_refused)
		watt_log(log, WATT_LOG_INFO, "%s does not work here yet: %s", search->ops->name,
			 strerror(-error));
	search->is_refused = true;
	/* from now on it is enough to look whether something has come */
	search->is_open = search->ops->rescan != NULL;
	search->has_refused = error != -ENODEV;
}

struct watt_power *watt_search_take_answer(struct watt_search *search, struct watt_lookup *lookup,
					   const struct watt_log *log)
{
	struct watt_power *power = lookup->power;

	search->lookup = lookup;
	lookup->power = NULL;
	if (power) {
		search->is_open = true;
		search->has_refused = power->n_refused > 0;
	} else if (lookup->kind == WATT_LOOKUP_OPEN) {
		note_refusal(search, lookup->error, log);
	}
	return power;
}

/* How long not to look after the newest answer. */
static uint64_t choose_pause_ns(const struct watt_search *search, bool is_any_gone)
{
	const struct watt_lookup *lookup = search->lookup;

	if (lookup->has_changed)
		return 0;
	if (search->ops->flags & WATT_POWER_BLOCKING && !search->ops->watched)
		return SLOW_LOOK_NS;
	if (is_any_gone)
		return WATT_MAX(SEARCH_NS, (SEARCH_PART - 1) * lookup->cost_ns);
	return LOOK_NS;
}

static uint64_t choose_next_ns(const struct watt_search *search, bool is_any_gone)
{
	if (!search->ops->rescan && search->is_open)
		return UINT64_MAX;
	return search->answered_ns + choose_pause_ns(search, is_any_gone);
}

void watt_search_plan(struct watt_search *search, bool is_any_gone, uint64_t answered_ns)
{
	search->answered_ns = answered_ns;
	search->next_ns = search->is_heard ? 0 : choose_next_ns(search, is_any_gone);
}

void watt_search_hurry(struct watt_search *search)
{
	if (search->lookup)
		search->next_ns = WATT_MIN(search->next_ns, choose_next_ns(search, true));
}

/* Whether a path has this part: "class/hwmon" has "hwmon". */
static bool has_part(const char *path, const char *part)
{
	size_t n = strlen(part);

	for (; path; path = strchr(path, '/')) {
		path += *path == '/';
		if (!strncmp(path, part, n) && (path[n] == '/' || path[n] == '\0'))
			return true;
	}
	return false;
}

void watt_search_hear(struct watt_search *search, const char *subsystem)
{
	const char *const *dir;

	for (dir = search->ops->watched; dir && *dir; dir++) {
		if (subsystem && !has_part(*dir, subsystem))
			continue;
		search->n_rescans = RESCANS;
		search->is_heard = true;
		search->next_ns = 0;
		return;
	}
}

bool watt_search_is_being_opened(const struct watt_search *search)
{
	return !search->lookup && !search->is_open && !search->is_refused;
}

static enum watt_status status_of_error(int error)
{
	switch (error) {
	case -EACCES:
	case -EPERM:
		return WATT_STATUS_FORBIDDEN;
	case 0:
	case -ENODEV:
	case -ENOENT:
		return WATT_STATUS_ABSENT;
	default:
		return WATT_STATUS_BROKEN;
	}
}

enum watt_status watt_search_status(const struct watt_search *search)
{
	return watt_search_is_being_opened(search) ? WATT_STATUS_PENDING :
						     status_of_error(search->error);
}

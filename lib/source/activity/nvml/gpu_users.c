/* SPDX-License-Identifier: Apache-2.0 */
/* Counts of processes at places. It must not call the driver. */
#include "source/activity/nvml/gpu_users.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/usage.h"
#include "base/util.h"
#include "source/host/procdir.h"

/* Of somebody who is gone: what the driver tells of him later is still his. */
#define GONE_NS (60 * WATT_NSEC_PER_SEC)

void watt_gpu_users_done(struct watt_gpu_users *users)
{
	size_t i;

	for (i = 0; i < users->n_places; i++)
		free(users->places[i].users);
	free(users->places);
	free(users->readings);
	free(users->told);
}

void watt_gpu_users_begin(struct watt_gpu_users *users)
{
	users->n_readings = 0;
}

int watt_gpu_users_find_place(struct watt_gpu_users *users, const char *path,
			      enum watt_activity_kind kind, size_t *ret)
{
	struct watt_gpu_place *place;
	size_t i;

	for (i = 0; i < users->n_places; i++)
		if (users->places[i].kind == kind && !strcmp(users->places[i].path, path)) {
			*ret = i;
			return 0;
		}
	if (watt_grow((void **)&users->places, &users->cap_places, users->n_places,
		      sizeof(*users->places)) < 0)
		return -ENOMEM;
	place = &users->places[users->n_places];
	*place = (struct watt_gpu_place){ .kind = kind, .n_units = 1 };
	watt_strlcpy(place->path, path, sizeof(place->path));
	*ret = users->n_places++;
	return 0;
}

static uint64_t start_of(const struct watt_gpu_users *users, uint32_t pid)
{
	return pid && !users->is_outside ? watt_procdir_start_ns(users->procfs, pid) : 0;
}

struct watt_gpu_user *watt_gpu_users_find(struct watt_gpu_users *users, size_t index, uint32_t pid)
{
	struct watt_gpu_place *place = &users->places[index];
	uint64_t start_ns = start_of(users, pid);
	struct watt_gpu_user *user;
	size_t i;

	if (pid && users->is_outside)
		pid |= WATT_USAGE_OUTSIDE;
	for (i = 0; i < place->n_users; i++) {
		user = &place->users[i];
		if (user->pid != pid)
			continue;
		if (!start_ns || user->start_ns == start_ns)
			return user;
		*user = (struct watt_gpu_user){ .pid = pid, .start_ns = start_ns };
		return user;
	}
	if (watt_grow((void **)&place->users, &place->cap_users, place->n_users,
		      sizeof(*place->users)) < 0)
		return NULL;
	user = &place->users[place->n_users++];
	*user = (struct watt_gpu_user){ .pid = pid, .start_ns = start_ns };
	return user;
}

static int tell(struct watt_gpu_users *users, size_t place, const struct watt_gpu_user *user,
		uint64_t t_ns)
{
	int r = watt_grow((void **)&users->readings, &users->cap_readings, users->n_readings,
			  sizeof(*users->readings));

	if (r == 0)
		users->readings[users->n_readings++] =
			(struct watt_activity){ .t_ns = t_ns,
						.amount = user->amount_ns,
						.start_ns = user->start_ns,
						.pid = user->pid,
						.place = (uint32_t)place };
	return r;
}

int watt_gpu_users_add(struct watt_gpu_users *users, size_t place, struct watt_gpu_user *user,
		       uint64_t from_ns, uint64_t to_ns, uint64_t amount_ns)
{
	int r = 0;

	from_ns = WATT_MAX(from_ns, user->told_ns);
	if (to_ns <= from_ns)
		return 0;
	if (from_ns > user->told_ns)
		r = tell(users, place, user, from_ns);
	user->amount_ns += amount_ns;
	user->told_ns = user->active_ns = to_ns;
	return r < 0 ? r : tell(users, place, user, to_ns);
}

int watt_gpu_users_add_memory(struct watt_gpu_users *users, size_t place,
			      const struct watt_nvml_process *list, size_t n, uint64_t memory_bytes,
			      uint64_t from_ns, uint64_t to_ns)
{
	uint64_t dt_ns = to_ns > from_ns ? to_ns - from_ns : 0;
	size_t i;
	int r = 0;

	for (i = 0; i < n && r == 0; i++) {
		uint64_t held = list[i].bytes;
		struct watt_gpu_user *user;

		if (held == WATT_NVML_BYTES_UNKNOWN || !held)
			continue;
		held = WATT_MIN(held, memory_bytes);
		user = watt_gpu_users_find(users, place, list[i].pid);
		r = user ? watt_gpu_users_add(users, place, user, from_ns, to_ns,
					      (uint64_t)((watt_u128)dt_ns * held / memory_bytes)) :
			   -ENOMEM;
	}
	return r;
}

static void forget_gone(const struct watt_gpu_users *users, struct watt_gpu_place *place,
			uint64_t now_ns)
{
	size_t i, n = 0;

	for (i = 0; i < place->n_users; i++) {
		struct watt_gpu_user *user = &place->users[i];

		if (user->active_ns + GONE_NS > now_ns ||
		    (user->start_ns && start_of(users, user->pid) == user->start_ns))
			place->users[n++] = *user;
	}
	place->n_users = n;
}

static int end_place(struct watt_gpu_users *users, size_t index, uint64_t now_ns)
{
	struct watt_gpu_place *place = &users->places[index];
	size_t i;
	int r = 0;

	if (!place->complete_ns)
		return 0;
	for (i = 0; i < place->n_users && r == 0; i++)
		if (place->users[i].told_ns < place->complete_ns) {
			r = tell(users, index, &place->users[i], place->complete_ns);
			place->users[i].told_ns = place->complete_ns;
		}
	forget_gone(users, place, now_ns);
	return r;
}

int watt_gpu_users_end(struct watt_gpu_users *users, uint64_t now_ns,
		       struct watt_activity_batch *ret)
{
	struct watt_activity_place *told;
	size_t i;
	int r = 0;

	for (i = 0; i < users->n_places && r == 0; i++)
		r = end_place(users, i, now_ns);
	if (r < 0)
		return r;
	told = reallocarray(users->told, users->n_places + 1, sizeof(*told));
	if (!told)
		return -ENOMEM;
	users->told = told;
	for (i = 0; i < users->n_places; i++) {
		const struct watt_gpu_place *place = &users->places[i];

		told[i] = (struct watt_activity_place){ place->path, place->complete_ns,
							place->kind, place->n_units };
	}
	*ret = (struct watt_activity_batch){ told, users->n_places, users->readings,
					     users->n_readings };
	return 0;
}

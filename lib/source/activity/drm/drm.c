/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who is on GPUs of AMD, Intel, Qualcomm, ARM and Broadcom, and on NVIDIA's by nouveau: what the
 * kernel counts for each client of a device. A client that several descriptors or processes have
 * counts once; so does the memory that it holds. It opens no device, and wakes none.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/util.h"
#include "source/activity/drm/drm_scan.h"
#include "source/activity/drm/fdinfo.h"
#include "source/host/drm_card.h"
#include "source/host/status.h"
#include "source/registry.h"

#define PERIOD_NS WATT_NSEC_PER_SEC
/* A client that nobody shows any more is forgotten. */
#define CLIENT_GONE_NS (60 * WATT_NSEC_PER_SEC)
/* Memory is told as a part of so much, which no GPU has: how much each has nobody tells. */
#define MEMORY_BYTES (1ULL << 40)

/* How far an engine of a client was when it was read last. */
struct engine {
	char name[WATT_FDINFO_NAME];
	uint64_t busy_ns, cycles, total_cycles;
};

struct client {
	uint64_t id;
	uint32_t place;
	uint32_t pid; /* who had it first */
	uint64_t start_ns;
	uint64_t seen_ns;
	uint32_t n_engines;
	struct engine engines[WATT_FDINFO_ENGINES];
};

/* All that a process did at a place. */
struct user {
	uint32_t pid, place;
	uint64_t start_ns;
	uint64_t amount_ns;
	uint64_t seen_ns;
};

struct drm {
	struct watt_activity_source source; /* first */
	struct watt_root const *procfs;
	struct watt_drm_cards cards;
	struct watt_drm_scan *scan;
	/* of the time of each card, and behind those of all, of its memory */
	struct watt_activity_place places[2 * WATT_DRM_CARDS];
	uint64_t read_ns; /* of the reading before; 0: there was none */
	struct client *clients;
	size_t n_clients, cap_clients;
	struct user *users;
	size_t n_users, cap_users;
	struct watt_activity *readings;
	size_t n_readings, cap_readings;
};

static struct client *find_client(struct drm *drm, uint32_t place, uint64_t id)
{
	size_t i;

	for (i = 0; i < drm->n_clients; i++)
		if (drm->clients[i].id == id && drm->clients[i].place == place)
			return &drm->clients[i];
	return NULL;
}

static struct client *add_client(struct drm *drm, uint32_t place, uint64_t id,
				 const struct watt_drm_process *process)
{
	struct client *client;

	if (watt_grow((void **)&drm->clients, &drm->cap_clients, drm->n_clients,
		      sizeof(*drm->clients)) < 0)
		return NULL;
	client = &drm->clients[drm->n_clients++];
	*client = (struct client){
		.id = id, .place = place, .pid = process->pid, .start_ns = process->start_ns
	};
	return client;
}

static struct user *find_user(struct drm *drm, const struct client *client, uint32_t place)
{
	struct user *user;
	size_t i;

	for (i = 0; i < drm->n_users; i++) {
		user = &drm->users[i];
		if (user->pid == client->pid && user->place == place &&
		    user->start_ns == client->start_ns)
			return user;
	}
	if (watt_grow((void **)&drm->users, &drm->cap_users, drm->n_users, sizeof(*drm->users)) < 0)
		return NULL;
	user = &drm->users[drm->n_users++];
	*user = (struct user){ .pid = client->pid, .place = place, .start_ns = client->start_ns };
	return user;
}

/* ---- what a client did ---- */

static struct engine *find_engine(struct client *client, const char *name, bool *ret_is_new)
{
	uint32_t i;

	*ret_is_new = false;
	for (i = 0; i < client->n_engines; i++)
		if (!strcmp(client->engines[i].name, name))
			return &client->engines[i];
	if (client->n_engines == WATT_FDINFO_ENGINES)
		return NULL;
	*ret_is_new = true;
	watt_strlcpy(client->engines[client->n_engines].name, name,
		     sizeof(client->engines[0].name));
	return &client->engines[client->n_engines++];
}

static uint64_t above(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

/*
 * The time that it had an engine since the last reading. More than there was time for was done
 * before: by a client that was found late.
 */
static uint64_t busy_since(const struct watt_fdinfo_engine *now, struct engine *before, bool is_new,
			   uint64_t dt_ns)
{
	uint64_t capacity = now->capacity ? now->capacity : 1, busy_ns = 0;
	uint64_t cycles = above(now->cycles, before->cycles);
	uint64_t total = above(now->total_cycles, before->total_cycles);

	if (now->has_busy_ns)
		busy_ns = above(now->busy_ns, before->busy_ns);
	else if (total && !is_new)
		busy_ns = (uint64_t)((watt_u128)dt_ns * WATT_MIN(cycles, total * capacity) / total);
	before->busy_ns = WATT_MAX(before->busy_ns, now->busy_ns);
	before->cycles = WATT_MAX(before->cycles, now->cycles);
	before->total_cycles = now->total_cycles;
	return WATT_MIN(busy_ns, dt_ns * capacity);
}

static uint64_t client_step_ns(struct client *client, const struct watt_fdinfo *info,
			       uint64_t dt_ns)
{
	uint64_t sum_ns = 0;
	uint32_t i;
	bool is_new;

	for (i = 0; i < info->n_engines; i++) {
		struct engine *engine = find_engine(client, info->engines[i].name, &is_new);

		if (engine)
			sum_ns += busy_since(&info->engines[i], engine, is_new, dt_ns);
	}
	return sum_ns;
}

static uint32_t count_engines(const struct watt_fdinfo *info)
{
	uint32_t n = 0, i;

	for (i = 0; i < info->n_engines; i++)
		if (info->engines[i].has_busy_ns || info->engines[i].total_cycles)
			n += info->engines[i].capacity ? info->engines[i].capacity : 1;
	return n;
}

/* What it holds now, for all of the time since the reading before. */
static int take_memory(struct drm *drm, const struct client *client, const struct watt_fdinfo *info,
		       uint64_t dt_ns)
{
	uint32_t place = (uint32_t)drm->cards.n + client->place;
	struct user *user;
	uint64_t bytes;

	if (watt_fdinfo_memory(info, &bytes) < 0)
		return 0;
	drm->places[place].n_units = 1;
	user = find_user(drm, client, place);
	if (!user)
		return -ENOMEM;
	user->seen_ns = client->seen_ns;
	user->amount_ns +=
		(uint64_t)((watt_u128)dt_ns * WATT_MIN(bytes, MEMORY_BYTES) / MEMORY_BYTES);
	return 0;
}

static int take_client(struct drm *drm, const struct watt_drm_process *process,
		       const struct watt_fdinfo *info, uint64_t now_ns)
{
	const struct watt_drm_card *card =
		watt_drm_cards_get(&drm->cards, info->driver, info->pdev);
	uint64_t dt_ns = drm->read_ns ? now_ns - drm->read_ns : 0;
	struct client *client;
	struct user *user;
	uint32_t place;

	if (!card)
		return 0;
	place = (uint32_t)(card - drm->cards.list);
	client = find_client(drm, place, info->client_id);
	if (client && client->seen_ns == now_ns)
		return 0; /* by another descriptor, or in another process */
	if (!client)
		client = add_client(drm, place, info->client_id, process);
	user = client ? find_user(drm, client, place) : NULL;
	if (!user)
		return -ENOMEM;
	client->seen_ns = user->seen_ns = now_ns;
	user->amount_ns += client_step_ns(client, info, dt_ns);
	drm->places[place].n_units = WATT_MAX(drm->places[place].n_units, count_engines(info));
	return take_memory(drm, client, info, dt_ns);
}

/* Of a descriptor that is closed or something else by now there is nothing to tell. */
static int read_process(struct drm *drm, struct watt_drm_process *process, uint64_t now_ns)
{
	struct watt_fdinfo info;
	char text[8192];
	size_t i;
	int r = 0;

	for (i = 0; i < process->n_fds && r == 0; i++)
		if (watt_root_readf(drm->procfs, text, sizeof(text), "%u/fdinfo/%u", process->pid,
				    process->fds[i]) > 0 &&
		    watt_fdinfo_parse(text, &info) == 0)
			r = take_client(drm, process, &info, now_ns);
	return r;
}

/* ---- what is told ---- */

static int tell_users(struct drm *drm, uint64_t now_ns)
{
	size_t i, n = 0;
	int r = 0;

	drm->n_readings = 0;
	for (i = 0; i < drm->n_users && r == 0; i++) {
		struct user user = drm->users[i];

		if (user.seen_ns + CLIENT_GONE_NS > now_ns)
			drm->users[n++] = user;
		r = watt_grow((void **)&drm->readings, &drm->cap_readings, drm->n_readings,
			      sizeof(*drm->readings));
		if (r == 0)
			drm->readings[drm->n_readings++] =
				(struct watt_activity){ .t_ns = now_ns,
							.amount = user.amount_ns,
							.start_ns = user.start_ns,
							.pid = user.pid,
							.place = user.place };
	}
	if (r == 0)
		drm->n_users = n;
	return r;
}

static void forget_clients(struct drm *drm, uint64_t now_ns)
{
	size_t i, n = 0;

	for (i = 0; i < drm->n_clients; i++)
		if (drm->clients[i].seen_ns + CLIENT_GONE_NS > now_ns)
			drm->clients[n++] = drm->clients[i];
	drm->n_clients = n;
}

static int drm_read(struct watt_activity_source *src, struct watt_activity_batch *ret)
{
	struct drm *drm = (struct drm *)src;
	struct watt_drm_process *processes;
	uint64_t now_ns = watt_now_ns();
	size_t n, i;
	int r;

	r = watt_drm_scan_run(drm->scan, now_ns);
	if (r < 0)
		return r;
	now_ns = watt_now_ns();
	processes = watt_drm_scan_get(drm->scan, &n);
	for (i = 0; i < n && r == 0; i++)
		r = read_process(drm, &processes[i], now_ns);
	if (r == 0)
		r = tell_users(drm, now_ns);
	if (r < 0)
		return r;
	forget_clients(drm, now_ns);
	drm->read_ns = now_ns;
	for (i = 0; i < 2 * drm->cards.n; i++)
		drm->places[i].complete_ns = now_ns;
	*ret = (struct watt_activity_batch){ drm->places, 2 * drm->cards.n, drm->readings,
					     drm->n_readings };
	return 0;
}

static void drm_close(struct watt_activity_source *src)
{
	struct drm *drm = (struct drm *)src;

	watt_drm_scan_free(drm->scan);
	free(drm->clients);
	free(drm->users);
	free(drm->readings);
	free(drm);
}

static int drm_open(const struct watt_env *env, const struct watt_cpu_map *map,
		    struct watt_activity_source **ret)
{
	struct drm *drm = calloc(1, sizeof(*drm));
	size_t i;
	int r;

	if (!drm)
		return -ENOMEM;
	drm->source.ops = &watt_activity_drm;
	drm->procfs = &env->procfs;
	r = watt_drm_cards_find(env, &drm->cards);
	if (r == 0)
		r = watt_drm_scan_new(&env->procfs, &drm->scan);
	if (r < 0) {
		drm_close(&drm->source);
		return r;
	}
	for (i = 0; i < drm->cards.n; i++) {
		const char *path = drm->cards.list[i].path;

		drm->places[i] = (struct watt_activity_place){ .path = path,
							       .kind = WATT_ACTIVITY_GPU_TIME,
							       .n_units = 1 };
		/* its units come with the first who tells of it */
		drm->places[drm->cards.n + i] =
			(struct watt_activity_place){ .path = path,
						      .kind = WATT_ACTIVITY_GPU_MEMORY };
	}
	*ret = &drm->source;
	return 0;
}

/* ---- the probe ---- */

#define SAY(field, ...) snprintf(diag->field, sizeof(diag->field), __VA_ARGS__)

static void explain(const struct watt_env *env, const struct watt_drm_cards *cards,
		    struct watt_diag *diag)
{
	struct watt_drm_scan *scan;

	SAY(why, "processes on %zu GPU%s: %s by %s%s", cards->n, cards->n == 1 ? "" : "s",
	    cards->list[0].device, cards->list[0].driver, cards->n > 1 ? ", ..." : "");
	if (watt_drm_scan_new(&env->procfs, &scan) < 0)
		return;
	if (watt_drm_scan_run(scan, watt_now_ns()) == 0 && watt_drm_scan_forbidden(scan))
		SAY(hint,
		    "the descriptors of %zu processes are not shown to this user: run as "
		    "root, or with CAP_SYS_PTRACE",
		    watt_drm_scan_forbidden(scan));
	watt_drm_scan_free(scan);
}

static int drm_probe(const struct watt_env *env, struct watt_diag *diag)
{
	struct watt_drm_cards cards;
	int r = watt_drm_cards_find(env, &cards);

	diag->error = r;
	diag->state = watt_availability_from_errno(r);
	SAY(path, "class/drm");
	if (r == 0)
		explain(env, &cards, diag);
	else
		SAY(why, "there is no GPU whose driver tells who uses it");
	diag->period_ns = PERIOD_NS;
	return r;
}

const struct watt_activity_ops watt_activity_drm = {
	.name = "drm",
	.summary = "processes on GPUs, as the kernel counts them",
	.period_ns = PERIOD_NS,
	.probe = drm_probe,
	.open = drm_open,
	.read = drm_read,
	.close = drm_close,
};

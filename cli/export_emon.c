/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The data.json of ebpf-energy-monitor, for its plots and for what reads them: per CPU package and
 * pid a list of {time in us since the epoch, usage in uJ as a 32-bit float}. Idle is pid 0, as
 * there. What has no pid has a number above all pids, so that the sum is the package's energy.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "decimal.h"
#include "export.h"
#include "idmap.h"
#include "json_writer.h"
#include "message.h"
#include "xalloc.h"

/* Linux gives no pid above. */
#define PID_LIMIT 4194304

/* What one pid used of one package, in the windows where it used something. */
struct series_of_pid {
	uint32_t pid;
	uint32_t n;
	uint32_t capacity;
	uint32_t *window;
	float *usage_uj;
};

struct package {
	int32_t id;
	bool *is_part;       /* per domain */
	struct idmap by_pid; /* pid + 1 */
	struct series_of_pid *pids;
	size_t n_pids;
};

struct emon {
	struct package *packages;
	size_t n_packages;
	uint64_t *time_us; /* per window */
	size_t n_windows;
	struct idmap nameless; /* entities without a pid: their number */
};

static struct package *package_of(struct emon *emon, int32_t id)
{
	size_t i;

	for (i = 0; i < emon->n_packages; i++)
		if (emon->packages[i].id == id)
			return &emon->packages[i];
	return NULL;
}

static int by_package_id(const void *a, const void *b)
{
	const struct package *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

/* The domains of one kind, by package; dies of a package are added. */
static void find_packages(struct emon *emon, const struct export_about *about,
			  enum watt_domain_kind kind)
{
	size_t i;

	for (i = 0; i < about->n_domains; i++) {
		const struct watt_domain *domain = about->domains[i];
		int32_t id = domain->package_id < 0 ? 0 : domain->package_id;
		struct package *package;

		if (domain->kind != kind)
			continue;
		package = package_of(emon, id);
		if (!package) {
			emon->packages = xrealloc(emon->packages, emon->n_packages + 1,
						  sizeof(*emon->packages));
			package = &emon->packages[emon->n_packages++];
			*package = (struct package){ .id = id };
			package->is_part = xcalloc(about->n_domains, sizeof(bool));
		}
		package->is_part[i] = true;
	}
	if (emon->n_packages)
		qsort(emon->packages, emon->n_packages, sizeof(*emon->packages), by_package_id);
}

static int begin(struct export *ex)
{
	struct emon *emon = xcalloc(1, sizeof(*emon));

	ex->data = emon;
	find_packages(emon, ex->about, WATT_DOMAIN_PACKAGE);
	if (!emon->n_packages)
		find_packages(emon, ex->about, WATT_DOMAIN_CPU_RAIL);
	if (emon->n_packages)
		return 0;
	message_error("%s has no domain of a CPU package, and emon is energy per CPU package; "
		      "the other formats have what is there",
		      ex->about->file);
	return -ENODATA;
}

static uint32_t pid_of(struct emon *emon, const struct watt_entity *entity)
{
	size_t *number;

	if (entity->kind == WATT_ENTITY_IDLE)
		return 0;
	if (entity->identity)
		return entity->identity->pid;
	number = idmap_get(&emon->nameless, entity->id);
	if (*number == IDMAP_NONE)
		*number = emon->nameless.n;
	return PID_LIMIT + (uint32_t)*number;
}

static void add_usage(struct emon *emon, struct package *package, const struct watt_entity *entity,
		      double usage_uj)
{
	uint32_t window = (uint32_t)(emon->n_windows - 1), number = pid_of(emon, entity);
	size_t *position = idmap_get(&package->by_pid, (uint64_t)number + 1);
	struct series_of_pid *pid;

	if (*position == IDMAP_NONE) {
		*position = package->n_pids++;
		package->pids = xrealloc(package->pids, package->n_pids, sizeof(*package->pids));
		package->pids[*position] = (struct series_of_pid){ .pid = number };
	}
	pid = &package->pids[*position];
	/* A pid that was used again within the window. */
	if (pid->n && pid->window[pid->n - 1] == window) {
		pid->usage_uj[pid->n - 1] += (float)usage_uj;
		return;
	}
	if (pid->n == pid->capacity) {
		pid->capacity = pid->capacity ? 2 * pid->capacity : 8;
		pid->window = xrealloc(pid->window, pid->capacity, sizeof(*pid->window));
		pid->usage_uj = xrealloc(pid->usage_uj, pid->capacity, sizeof(*pid->usage_uj));
	}
	pid->window[pid->n] = window;
	pid->usage_uj[pid->n++] = (float)usage_uj;
}

static int64_t energy_in(const struct package *package, const struct view *view,
			 const struct watt_row *row)
{
	int64_t sum_nj = 0;
	size_t i;

	for (i = 0; i < view->n_domains; i++)
		if (package->is_part[i] && export_is_known(view->states[i]))
			sum_nj += row->window_nj[i];
	return sum_nj;
}

static int add_window(struct export *ex, const struct export_window *window)
{
	struct emon *emon = ex->data;
	const struct view *view = &window->view;
	size_t i, j;

	emon->time_us = xrealloc(emon->time_us, emon->n_windows + 1, sizeof(*emon->time_us));
	emon->time_us[emon->n_windows++] = window->t1_realtime_ns / 1000;
	for (i = 0; i < emon->n_packages; i++)
		for (j = 0; j < view->n_rows; j++) {
			const struct watt_row *row = view->rows[j];
			int64_t energy_nj = energy_in(&emon->packages[i], view, row);

			if (energy_nj && export_has_kind(ex, row->entity.kind))
				add_usage(emon, &emon->packages[i], &row->entity,
					  (double)energy_nj / 1e3);
		}
	return 0;
}

static void write_pid(struct json_writer *json, const struct emon *emon,
		      const struct series_of_pid *pid)
{
	char buf[DECIMAL_SIZE];
	uint32_t i;

	json_begin(json, NULL, '{');
	json_uint(json, "pid", pid->pid);
	json_begin(json, "usage", '[');
	for (i = 0; i < pid->n; i++) {
		json_begin(json, NULL, '{');
		json_uint(json, "time", emon->time_us[pid->window[i]]);
		json_raw(json, "usage", decimal_float(buf, pid->usage_uj[i]));
		json_end(json, '}');
	}
	json_end(json, ']');
	json_end(json, '}');
}

static int end(struct export *ex)
{
	struct emon *emon = ex->data;
	struct json_writer json = { .out = ex->out, .indent = 4, .line_levels = 16 };
	size_t i, j;

	json_begin(&json, NULL, '{');
	json_begin(&json, "cpus", '[');
	for (i = 0; i < emon->n_packages; i++) {
		const struct package *package = &emon->packages[i];

		json_begin(&json, NULL, '{');
		json_int(&json, "id", package->id);
		json_begin(&json, "pid_usage", '[');
		for (j = 0; j < package->n_pids; j++)
			write_pid(&json, emon, &package->pids[j]);
		json_end(&json, ']');
		json_end(&json, '}');
	}
	json_end(&json, ']');
	json_end(&json, '}');
	fputc('\n', ex->out);
	return 0;
}

static void done(struct export *ex)
{
	struct emon *emon = ex->data;
	size_t i, j;

	if (!emon)
		return;
	for (i = 0; i < emon->n_packages; i++) {
		struct package *package = &emon->packages[i];

		for (j = 0; j < package->n_pids; j++) {
			free(package->pids[j].window);
			free(package->pids[j].usage_uj);
		}
		free(package->pids);
		free(package->is_part);
		idmap_done(&package->by_pid);
	}
	free(emon->packages);
	free(emon->time_us);
	idmap_done(&emon->nameless);
	free(emon);
	ex->data = NULL;
}

const struct export_format export_emon = {
	.name = "emon",
	.begin = begin,
	.window = add_window,
	.end = end,
	.done = done,
};

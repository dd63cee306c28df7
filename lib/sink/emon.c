/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The data.json of ebpf-energy-monitor, for its plots and for what reads them: per CPU package and
 * pid a list of {time in us since the epoch, usage in uJ as a 32-bit float}. Idle is pid 0, as
 * there. What has no pid has a number above all pids, so that the sum is the package's energy.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/idmap.h"
#include "base/util.h"
#include "sink/decimal.h"
#include "sink/json_value.h"
#include "sink/registry.h"

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
	struct watt_idmap by_pid; /* pid + 1 */
	struct series_of_pid *pids;
	size_t n_pids, pids_cap;
};

struct emon {
	enum watt_domain_kind kind; /* of the domains that are taken, when there are packages */
	struct package *packages;
	size_t n_packages, packages_cap;
	uint64_t *time_us; /* per window */
	size_t n_windows, windows_cap;
	struct watt_idmap nameless; /* entities without a pid: their number */
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

static int32_t package_id_of(const struct watt_domain *domain)
{
	return domain->package_id < 0 ? 0 : domain->package_id;
}

/* Packages of the domains of one kind that are not there yet. */
static int find_packages(struct emon *emon, const struct watt_domain *const *domains, size_t n,
			 enum watt_domain_kind kind)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (domains[i]->kind != kind || package_of(emon, package_id_of(domains[i])))
			continue;
		if (watt_grow((void **)&emon->packages, &emon->packages_cap, emon->n_packages,
			      sizeof(*emon->packages)) < 0)
			return -ENOMEM;
		emon->packages[emon->n_packages++] =
			(struct package){ .id = package_id_of(domains[i]) };
		emon->kind = kind;
	}
	return 0;
}

/* Packages, or what stands for them where there are none. */
static int look(struct emon *emon, const struct watt_domain *const *domains, size_t n)
{
	int r;

	if (emon->n_packages)
		return find_packages(emon, domains, n, emon->kind);
	r = find_packages(emon, domains, n, WATT_DOMAIN_PACKAGE);
	if (r == 0 && !emon->n_packages)
		r = find_packages(emon, domains, n, WATT_DOMAIN_CPU_RAIL);
	return r;
}

static int complain(const struct watt_sink *sink)
{
	watt_log(&sink->log, WATT_LOG_ERROR,
		 "%s has no domain of a CPU package, and emon is energy per CPU package; the "
		 "other formats have what is there",
		 sink->about->file ? sink->about->file : "this machine");
	return -ENODATA;
}

static int begin(struct watt_sink *sink)
{
	struct emon *emon = sink->data;
	int r = look(emon, sink->about->domains, sink->about->n_domains);

	/* to a live one packages may still come */
	return r < 0 || emon->n_packages || !sink->about->file ? r : complain(sink);
}

static int pid_of(struct emon *emon, const struct watt_entity *entity, uint32_t *ret)
{
	size_t *number;

	if (entity->kind == WATT_ENTITY_IDLE || entity->identity) {
		*ret = entity->kind == WATT_ENTITY_IDLE ? 0 : entity->identity->pid;
		return 0;
	}
	number = watt_idmap_get(&emon->nameless, entity->id);
	if (!number)
		return -ENOMEM;
	if (*number == WATT_IDMAP_NONE)
		*number = emon->nameless.n;
	*ret = PID_LIMIT + (uint32_t)*number;
	return 0;
}

/* The curve of a number in a package; NULL: out of memory. */
static struct series_of_pid *series_of(struct package *package, uint32_t number)
{
	size_t *position;

	if (watt_grow((void **)&package->pids, &package->pids_cap, package->n_pids,
		      sizeof(*package->pids)) < 0)
		return NULL;
	position = watt_idmap_get(&package->by_pid, (uint64_t)number + 1);
	if (!position)
		return NULL;
	if (*position == WATT_IDMAP_NONE) {
		*position = package->n_pids++;
		package->pids[*position] = (struct series_of_pid){ .pid = number };
	}
	return &package->pids[*position];
}

static bool grow(struct series_of_pid *pid)
{
	uint32_t capacity = pid->capacity ? 2 * pid->capacity : 8;
	uint32_t *window = realloc(pid->window, capacity * sizeof(*window));
	float *usage_uj;

	if (!window)
		return false;
	pid->window = window;
	usage_uj = realloc(pid->usage_uj, capacity * sizeof(*usage_uj));
	if (!usage_uj)
		return false;
	pid->usage_uj = usage_uj;
	pid->capacity = capacity;
	return true;
}

static int add_usage(struct emon *emon, struct package *package, const struct watt_entity *entity,
		     double usage_uj)
{
	uint32_t window = (uint32_t)(emon->n_windows - 1), number = 0;
	struct series_of_pid *pid;

	if (pid_of(emon, entity, &number) < 0)
		return -ENOMEM;
	pid = series_of(package, number);
	if (!pid)
		return -ENOMEM;
	/* A pid that was used again within the window. */
	if (pid->n && pid->window[pid->n - 1] == window) {
		pid->usage_uj[pid->n - 1] += (float)usage_uj;
		return 0;
	}
	if (pid->n == pid->capacity && !grow(pid))
		return -ENOMEM;
	pid->window[pid->n] = window;
	pid->usage_uj[pid->n++] = (float)usage_uj;
	return 0;
}

/* Dies of a package are added. */
static int64_t energy_in(const struct emon *emon, const struct package *package,
			 const struct watt_view *view, const struct watt_row *row)
{
	int64_t sum_nj = 0;
	size_t i;

	for (i = 0; i < view->n_domains; i++)
		if (view->domains[i]->kind == emon->kind &&
		    package_id_of(view->domains[i]) == package->id &&
		    watt_view_is_known(view->states[i]))
			sum_nj += row->window_nj[i];
	return sum_nj;
}

static int add_window(struct watt_sink *sink, const struct watt_sink_window *window)
{
	struct emon *emon = sink->data;
	const struct watt_view *view = &window->view;
	int r = 0;
	size_t i, j;

	if (watt_grow((void **)&emon->time_us, &emon->windows_cap, emon->n_windows,
		      sizeof(*emon->time_us)) < 0)
		return -ENOMEM;
	emon->time_us[emon->n_windows++] = window->t1_realtime_ns / 1000;
	r = look(emon, view->domains, view->n_domains);
	for (i = 0; i < emon->n_packages && r == 0; i++)
		for (j = 0; j < view->n_rows && r == 0; j++) {
			const struct watt_row *row = view->rows[j];
			int64_t energy_nj = energy_in(emon, &emon->packages[i], view, row);

			if (energy_nj && watt_sink_has_kind(sink, row->entity->kind))
				r = add_usage(emon, &emon->packages[i], row->entity,
					      (double)energy_nj / 1e3);
		}
	return r;
}

static void write_pid(struct watt_json *json, struct watt_json_node obj, const struct emon *emon,
		      const struct series_of_pid *pid)
{
	char buf[WATT_DECIMAL_SIZE];
	struct watt_json_node list;
	uint32_t i;

	watt_json_uint(json, obj, "pid", pid->pid);
	list = watt_json_array(json, obj, "usage");
	for (i = 0; i < pid->n; i++) {
		struct watt_json_node item = watt_json_append(json, list);

		watt_json_uint(json, item, "time", emon->time_us[pid->window[i]]);
		watt_json_digits(json, item, "usage", watt_decimal_float(buf, pid->usage_uj[i]));
	}
}

static int end(struct watt_sink *sink)
{
	struct watt_json_layout layout = { .indent = 4, .line_levels = 16 };
	struct emon *emon = sink->data;
	struct watt_json_node cpus, pids;
	struct watt_json json;
	size_t i, j;
	int r;

	if (!emon->n_packages)
		return complain(sink);
	qsort(emon->packages, emon->n_packages, sizeof(*emon->packages), by_package_id);
	watt_json_begin(&json, layout, sink->out);
	cpus = watt_json_array(&json, json.root, "cpus");
	for (i = 0; i < emon->n_packages; i++) {
		const struct package *package = &emon->packages[i];
		struct watt_json_node obj = watt_json_append(&json, cpus);

		watt_json_int(&json, obj, "id", package->id);
		pids = watt_json_array(&json, obj, "pid_usage");
		for (j = 0; j < package->n_pids; j++)
			write_pid(&json, watt_json_append(&json, pids), emon, &package->pids[j]);
	}
	r = watt_json_end(&json);
	fputc('\n', sink->out);
	return r;
}

static void done(struct watt_sink *sink)
{
	struct emon *emon = sink->data;
	size_t i, j;

	for (i = 0; i < emon->n_packages; i++) {
		struct package *package = &emon->packages[i];

		for (j = 0; j < package->n_pids; j++) {
			free(package->pids[j].window);
			free(package->pids[j].usage_uj);
		}
		free(package->pids);
		watt_idmap_done(&package->by_pid);
	}
	free(emon->packages);
	free(emon->time_us);
	watt_idmap_done(&emon->nameless);
}

static const struct watt_sink_option options[] = {
	WATT_SINK_OPTION_KINDS,
	{ NULL },
};

const struct watt_sink_ops watt_sink_emon = {
	.info = {
		.sz = sizeof(struct watt_sink_info),
		.name = "emon",
		.summary = "data.json of ebpf-energy-monitor: energy per CPU package and pid",
		.suffixes = ".json",
		.mime = "application/json",
		.options = options,
	},
	.data_size = sizeof(struct emon),
	.begin = begin,
	.window = add_window,
	.end = end,
	.done = done,
};

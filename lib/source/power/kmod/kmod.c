/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Power source "kmod": what the kernel module shows in /proc/energy. Who may read all has RAPL's
 * counters of every package; a container has the power of its own cgroup, and nobody else's.
 * Must not set the module's parameters.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/util.h"
#include "source/channels.h"
#include "source/power/cpu_vendor.h"
#include "source/power/kmod/energy_proc.h"
#include "source/registry.h"
#include "source/host/status.h"

#define PARAMETERS "module/wattribute/parameters"
#define PROC_ALL "energy/all"
#define PROC_CGROUP "energy/cgroup"
#define CGROUP_CHANNEL "kmod/cgroup"
#define ZONES_MAX 64
#define WINDOW_MAX_NS (3600 * WATT_NSEC_PER_SEC)

struct kmod {
	struct watt_power base;
	const struct watt_root *procfs; /* the environment's */
	const char *path;               /* PROC_ALL or PROC_CGROUP */
	int fd;
	uint64_t window_ns;
	struct watt_channels channels;
	struct watt_power_group group;
	char domains[ZONES_MAX][64]; /* of the channels, in order, when it reads all */
	uint64_t values_uj[ZONES_MAX];
	bool is_seen[ZONES_MAX];
	uint64_t last_end_ns; /* of the newest window that was read, when it reads the cgroup */
	char buffer[8192];
};

/* Gives every whole line of the file to fn until that returns something else than 0. */
static int for_each_line(struct kmod *self,
			 int (*fn)(struct kmod *self, const char *line, void *data), void *data)
{
	size_t have = 0;
	off_t at = 0;
	int r = 0;

	while (r == 0) {
		ssize_t n =
			pread(self->fd, self->buffer + have, sizeof(self->buffer) - 1 - have, at);
		char *line = self->buffer, *end;

		if (n <= 0)
			return n < 0 ? -errno : have ? -EBADMSG : 0;
		at += n;
		have += (size_t)n;
		self->buffer[have] = '\0';
		for (; r == 0 && (end = strchr(line, '\n')); line = end + 1) {
			*end = '\0';
			r = fn(self, line, data);
		}
		have -= (size_t)(line - self->buffer);
		memmove(self->buffer, line, have);
		if (have == sizeof(self->buffer) - 1)
			return -EMSGSIZE;
	}
	return r < 0 ? r : 0;
}

static int reopen(struct kmod *self)
{
	if (self->fd >= 0)
		close(self->fd);
	self->fd = watt_root_open_fd(self->procfs, self->path, O_RDONLY);
	return self->fd < 0 ? self->fd : 0;
}

/* A file of a module that was loaded again has to be opened again. */
static int read_lines(struct kmod *self, int (*fn)(struct kmod *self, const char *line, void *data),
		      void *data)
{
	int r = self->fd < 0 ? -EIO : for_each_line(self, fn, data);

	if (r == -EIO) {
		r = reopen(self);
		if (r == 0)
			r = for_each_line(self, fn, data);
	}
	return r == -ENOENT ? -ENODEV : r;
}

/* ---- all: RAPL's counters */

static int take_counter(struct kmod *self, const char *line, void *data)
{
	struct watt_rapl_zone zone;
	uint64_t energy_uj;
	size_t i;
	int r;

	if (!strncmp(line, "pid=", 4))
		return 1; /* the header is over */
	r = watt_energy_rapl_parse(line, &zone, &energy_uj);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	for (i = 0; i < self->channels.n; i++) {
		if (strcmp(self->domains[i], zone.domain) != 0)
			continue;
		self->values_uj[i] = energy_uj;
		self->is_seen[i] = true;
	}
	return 0;
}

/* What the search for counters has to know. */
struct discovery {
	const struct watt_known *known;
	bool is_amd;
};

static int add_counter(struct kmod *self, const struct watt_rapl_zone *zone,
		       const struct discovery *discovery)
{
	char name[128], path[320];
	struct watt_channel channel = {
		.name = name,
		.source = "kmod",
		.domain = zone->domain,
		.path = path,
		.kind = zone->kind,
		.quantity = WATT_QUANTITY_ENERGY,
		.semantics = WATT_SEMANTICS_COUNTER,
		.origin = WATT_ORIGIN_MEASURED,
		.package_id = -1,
		.die_id = -1,
		.core_id = -1,
		.scale_num = 1000,
		.scale_den = 1,
		.max_power_uw = watt_rapl_max_power_uw(zone->kind, 0),
		.period_ns = self->window_ns,
		.uncertainty_ppm = watt_rapl_uncertainty_ppm(zone->kind, discovery->is_amd),
	};

	snprintf(name, sizeof(name), "kmod/%s", zone->domain);
	if (watt_known_has(discovery->known, name))
		return 0;
	if (self->channels.n == ZONES_MAX)
		return -E2BIG;
	if (zone->kind != WATT_DOMAIN_TOTAL) {
		channel.package_id = zone->package_id;
		channel.die_id = zone->die_id;
	} else if (zone->package_id >= 0) {
		channel.flags = WATT_CHANNEL_OVERLAP_UNKNOWN;
	}
	snprintf(path, sizeof(path), "%s/%s", self->procfs->path, PROC_ALL);
	watt_strlcpy(self->domains[self->channels.n], zone->domain, sizeof(self->domains[0]));
	return watt_channels_add(&self->channels, &channel);
}

static int discover_counter(struct kmod *self, const char *line, void *data)
{
	const struct discovery *discovery = data;
	struct watt_rapl_zone zone;
	uint64_t energy_uj;
	int r;

	if (!strncmp(line, "pid=", 4))
		return 1;
	r = watt_energy_rapl_parse(line, &zone, &energy_uj);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	return add_counter(self, &zone, discovery);
}

static void read_counters(struct kmod *self, struct watt_sample *ret)
{
	uint64_t before_ns = watt_now_ns(), after_ns;
	size_t i;
	int r;

	memset(self->is_seen, 0, sizeof(self->is_seen));
	r = read_lines(self, take_counter, NULL);
	after_ns = watt_now_ns();
	for (i = 0; i < self->channels.n; i++, ret++) {
		int own = r < 0 ? r : self->is_seen[i] ? 0 : -ENODATA;

		ret->t_before_ns = before_ns;
		ret->t_after_ns = after_ns;
		ret->status = watt_status_from_errno(own);
		ret->raw = own ? 0 : (int64_t)self->values_uj[i];
	}
}

/* ---- cgroup: what its processes took in the last window */

struct sum {
	uint64_t energy_nj;
	uint64_t end_ns;
};

static int add_record(struct kmod *self, const char *line, void *data)
{
	struct watt_energy_record record;
	struct sum *sum = data;
	int r;

	r = watt_energy_record_parse(line, &record);
	if (r < 0)
		return r;
	/* while it was read another window came: the first is not whole any more */
	if (sum->end_ns && record.window_end_ns != sum->end_ns)
		return -EAGAIN;
	sum->end_ns = record.window_end_ns;
	if (record.energy_nj > INT64_MAX - sum->energy_nj)
		return -ERANGE;
	sum->energy_nj += record.energy_nj;
	return 0;
}

/* Mean power of the window; its length is the time since the one before, if that was read. */
static uint64_t window_power_uw(struct kmod *self, const struct sum *sum)
{
	uint64_t length_ns = self->window_ns;

	if (self->last_end_ns && sum->end_ns > self->last_end_ns &&
	    sum->end_ns - self->last_end_ns < self->window_ns * 3 / 2)
		length_ns = sum->end_ns - self->last_end_ns;
	self->last_end_ns = sum->end_ns;
	return (uint64_t)((watt_u128)sum->energy_nj * 1000000 / length_ns);
}

static void read_cgroup(struct kmod *self, struct watt_sample *ret)
{
	struct sum sum = { 0 };
	int r;

	ret->t_before_ns = watt_now_ns();
	r = read_lines(self, add_record, &sum);
	if (r == -EAGAIN) {
		sum = (struct sum){ 0 };
		r = read_lines(self, add_record, &sum);
	}
	ret->t_after_ns = watt_now_ns();
	ret->status = watt_status_from_errno(r < 0 ? r : sum.end_ns ? 0 : -ENODATA);
	ret->raw = ret->status == WATT_STATUS_OK ? (int64_t)window_power_uw(self, &sum) : 0;
}

static int add_cgroup(struct kmod *self)
{
	char path[320];
	struct watt_channel channel = {
		.name = CGROUP_CHANNEL,
		.source = "kmod",
		.domain = "cgroup",
		.path = path,
		.kind = WATT_DOMAIN_CPU_RAIL,
		.quantity = WATT_QUANTITY_POWER,
		.semantics = WATT_SEMANTICS_AVERAGE,
		.origin = WATT_ORIGIN_ESTIMATED,
		.package_id = -1,
		.die_id = -1,
		.core_id = -1,
		.scale_num = 1,
		.scale_den = 1,
		.period_ns = self->window_ns,
		.window_ns = self->window_ns,
	};

	snprintf(path, sizeof(path), "%s/%s", self->procfs->path, PROC_CGROUP);
	return watt_channels_add(&self->channels, &channel);
}

/* ---- the source */

static void kmod_close(struct watt_power *power)
{
	struct kmod *self = (struct kmod *)power;

	if (!self)
		return;
	if (self->fd >= 0)
		close(self->fd);
	watt_channels_done(&self->channels);
	free(self);
}

/* What the module says of itself. -ENODEV: not loaded; -EOPNOTSUPP: it has no joules. */
static int read_parameters(const struct watt_env *env, uint64_t *ret_window_ns)
{
	char unit[32];
	int r;

	r = watt_root_read(&env->sysfs, PARAMETERS "/energy_unit", unit, sizeof(unit));
	if (r < 0)
		return r == -ENOENT ? -ENODEV : r;
	if (strcmp(unit, "uj") != 0)
		return -EOPNOTSUPP;
	r = watt_root_read_u64(&env->sysfs, PARAMETERS "/window_ns", ret_window_ns);
	if (r == 0 && (*ret_window_ns == 0 || *ret_window_ns > WINDOW_MAX_NS))
		r = -ERANGE;
	return r;
}

static int open_all(const struct watt_env *env, const struct watt_known *known, struct kmod *self)
{
	struct discovery discovery = { known, watt_cpu_is_amd(env) };
	int r;

	self->path = PROC_ALL;
	r = reopen(self);
	if (r == 0)
		r = for_each_line(self, discover_counter, &discovery);
	if (r == 0 && !self->channels.n)
		r = -ENODEV;
	return r;
}

static int open_cgroup(const struct watt_known *known, struct kmod *self)
{
	int r;

	if (watt_known_has(known, CGROUP_CHANNEL))
		return -ENODEV;
	self->path = PROC_CGROUP;
	r = reopen(self);
	return r < 0 ? r : add_cgroup(self);
}

/* The module comes and goes; with a package come its counters. */
static const char *const kmod_watched[] = { PARAMETERS, "devices/system/cpu", NULL };

static int kmod_rescan(const struct watt_env *env, const struct watt_known *known,
		       struct watt_power **ret)
{
	struct kmod *self = calloc(1, sizeof(*self));
	int r;

	if (!self)
		return -ENOMEM;
	self->fd = -1;
	self->procfs = &env->procfs;
	r = read_parameters(env, &self->window_ns);
	if (r == 0)
		r = open_all(env, known, self);
	/* a machine captured by a tenant lacks what the tenant could not read */
	if (r == -EACCES || r == -EPERM || r == -ENOENT)
		r = open_cgroup(known, self);
	if (r < 0) {
		kmod_close(&self->base);
		return r == -ENOENT ? -ENODEV : r;
	}
	self->group.n = (uint32_t)self->channels.n;
	self->group.period_ns = self->window_ns;
	self->base = (struct watt_power){ .ops = &watt_power_kmod,
					  .channels = self->channels.channel,
					  .n_channels = (uint32_t)self->channels.n,
					  .groups = &self->group,
					  .n_groups = 1 };
	*ret = &self->base;
	return 0;
}

static int kmod_open(const struct watt_env *env, struct watt_power **ret)
{
	const struct watt_known nothing = { 0 };

	return kmod_rescan(env, &nothing, ret);
}

static void kmod_read(struct watt_power *power, uint32_t group, struct watt_sample *ret)
{
	struct kmod *self = (struct kmod *)power;

	if (self->channels.channel[0].quantity == WATT_QUANTITY_ENERGY)
		read_counters(self, ret);
	else
		read_cgroup(self, ret);
}

#define SAY(field, ...) snprintf(diag->field, sizeof(diag->field), __VA_ARGS__)

static void explain(const struct kmod *self, int r, struct watt_diag *diag)
{
	if (r == 0 && self->channels.channel[0].quantity == WATT_QUANTITY_ENERGY) {
		SAY(why, "the module shows %zu counters of RAPL", self->channels.n);
	} else if (r == 0) {
		SAY(why, "the module shows what this cgroup takes, and no more to this user");
	} else if (r == -ENODEV) {
		SAY(why, "the kernel module wattribute is not loaded");
		SAY(hint, "it is optional; to have it: install wattribute-dkms, or make -C kmod, "
			  "and modprobe wattribute");
	} else if (r == -EOPNOTSUPP) {
		SAY(why, "the module is loaded, and the machine has no RAPL that it could read");
	} else if (r == -EACCES) {
		SAY(why,
		    "all processes are in the root cgroup: what it takes is the whole machine's");
		SAY(hint, "run as root of the machine, or in a cgroup of your own");
	} else {
		SAY(why, "what the module shows can't be read: %s", watt_error_text(r));
	}
}

static int kmod_probe(const struct watt_env *env, struct watt_diag *diag)
{
	struct watt_power *power = NULL;
	struct kmod *self;
	int r;

	r = kmod_open(env, &power);
	self = (struct kmod *)power;
	SAY(path, "%s", self ? self->channels.channel[0].path : "/proc/energy");
	diag->error = r;
	diag->state = r == -EOPNOTSUPP ? WATT_ABSENT : watt_availability_from_errno(r);
	explain(self, r, diag);
	if (r == 0) {
		diag->n_channels = power->n_channels;
		diag->period_ns = self->window_ns;
		diag->uncertainty_ppm = power->channels[0].uncertainty_ppm;
	}
	kmod_close(power);
	return r;
}

/* A container may have nothing else; where anything else covers the CPUs that is better. */
const struct watt_power_ops watt_power_kmod = {
	.name = "kmod",
	.summary = "the kernel module: RAPL, or the energy of one's own cgroup",
	.flags = WATT_POWER_FALLBACK,
	.probe = kmod_probe,
	.open = kmod_open,
	.rescan = kmod_rescan,
	.watched = kmod_watched,
	.read = kmod_read,
	.close = kmod_close,
};

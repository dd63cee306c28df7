/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Power source "powercap": the energy counters of RAPL (Intel, AMD) and the power readings of
 * SCMI, from the zones of /sys/class/powercap. Must not write limits or anything else there.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/util.h"
#include "source/power/cpu_vendor.h"
#include "source/power/powercap/powercap_channel.h"
#include "source/power/powercap/powercap_scan.h"
#include "source/registry.h"
#include "source/host/status.h"

/* A counter that still shows 0 after this time, which is three of its updates, does not count. */
#define SETTLE_NS (4 * WATT_NSEC_PER_MSEC)

/* How often a zone is worth reading; also the order of the groups. */
enum pace {
	PACE_ENERGY,
	PACE_POWER, /* answered by firmware, in its own time */
	PACE_SLOW,  /* duplicates, stuck and unread counters: to compare and to see them wake up */
	N_PACES,
};

static const uint64_t pace_period_ns[N_PACES] = {
	[PACE_ENERGY] = WATT_NSEC_PER_MSEC,
	[PACE_POWER] = 100 * WATT_NSEC_PER_MSEC,
	[PACE_SLOW] = WATT_NSEC_PER_SEC,
};

static const char *const powercap_watched[] = { WATT_POWERCAP_CLASS, NULL };

struct reader {
	const struct watt_powercap_zone *zone; /* borrowed */
	struct watt_file file;
	bool is_unread; /* it gave no number when it was opened */
	bool is_zero;   /* it has never shown anything but 0 */
	bool is_gone;   /* its zone was removed: when it is back it may have another number */
};

struct powercap {
	struct watt_power base;
	struct watt_powercap_zones zones;
	struct reader *readers; /* in the order of the channels */
	uint32_t n_readers;
	struct watt_channels channels;
	struct watt_power_group groups[N_PACES];
};

/* ---- the value of a zone, read again and again ---- */

/*
 * As watt_file_read_u64; -ERANGE beyond 63 bits; -ENODEV: the zone was removed, and stays so until it
 * is opened again: after the driver was unloaded and loaded, the zone of the same name may have another
 * number.
 */
static int reader_read(struct reader *reader, uint64_t *ret)
{
	uint64_t value;
	int r;

	if (reader->is_gone)
		return -ENODEV;
	if (reader->zone->is_nameless)
		return -EBADMSG;
	r = watt_file_read_u64(&reader->file, &value);
	if (r == -ENODEV)
		reader->is_gone = true;
	if (r == 0 && value > INT64_MAX)
		r = -ERANGE;
	if (r == 0)
		*ret = value;
	return r;
}

/*
 * Opens it and looks whether it gives a number. On failure it is to be closed, or to be read
 * again, when it may give one.
 */
static int reader_open(struct reader *reader, const struct watt_env *env,
		       const struct watt_powercap_zone *zone)
{
	uint64_t value = 1;
	char path[256];
	int r;

	*reader = (struct reader){ .zone = zone };
	snprintf(path, sizeof(path), WATT_POWERCAP_CLASS "/%s/%s", zone->id,
		 zone->is_energy ? "energy_uj" : "power_uw");
	r = watt_file_open(&reader->file, &env->sysfs, path);
	if (r == 0)
		r = reader_read(reader, &value);
	if (r == -EAGAIN || r == -ENODATA)
		r = 0;
	if (r == 0 && zone->is_nameless)
		r = -EBADMSG; /* whatever it counts */
	reader->is_zero = r == 0 && zone->is_energy && value == 0;
	reader->is_unread = r < 0;
	return r;
}

static void reader_close(struct reader *reader)
{
	watt_file_close(&reader->file);
}

/* What was found on the way, for the diagnosis. */
struct findings {
	size_t n_zones;
	size_t n_hidden;
	size_t n_forbidden;
	size_t n_broken;
	size_t n_zero;
	size_t n_unread; /* of the broken and forbidden ones, those that have a channel */
	char path[256];  /* of the first one that could not be read */
};

static void note_bad(struct findings *found, const struct watt_powercap_zone *zone, int r)
{
	if (r == -EACCES || r == -EPERM)
		found->n_forbidden++;
	else
		found->n_broken++;
	if (!found->path[0])
		watt_powercap_value_path(zone, found->path, sizeof(found->path));
}

static bool is_known(const struct watt_known *known, const struct watt_powercap_zone *zone)
{
	char name[256];

	watt_powercap_channel_name(zone, name, sizeof(name));
	return watt_known_has(known, name);
}

/* Whether the machine's energy is a sum that lacks something without the zone. */
static bool is_missed(const struct watt_powercap_zone *zone)
{
	return zone->is_nameless ||
	       (zone->is_rapl && !zone->is_duplicate &&
		(zone->rapl.kind == WATT_DOMAIN_PACKAGE || zone->rapl.kind == WATT_DOMAIN_DRAM));
}

/* One that gives no number: kept where a sum is incomplete without it, else left out. */
static void judge_unread(const struct watt_env *env, const struct watt_known *known,
			 struct powercap *p, struct findings *found, int r)
{
	struct reader *reader = &p->readers[p->n_readers];
	const struct watt_powercap_zone *zone = reader->zone;
	bool is_kept = !known->n && is_missed(zone);

	note_bad(found, zone, r);
	if (is_kept)
		p->n_readers++;
	else
		reader_close(reader);
	found->n_unread += is_kept;
	watt_log(&env->log, WATT_LOG_WARNING, "powercap: %s (%s) %s: %s: %s", zone->id, zone->name,
		 is_kept ? "can't be read, the machine's total is incomplete without it" :
			   "left out",
		 zone->is_nameless ? "name" :
		 zone->is_energy   ? "energy_uj" :
				     "power_uw",
		 watt_error_text(r));
}

static int open_readers(const struct watt_env *env, const struct watt_known *known,
			struct powercap *p, struct findings *found)
{
	size_t i;
	int r;

	p->readers = calloc(WATT_MAX(p->zones.n, 1), sizeof(*p->readers));
	if (!p->readers)
		return -ENOMEM;
	for (i = 0; i < p->zones.n; i++) {
		const struct watt_powercap_zone *zone = &p->zones.zone[i];

		if (is_known(known, zone))
			continue;
		r = reader_open(&p->readers[p->n_readers], env, zone);
		if (r < 0 && r != -ENOMEM)
			judge_unread(env, known, p, found, r);
		else
			p->n_readers++;
		if (r == -ENOMEM)
			return r;
	}
	return 0;
}

/* Guests and some boards show counters that never count. One more look tells them apart. */
static void settle_zeros(struct powercap *p, struct findings *found)
{
	struct timespec pause = watt_timespec_from_ns(SETTLE_NS);
	bool has_paused = false;
	uint64_t value;
	uint32_t i;

	for (i = 0; i < p->n_readers; i++) {
		struct reader *reader = &p->readers[i];

		if (!reader->is_zero)
			continue;
		if (!has_paused)
			nanosleep(&pause, NULL);
		has_paused = true;
		if (reader_read(reader, &value) == 0 && value > 0)
			reader->is_zero = false;
		else
			found->n_zero++;
	}
}

static enum pace reader_pace(const struct reader *reader)
{
	if (reader->is_zero || reader->is_unread || reader->zone->is_duplicate)
		return PACE_SLOW;
	return reader->zone->is_energy ? PACE_ENERGY : PACE_POWER;
}

static int compare_readers(const void *a, const void *b)
{
	const struct reader *x = a, *y = b;

	if (reader_pace(x) != reader_pace(y))
		return reader_pace(x) < reader_pace(y) ? -1 : 1;
	return (x->zone > y->zone) - (x->zone < y->zone);
}

/* Puts the readers in the order of their groups and makes a channel of each. */
static int make_channels(const struct watt_env *env, struct powercap *p)
{
	bool is_amd = watt_cpu_is_amd(env);
	struct watt_power_group *group = NULL;
	enum pace pace = N_PACES;
	uint32_t i;
	int r;

	qsort(p->readers, p->n_readers, sizeof(*p->readers), compare_readers);
	for (i = 0; i < p->n_readers; i++) {
		if (!group || reader_pace(&p->readers[i]) != pace) {
			pace = reader_pace(&p->readers[i]);
			group = &p->groups[p->base.n_groups++];
			group->first = i;
			group->period_ns = pace_period_ns[pace];
		}
		group->n++;
		r = watt_powercap_channel_add(env, p->readers[i].zone, p->base.n_groups - 1, is_amd,
					      p->readers[i].is_unread, &p->channels);
		if (r < 0)
			return r;
	}
	p->base.channels = p->channels.channel;
	p->base.n_channels = p->n_readers;
	p->base.groups = p->groups;
	return 0;
}

static void powercap_close(struct watt_power *power)
{
	struct powercap *p = (struct powercap *)power;
	uint32_t i;

	if (!p)
		return;
	for (i = 0; i < p->n_readers; i++)
		reader_close(&p->readers[i]);
	free(p->readers);
	watt_channels_done(&p->channels);
	watt_powercap_zones_done(&p->zones);
	free(p);
}

/*
 * Why there is nothing to measure with, when there is nothing. A counter beside others that are
 * known is worth a channel also when it has not moved yet.
 */
static int judge(const struct powercap *p, const struct watt_known *known,
		 const struct findings *found)
{
	if (p->n_readers > (known->n ? 0 : found->n_zero + found->n_unread))
		return 0;
	if (found->n_forbidden)
		return -EACCES;
	return found->n_broken && !found->n_zero ? -EIO : -ENODEV;
}

static int powercap_build(const struct watt_env *env, const struct watt_known *known,
			  struct powercap **ret, struct findings *found)
{
	struct powercap *p = calloc(1, sizeof(*p));
	int r;

	if (!p)
		return -ENOMEM;
	p->base.ops = &watt_power_powercap;
	r = watt_powercap_scan(env, &p->zones);
	if (r < 0)
		goto err_close;
	found->n_zones = p->zones.n;
	found->n_hidden = p->zones.n_hidden;
	r = open_readers(env, known, p, found);
	if (r < 0)
		goto err_close;
	settle_zeros(p, found);
	r = judge(p, known, found);
	if (r == 0)
		r = make_channels(env, p);
	if (r < 0)
		goto err_close;
	*ret = p;
	return 0;
err_close:
	powercap_close(&p->base);
	return r;
}

static int powercap_rescan(const struct watt_env *env, const struct watt_known *known,
			   struct watt_power **ret)
{
	struct findings found = { 0 };
	struct powercap *p;
	int r;

	r = powercap_build(env, known, &p, &found);
	if (r < 0)
		return r == -ENOENT ? -ENODEV : r;
	*ret = &p->base;
	return 0;
}

static int powercap_open(const struct watt_env *env, struct watt_power **ret)
{
	const struct watt_known nothing = { 0 };

	return powercap_rescan(env, &nothing, ret);
}

static void powercap_read(struct watt_power *power, uint32_t group, struct watt_sample *ret)
{
	struct powercap *p = (struct powercap *)power;
	struct reader *reader = &p->readers[p->groups[group].first];
	uint64_t t_ns, value;
	uint32_t i;
	int r;

	t_ns = watt_now_ns();
	for (i = 0; i < p->groups[group].n; i++, reader++, ret++) {
		value = 0;
		ret->t_before_ns = t_ns;
		r = reader_read(reader, &value);
		t_ns = watt_now_ns();
		ret->t_after_ns = t_ns;
		ret->status = watt_status_from_errno(r);
		if (r == 0 && value == 0 && reader->is_zero)
			ret->status = WATT_STATUS_STUCK;
		else if (r == 0)
			reader->is_zero = false;
		ret->raw = ret->status == WATT_STATUS_OK ? (int64_t)value : 0;
	}
}

#define SAY(field, ...) snprintf(diag->field, sizeof(diag->field), __VA_ARGS__)

static void explain_absent(const struct findings *found, int r, struct watt_diag *diag)
{
	if (r == -ENOENT) {
		SAY(why, "there is no powercap class: no driver has registered a zone");
		SAY(hint,
		    "on real Intel or AMD hardware: modprobe intel_rapl_msr; a virtual machine "
		    "has none");
	} else if (found->n_zero) {
		diag->error = -ENODATA;
		SAY(why, "%zu zones are there and all counters stay at 0, as in virtual machines",
		    found->n_zones);
	} else if (found->n_hidden) {
		SAY(why,
		    "%zu zones are listed and their directories are empty or masked, as in "
		    "a container",
		    found->n_hidden);
		SAY(hint, "mount the host's /sys into the container and use it as sysfs root, or "
			  "unmask /sys/devices/virtual/powercap");
	} else {
		SAY(why, "the powercap class is there and shows no zone that can be read");
		SAY(hint, "on real Intel or AMD hardware: modprobe intel_rapl_msr");
	}
}

static void explain_forbidden(const struct findings *found, struct watt_diag *diag)
{
	SAY(why, "%zu of %zu zones can be read by root only, as in every kernel since 5.10",
	    found->n_forbidden, found->n_zones);
	SAY(hint, "run as root or with CAP_DAC_READ_SEARCH, or have a udev rule or boot script do: "
		  "chmod a+r /sys/class/powercap/*/energy_uj; in a container also mount the host's "
		  "/sys");
}

static void explain(const struct powercap *p, const struct findings *found, int r,
		    struct watt_diag *diag)
{
	SAY(path, "%s", found->path[0] && r < 0 ? found->path : WATT_POWERCAP_CLASS);
	diag->error = r == -ENOENT ? -ENODEV : r;
	diag->state = watt_availability_from_errno(r);
	if (r == 0) {
		SAY(why, "%zu of %zu zones can be read%s%s", p->base.n_channels - found->n_unread,
		    found->n_zones, found->n_zero ? ", some of them stuck at 0" : "",
		    found->n_unread ? ": the machine's total is incomplete" : "");
		if (found->n_forbidden) {
			diag->error = -EACCES;
			SAY(hint, "%zu zones are forbidden: run as root to have them too",
			    found->n_forbidden);
		}
		return;
	}
	if (diag->state == WATT_ABSENT)
		explain_absent(found, r, diag);
	else if (diag->state == WATT_FORBIDDEN)
		explain_forbidden(found, diag);
	else
		SAY(why, "no zone gives a number: %s", watt_error_text(r));
}

static int powercap_probe(const struct watt_env *env, struct watt_diag *diag)
{
	struct watt_env quiet = *env;
	const struct watt_known nothing = { 0 };
	struct findings found = { 0 };
	struct powercap *p = NULL;
	uint32_t i;
	int r;

	quiet.log = (struct watt_log){ 0 };
	r = powercap_build(&quiet, &nothing, &p, &found);
	explain(p, &found, r, diag);
	if (r == 0) {
		diag->n_channels = p->base.n_channels;
		diag->period_ns = p->groups[0].period_ns;
		for (i = 0; i < p->base.n_channels; i++)
			diag->uncertainty_ppm = WATT_MAX(diag->uncertainty_ppm,
							 p->base.channels[i].uncertainty_ppm);
	}
	powercap_close(p ? &p->base : NULL);
	return diag->error;
}

const struct watt_power_ops watt_power_powercap = {
	.name = "powercap",
	.summary = "RAPL energy counters in the powercap class",
	.flags = WATT_POWER_X86,
	.probe = powercap_probe,
	.open = powercap_open,
	.rescan = powercap_rescan,
	.watched = powercap_watched,
	.read = powercap_read,
	.close = powercap_close,
};

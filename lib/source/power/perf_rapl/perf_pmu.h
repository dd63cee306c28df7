/* SPDX-License-Identifier: Apache-2.0 */
/* What sysfs tells of a PMU that counts energy. Immutable once read. */
#ifndef WATT_SOURCE_POWER_PERF_RAPL_PERF_PMU_H
#define WATT_SOURCE_POWER_PERF_RAPL_PERF_PMU_H

#include "source/source.h"

#define WATT_PMU_EVENTS_MAX 16

struct watt_pmu_event {
	char name[32];      /* "energy-pkg" */
	uint64_t config;    /* for perf_event_open */
	uint64_t scale_num; /* count to nJ */
	uint64_t scale_den;
};

struct watt_pmu {
	char name[32]; /* "power" */
	uint32_t type; /* for perf_event_open */
	struct watt_pmu_event events[WATT_PMU_EVENTS_MAX];
	uint32_t n_events;
	uint32_t *cpus; /* on which to open each event */
	uint32_t n_cpus;
};

#define WATT_PMU_INIT \
	{ \
		0 \
	}

/*
 * Reads bus/event_source/devices/<name>. Events that are not in joules, or make no sense, are left
 * out with a warning. -ENOENT: no such PMU; -EBADMSG: it is not to be understood; -ENOMEM.
 */
int watt_pmu_open(const struct watt_env *env, const char *name, struct watt_pmu *ret);
void watt_pmu_done(struct watt_pmu *pmu);

/* A field of a config word, as in a format file: "config:0-7". -EBADMSG. */
struct watt_pmu_field {
	unsigned int first_bit;
	unsigned int last_bit;
};

int watt_pmu_field_parse(const char *text, struct watt_pmu_field *ret);
/*
 * The config word of an event file, "event=0x02", by the field of "event". -EBADMSG: not
 * understood, also any other term; -ERANGE: the value is too large for the field.
 */
int watt_pmu_config_parse(const char *text, const struct watt_pmu_field *field, uint64_t *ret);
/*
 * Count to nJ, from the contents of the scale and unit files. -EBADMSG, -ERANGE; -EOPNOTSUPP: the
 * unit is not the joule.
 */
int watt_pmu_scale_parse(const char *scale, const char *unit, uint64_t *ret_num, uint64_t *ret_den);

#endif

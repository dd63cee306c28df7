/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads what sysfs tells of a PMU: its number, its CPUs, and its events with scale and unit.
 * Must not open an event.
 */
#include "source/power/perf_rapl/perf_pmu.h"
#include "source/host/status.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/parse.h"
#include "base/util.h"

#define DEVICES "bus/event_source/devices"
#define NJ_PER_J 1000000000ULL

int watt_pmu_field_parse(const char *text, struct watt_pmu_field *ret)
{
	static const char prefix[] = "config:";
	uint64_t first, last;

	if (strncmp(text, prefix, sizeof(prefix) - 1))
		return -EBADMSG;
	text += sizeof(prefix) - 1;
	if (watt_scan_u64(&text, &first) < 0)
		return -EBADMSG;
	last = first;
	if (*text == '-') {
		text++;
		if (watt_scan_u64(&text, &last) < 0)
			return -EBADMSG;
	}
	if (*text || first > last || last > 63)
		return -EBADMSG;
	*ret = (struct watt_pmu_field){ (unsigned int)first, (unsigned int)last };
	return 0;
}

int watt_pmu_config_parse(const char *text, const struct watt_pmu_field *field, uint64_t *ret)
{
	static const char prefix[] = "event=";
	unsigned int n_bits = field->last_bit - field->first_bit + 1;
	uint64_t value;
	int r;

	if (strncmp(text, prefix, sizeof(prefix) - 1))
		return -EBADMSG;
	text += sizeof(prefix) - 1;
	/* the kernel writes 0x02; a plain number is decimal */
	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		r = watt_parse_hex(text, &value);
	else
		r = watt_parse_u64(text, &value);
	if (r < 0)
		return r;
	if (n_bits < 64 && value >> n_bits)
		return -ERANGE;
	*ret = value << field->first_bit;
	return 0;
}

int watt_pmu_scale_parse(const char *scale, const char *unit, uint64_t *ret_num, uint64_t *ret_den)
{
	uint64_t num, den, common, factor = NJ_PER_J;
	int r;

	if (strcmp(unit, "Joules"))
		return -EOPNOTSUPP;
	r = watt_parse_ratio(scale, &num, &den);
	if (r < 0)
		return r;
	common = watt_gcd_u64(factor, den);
	factor /= common;
	den /= common;
	if (num > UINT64_MAX / factor)
		return -ERANGE;
	*ret_num = num * factor;
	*ret_den = den;
	return 0;
}

static int read_event(const struct watt_env *env, const char *pmu, const char *name,
		      const struct watt_pmu_field *field, struct watt_pmu_event *ret)
{
	struct watt_pmu_event event = { 0 };
	char text[128], unit[32];
	int r;

	if (strlen(name) >= sizeof(event.name))
		return -ENAMETOOLONG;
	watt_strlcpy(event.name, name, sizeof(event.name));
	r = watt_root_readf(&env->sysfs, text, sizeof(text), DEVICES "/%s/events/%s", pmu, name);
	if (r >= 0)
		r = watt_pmu_config_parse(text, field, &event.config);
	if (r >= 0)
		r = watt_root_readf(&env->sysfs, text, sizeof(text), DEVICES "/%s/events/%s.scale",
				    pmu, name);
	if (r >= 0)
		r = watt_root_readf(&env->sysfs, unit, sizeof(unit), DEVICES "/%s/events/%s.unit",
				    pmu, name);
	if (r >= 0)
		r = watt_pmu_scale_parse(text, unit, &event.scale_num, &event.scale_den);
	if (r >= 0)
		*ret = event;
	return r < 0 ? r : 0;
}

static void read_events(const struct watt_env *env, struct watt_pmu *pmu,
			const struct watt_pmu_field *field, const struct watt_names *names)
{
	size_t i;
	int r;

	for (i = 0; i < names->n && pmu->n_events < WATT_PMU_EVENTS_MAX; i++) {
		if (strchr(names->name[i], '.')) /* energy-pkg.scale, energy-pkg.unit */
			continue;
		r = read_event(env, pmu->name, names->name[i], field, &pmu->events[pmu->n_events]);
		if (r == 0)
			pmu->n_events++;
		else
			watt_log(&env->log, WATT_LOG_WARNING, "perf_rapl: %s/%s/ left out: %s",
				 pmu->name, names->name[i],
				 r == -EOPNOTSUPP ? "its unit is not Joules" : watt_error_text(r));
	}
}

static int scan_events(const struct watt_env *env, struct watt_pmu *pmu)
{
	struct watt_names names = WATT_NAMES_INIT;
	struct watt_pmu_field field;
	char path[128], text[64];
	int r;

	snprintf(path, sizeof(path), DEVICES "/%s/events", pmu->name);
	r = watt_root_list(&env->sysfs, path, "energy-", &names);
	if (r == -ENOENT || (r == 0 && names.n == 0))
		return 0; /* a guest may have the PMU and nothing in it */
	if (r < 0)
		return r;
	r = watt_root_readf(&env->sysfs, text, sizeof(text), DEVICES "/%s/format/event", pmu->name);
	if (r >= 0)
		r = watt_pmu_field_parse(text, &field);
	if (r == 0)
		read_events(env, pmu, &field, &names);
	watt_names_free(&names);
	return r == -ENOENT ? -EBADMSG : r;
}

struct cpu_list {
	uint32_t *cpu;
	size_t n;
	size_t cap;
};

static int add_cpu(unsigned int cpu, void *data)
{
	struct cpu_list *list = data;
	int r;

	r = watt_grow((void **)&list->cpu, &list->cap, list->n, sizeof(*list->cpu));
	if (r == 0)
		list->cpu[list->n++] = cpu;
	return r;
}

static int read_cpus(const struct watt_env *env, struct watt_pmu *pmu)
{
	struct cpu_list list = { 0 };
	char text[4096];
	int r;

	r = watt_root_readf(&env->sysfs, text, sizeof(text), DEVICES "/%s/cpumask", pmu->name);
	if (r >= 0)
		r = watt_parse_cpulist(text, add_cpu, &list);
	if (r >= 0 && list.n == 0)
		r = -EBADMSG;
	if (r < 0) {
		free(list.cpu);
		return r == -ENOENT ? -EBADMSG : r;
	}
	pmu->cpus = list.cpu;
	pmu->n_cpus = (uint32_t)list.n;
	return 0;
}

int watt_pmu_open(const struct watt_env *env, const char *name, struct watt_pmu *ret)
{
	struct watt_pmu pmu = WATT_PMU_INIT;
	uint64_t type;
	char text[32];
	int r;

	watt_strlcpy(pmu.name, name, sizeof(pmu.name));
	r = watt_root_readf(&env->sysfs, text, sizeof(text), DEVICES "/%s/type", name);
	if (r >= 0)
		r = watt_parse_u64(text, &type);
	if (r == 0 && type > INT32_MAX)
		r = -ERANGE;
	if (r < 0)
		return r;
	pmu.type = (uint32_t)type;
	r = scan_events(env, &pmu);
	if (r == 0 && pmu.n_events > 0)
		r = read_cpus(env, &pmu);
	if (r < 0)
		return r;
	*ret = pmu;
	return 0;
}

void watt_pmu_done(struct watt_pmu *pmu)
{
	free(pmu->cpus);
	*pmu = (struct watt_pmu)WATT_PMU_INIT;
}

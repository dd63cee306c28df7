/* SPDX-License-Identifier: Apache-2.0 */
/* What tests of sensor sources need: a machine of files, the lines logged, expected channels. */
#ifndef WATT_TESTS_SENSORS_H
#define WATT_TESTS_SENSORS_H

#include "unit.h"

#include "base/util.h"
#include "source/config.h"
#include "source/registry.h"

/* A machine of files, and a source opened on it. */
struct machine {
	struct watt_env env;
	struct watt_config config;
	struct watt_power *power;
	unsigned int n_warnings;
	char log[8192];
};

/* One channel as it must be. flags and the ids are compared only as told. */
struct expected {
	const char *name;
	const char *domain;
	enum watt_domain_kind kind;
	int64_t raw;
	uint32_t flags;
	int32_t package_id; /* as is: -1 for none */
};

#define OVERLAP WATT_CHANNEL_OVERLAP_UNKNOWN
#define SIGNED WATT_CHANNEL_SIGNED

static inline void machine_log(void *data, enum watt_log_level level, const char *text)
{
	struct machine *m = data;
	size_t len = strlen(m->log);

	assert_null(strchr(text, '\n'));
	m->n_warnings += level <= WATT_LOG_WARNING;
	snprintf(m->log + len, sizeof(m->log) - len, "%s\n", text);
}

static inline void machine_init(struct machine *m, const char *dir)
{
	char path[PATH_MAX + 8];

	*m = (struct machine){ .env = { .sysfs = WATT_ROOT_INIT, .procfs = WATT_ROOT_INIT } };
	m->env.config = &m->config;
	m->env.log = (struct watt_log){ machine_log, m };
	snprintf(path, sizeof(path), "%s/sys", dir);
	assert_int_equal(watt_root_open(&m->env.sysfs, path), 0);
	snprintf(path, sizeof(path), "%s/proc", dir);
	watt_root_open(&m->env.procfs, path);
}

static inline void machine_init_fixture(struct machine *m, const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", getenv("WATT_FIXTURES"), name);
	machine_init(m, path);
}

static inline int machine_open(struct machine *m, const struct watt_power_ops *ops)
{
	return ops->open(&m->env, &m->power);
}

static inline void machine_close_source(struct machine *m)
{
	if (m->power)
		m->power->ops->close(m->power);
	m->power = NULL;
}

static inline void machine_done(struct machine *m)
{
	machine_close_source(m);
	watt_root_close(&m->env.sysfs);
	watt_root_close(&m->env.procfs);
}

/* A copy of a fixture that a test may change; remove it with scratch_remove(). */
static inline char *machine_copy(const char *name)
{
	char command[2 * PATH_MAX];
	char *dir = scratch_new();

	snprintf(command, sizeof(command), "cp -a '%s/%s/.' '%s'", getenv("WATT_FIXTURES"), name,
		 dir);
	assert_int_equal(system(command), 0);
	return dir;
}

/* What every source owes, whatever it reads. */
static inline void check_power(const struct watt_power *power)
{
	uint32_t i, k, next = 0;

	for (i = 0; i < power->n_groups; i++) {
		assert_int_equal(power->groups[i].first, next);
		assert_true(power->groups[i].n > 0);
		for (k = 0; k < power->groups[i].n; k++)
			assert_int_equal(power->channels[next + k].group, i);
		next += power->groups[i].n;
	}
	assert_int_equal(next, power->n_channels);
	for (i = 0; i < power->n_channels; i++) {
		const struct watt_channel *c = &power->channels[i];

		assert_string_equal(c->source, power->ops->name);
		assert_int_equal(c->origin, WATT_ORIGIN_MEASURED);
		assert_true(c->scale_num > 0 && c->scale_den > 0);
		assert_true(c->domain[0]);
		assert_int_equal(strncmp(c->name, c->source, strlen(c->source)), 0);
		for (k = 0; k < i; k++) {
			assert_string_not_equal(power->channels[k].name, c->name);
			assert_string_not_equal(power->channels[k].domain, c->domain);
		}
	}
}

static inline void machine_read(struct machine *m, struct watt_sample *ret)
{
	uint32_t i;

	for (i = 0; i < m->power->n_groups; i++)
		m->power->ops->read(m->power, i, ret + m->power->groups[i].first);
}

/* Compares all channels and their readings with the table, in order. */
static inline void check_channels(struct machine *m, const struct expected *expected, size_t n)
{
	struct watt_sample samples[64];
	size_t i;

	check_power(m->power);
	for (i = 0; i < n && i < m->power->n_channels; i++)
		assert_string_equal(m->power->channels[i].name, expected[i].name);
	assert_int_equal(m->power->n_channels, n);
	machine_read(m, samples);
	for (i = 0; i < n; i++) {
		const struct watt_channel *c = &m->power->channels[i];

		assert_string_equal(c->domain, expected[i].domain);
		assert_int_equal(c->kind, expected[i].kind);
		assert_int_equal(c->flags, expected[i].flags);
		assert_int_equal(c->package_id, expected[i].package_id);
		assert_int_equal(samples[i].status, WATT_STATUS_OK);
		assert_int_equal(samples[i].raw, expected[i].raw);
		assert_true(samples[i].t_before_ns > 0);
		assert_true(samples[i].t_before_ns <= samples[i].t_after_ns);
	}
}

static inline const struct watt_channel *channel_named(const struct machine *m, const char *name)
{
	uint32_t i;

	for (i = 0; i < m->power->n_channels; i++)
		if (!strcmp(m->power->channels[i].name, name))
			return &m->power->channels[i];
	fail_msg("no channel %s", name);
	return NULL;
}

/* The reading of one channel. */
static inline struct watt_sample sample_named(struct machine *m, const char *name)
{
	struct watt_sample samples[64];

	assert_true(m->power->n_channels <= WATT_ARRAY_SIZE(samples));
	machine_read(m, samples);
	return samples[channel_named(m, name) - m->power->channels];
}

/*
 * What the machine draws: the sum over roots that may be added, in the channels' canonical unit.
 * Negative readings take away.
 */
static inline int64_t sum_of_roots(struct machine *m)
{
	struct watt_sample samples[64];
	int64_t sum = 0;
	uint32_t i;

	machine_read(m, samples);
	for (i = 0; i < m->power->n_channels; i++) {
		const struct watt_channel *c = &m->power->channels[i];

		if (!strchr(c->domain, '/') && !(c->flags & WATT_CHANNEL_OVERLAP_UNKNOWN))
			sum += samples[i].raw * (int64_t)c->scale_num / (int64_t)c->scale_den;
	}
	return sum;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What tests of sensor sources need: a machine of files, the lines logged, expected channels. */
#ifndef WATT_TESTS_SENSORS_H
#define WATT_TESTS_SENSORS_H

#include "power.h"

#include "base/util.h"
#include "source/registry.h"

/* A machine of files, its configuration, and a source opened on it. */
struct machine {
	struct power_world world;
	struct watt_config config;
	struct watt_power *power;
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

static inline void machine_init(struct machine *m, const char *dir)
{
	*m = (struct machine){ 0 };
	world_open(&m->world, dir);
	m->world.env.config = &m->config;
}

static inline void machine_init_fixture(struct machine *m, const char *name)
{
	*m = (struct machine){ 0 };
	world_open_fixture(&m->world, name);
	m->world.env.config = &m->config;
}

static inline int machine_open(struct machine *m, const struct watt_power_ops *ops)
{
	return ops->open(&m->world.env, &m->power);
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
	world_close(&m->world);
}

/* As check_power; also, two sensors of one source are two things, and have two places. */
static inline void check_sensors(const struct watt_power *power)
{
	uint32_t i, k;

	check_power(power);
	for (i = 0; i < power->n_channels; i++) {
		const struct watt_channel *c = &power->channels[i];

		assert_int_equal(c->origin, WATT_ORIGIN_MEASURED);
		assert_int_equal(strncmp(c->name, c->source, strlen(c->source)), 0);
		for (k = 0; k < i; k++)
			assert_string_not_equal(power->channels[k].domain, c->domain);
	}
}

/* Compares all channels and their readings with the table, in order. */
static inline void check_channels(struct machine *m, const struct expected *expected, size_t n)
{
	struct watt_sample samples[64];
	size_t i;

	check_sensors(m->power);
	for (i = 0; i < n && i < m->power->n_channels; i++)
		assert_string_equal(m->power->channels[i].name, expected[i].name);
	assert_int_equal(m->power->n_channels, n);
	read_all_groups(m->power, samples);
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

/* The reading of one channel. */
static inline struct watt_sample sample_named(struct machine *m, const char *name)
{
	struct watt_sample samples[64];

	assert_true(m->power->n_channels <= WATT_ARRAY_SIZE(samples));
	read_all_groups(m->power, samples);
	return samples[channel_named(m->power, name) - m->power->channels];
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

	read_all_groups(m->power, samples);
	for (i = 0; i < m->power->n_channels; i++) {
		const struct watt_channel *c = &m->power->channels[i];

		if (!strchr(c->domain, '/') && !(c->flags & WATT_CHANNEL_OVERLAP_UNKNOWN))
			sum += samples[i].raw * (int64_t)c->scale_num / (int64_t)c->scale_den;
	}
	return sum;
}

#endif

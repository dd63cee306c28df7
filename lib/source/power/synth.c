/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sensors of things that are not there: a simulated machine of as many CPUs and packages as this
 * one, and rails whose power is a sine, a square or a ramp. Their vices are those of real ones;
 * docs/sources/synth.md lists them. Simulated, and only by name. Unlike other sources its reads
 * allocate: the simulation goes on inside them.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/util.h"
#include "source/registry.h"
#include "source/host/status.h"
#include "source/synth/live.h"
#include "source/synth/sensor.h"
#include "source/synth/signal.h"

#define MS WATT_NSEC_PER_MSEC
#define S WATT_NSEC_PER_SEC

/* The digit and the modulus of a RAPL counter of 32 bits. */
#define RAPL_QUANTUM_NJ 61035
#define RAPL_WRAP_NJ (61035 * (1ULL << 32))

#define N_SIGNALS 3

/* What a channel reads: a sensor on a view of the machine, or on a signal. */
struct probe {
	struct watt_synth_sensor sensor;
	struct watt_synth_view view;
	struct watt_synth_signal signal;
	struct watt_synth_gap gap;
	uint64_t reset_ns;
	char name[48];
};

struct synth {
	struct watt_power power; /* first */
	struct watt_power_group groups[2];
	struct watt_synth_machine *machine;
	struct probe *probes; /* per channel: the machine's domains, then the signals */
	struct watt_channel *channels;
	size_t n_domains;
};

static void synth_close(struct watt_power *power)
{
	struct synth *synth = (struct synth *)power;

	if (!synth)
		return;
	watt_synth_machine_free(synth->machine);
	free(synth->probes);
	free(synth->channels);
	free(synth);
}

/* ---- reading ---- */

static void fail(struct watt_sample *sample, uint64_t t_ns)
{
	*sample = (struct watt_sample){ .t_before_ns = t_ns,
					.t_after_ns = t_ns,
					.channel = sample->channel,
					.status = WATT_STATUS_BROKEN };
}

static void read_machine(struct synth *synth, uint64_t t_ns, struct watt_sample *ret)
{
	size_t i;
	int r;

	r = watt_synth_machine_run(synth->machine, t_ns);
	for (i = 0; i < synth->n_domains; i++) {
		struct probe *probe = &synth->probes[i];

		if (r < 0)
			fail(&ret[i], t_ns);
		else
			watt_synth_sensor_read(&probe->sensor, watt_synth_machine_true_nj,
					       &probe->view, t_ns, &ret[i]);
	}
	/* Far more than the delay of any of its sensors. */
	watt_synth_machine_forget(synth->machine, t_ns - S);
}

static void read_signals(struct synth *synth, uint64_t t_ns, struct watt_sample *ret)
{
	size_t i;

	for (i = 0; i < N_SIGNALS; i++) {
		struct probe *probe = &synth->probes[synth->n_domains + i];

		watt_synth_sensor_read(&probe->sensor, watt_synth_signal_true_nj, &probe->signal,
				       t_ns, &ret[i]);
	}
}

static void synth_read(struct watt_power *power, uint32_t group, struct watt_sample *ret)
{
	struct synth *synth = (struct synth *)power;
	uint64_t t_ns = watt_now_ns();

	if (group == 0)
		read_machine(synth, t_ns, ret);
	else
		read_signals(synth, t_ns, ret);
}

/* ---- opening ---- */

/* A package counts as RAPL does and is near its wrap; memory tells late; cores are exact. */
static void make_machine_sensor(struct probe *probe, enum watt_domain_kind kind, uint64_t seed)
{
	probe->sensor = (struct watt_synth_sensor){
		.quantity = WATT_QUANTITY_ENERGY,
		.semantics = WATT_SEMANTICS_COUNTER,
		.period_ns = MS,
		.jitter_ns = 50000,
		.seed = seed,
		.quantum = RAPL_QUANTUM_NJ,
		.wrap_nj = RAPL_WRAP_NJ,
	};
	if (kind == WATT_DOMAIN_PACKAGE)
		probe->sensor.start_nj = RAPL_WRAP_NJ - 60 * S;
	else if (kind == WATT_DOMAIN_DRAM)
		probe->sensor.delay_ns = 10 * MS;
}

static void make_machine_channel(struct synth *synth, size_t index)
{
	const struct watt_synth_domain *domain = watt_synth_machine_domain(synth->machine, index);
	struct watt_channel *channel = &synth->channels[index];
	struct probe *probe = &synth->probes[index];

	probe->view = (struct watt_synth_view){ synth->machine, index };
	make_machine_sensor(probe, domain->kind, index);
	snprintf(probe->name, sizeof(probe->name), "synth/%s", domain->path);
	*channel = (struct watt_channel){
		.sz = sizeof(*channel),
		.name = probe->name,
		.source = "synth",
		.domain = domain->path,
		.kind = domain->kind,
		.package_id = domain->package_id,
		.die_id = -1,
		.core_id = domain->core_id,
		.group = 0,
	};
	watt_synth_sensor_describe(&probe->sensor, channel);
}

static void make_sine(struct probe *probe, uint64_t epoch_ns)
{
	probe->signal =
		(struct watt_synth_signal){ WATT_SYNTH_SINE, 1000000, 5000000, 5 * S, 0, epoch_ns };
	probe->sensor.semantics = WATT_SEMANTICS_INSTANT;
	probe->sensor.quantum = 1000;
}

/* Averaged, late, and away from the 20th to the 25th second. */
static void make_square(struct probe *probe, uint64_t epoch_ns)
{
	probe->signal =
		(struct watt_synth_signal){ WATT_SYNTH_SQUARE, 500000, 2500000, 2 * S, 250000,
					    epoch_ns };
	probe->sensor.semantics = WATT_SEMANTICS_AVERAGE;
	probe->sensor.window_ns = 100 * MS;
	probe->sensor.delay_ns = 50 * MS;
	probe->sensor.quantum = 25000;
	probe->gap =
		(struct watt_synth_gap){ epoch_ns + 20 * S, epoch_ns + 25 * S, WATT_STATUS_ABSENT };
	probe->sensor.gaps = &probe->gap;
	probe->sensor.n_gaps = 1;
}

/* A counter, which the 30th second resets. */
static void make_ramp(struct probe *probe, uint64_t epoch_ns)
{
	probe->signal =
		(struct watt_synth_signal){ WATT_SYNTH_RAMP, 0, 3000000, 4 * S, 0, epoch_ns };
	probe->sensor.quantity = WATT_QUANTITY_ENERGY;
	probe->sensor.semantics = WATT_SEMANTICS_COUNTER;
	probe->sensor.quantum = 1000;
	probe->reset_ns = epoch_ns + 30 * S;
	probe->sensor.resets_ns = &probe->reset_ns;
	probe->sensor.n_resets = 1;
}

static void make_signal_channel(struct synth *synth, size_t index, uint64_t epoch_ns)
{
	static const struct {
		const char *name;
		void (*make)(struct probe *probe, uint64_t epoch_ns);
	} shapes[N_SIGNALS] = {
		{ "sine", make_sine },
		{ "square", make_square },
		{ "ramp", make_ramp },
	};
	struct probe *probe = &synth->probes[synth->n_domains + index];
	struct watt_channel *channel = &synth->channels[synth->n_domains + index];

	probe->sensor = (struct watt_synth_sensor){ .quantity = WATT_QUANTITY_POWER,
						    .period_ns = 10 * MS,
						    .phase_ns = epoch_ns };
	shapes[index].make(probe, epoch_ns);
	snprintf(probe->name, sizeof(probe->name), "synth/%s", shapes[index].name);
	*channel = (struct watt_channel){
		.sz = sizeof(*channel),
		.name = probe->name,
		.source = "synth",
		.domain = shapes[index].name,
		.kind = WATT_DOMAIN_RAIL,
		.package_id = -1,
		.die_id = -1,
		.core_id = -1,
		.group = 1,
	};
	watt_synth_sensor_describe(&probe->sensor, channel);
}

static int make_channels(struct synth *synth, uint64_t epoch_ns)
{
	size_t i, n;

	synth->n_domains = watt_synth_machine_domain_count(synth->machine);
	n = synth->n_domains + N_SIGNALS;
	synth->probes = calloc(n, sizeof(*synth->probes));
	synth->channels = calloc(n, sizeof(*synth->channels));
	if (!synth->probes || !synth->channels)
		return -ENOMEM;
	for (i = 0; i < synth->n_domains; i++)
		make_machine_channel(synth, i);
	for (i = 0; i < N_SIGNALS; i++)
		make_signal_channel(synth, i, epoch_ns);
	synth->groups[0] =
		(struct watt_power_group){ .n = (uint32_t)synth->n_domains, .period_ns = MS };
	synth->groups[1] = (struct watt_power_group){ .first = (uint32_t)synth->n_domains,
						      .n = N_SIGNALS,
						      .period_ns = 10 * MS };
	synth->power = (struct watt_power){ .ops = &watt_power_synth,
					    .channels = synth->channels,
					    .n_channels = (uint32_t)n,
					    .groups = synth->groups,
					    .n_groups = 2 };
	return 0;
}

static int synth_open(const struct watt_env *env, struct watt_power **ret)
{
	struct synth *synth = calloc(1, sizeof(*synth));
	uint64_t epoch_ns;
	int r;

	if (!synth)
		return -ENOMEM;
	r = watt_synth_live_open(env, false, &synth->machine, &epoch_ns);
	if (r == 0)
		r = make_channels(synth, epoch_ns);
	if (r < 0) {
		synth_close(&synth->power);
		return r;
	}
	*ret = &synth->power;
	return 0;
}

static int synth_probe(const struct watt_env *env, struct watt_diag *diag)
{
	struct watt_power *power;
	int r;

	r = synth_open(env, &power);
	diag->error = r;
	diag->state = watt_availability_from_errno(r);
	if (r < 0) {
		snprintf(diag->why, sizeof(diag->why), "the simulation can't begin: %s",
			 strerrordesc_np(-r));
		return r;
	}
	diag->n_channels = power->n_channels;
	diag->period_ns = MS;
	snprintf(diag->why, sizeof(diag->why),
		 "always there, for tests: a simulated machine and three rails");
	synth_close(power);
	return 0;
}

const struct watt_power_ops watt_power_synth = {
	.name = "synth",
	.summary = "a simulated machine and signals, for tests",
	.flags = WATT_POWER_TEST,
	.probe = synth_probe,
	.open = synth_open,
	.read = synth_read,
	.close = synth_close,
};

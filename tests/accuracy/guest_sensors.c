/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether totals are right whatever sensors do. The simulator (kmod/sim) shows sensors to the
 * kernel's own cores, and scripts (sensor_script.c) have them wrap, begin anew, fail, go away and
 * come back, while `wattribute record` measures; its totals and what it says of losses are held
 * against what the meters truly used. In the guest, as root: tests/guest/tests/sim-totals.
 *
 * usage: guest_sensors SCRIPT...     measures while each script is played, and judges
 *        guest_sensors --stat SCRIPT   what `wattribute stat` says of package-0 with what is in it
 *        guest_sensors --live          what the library says of sensors while they fail
 *        guest_sensors --play SCRIPT
 *
 * How far a total may be off is computed from the sensor and from the readings, never chosen:
 *     counter: two units and 2 uJ, which is what its file cuts off
 *     power:   for each two readings, what the power went up and down from before the first to
 *              after the second, times their distance: no straight line can be further off
 * Energy that nobody could see is left out of the truth, for exactly the time (power), or from
 * exactly the reading (counter), for which the product has to report a gap. If the machine below
 * stopped the guest for so long that a counter may have wrapped unseen, it is measured again.
 */
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../guest/sim.h"
#include "power_log.h"
#include "product.h"
#include "sensor_live.h"
#include "sensor_script.h"

#define TRIES 6
#define STALL_NS 450000000ULL /* less than the shortest wrap, and than what is a gap */
#define NJ_PER_UJ 1000
#define STAT_RESET_W 300 /* of the meter whose counter is reset while stat measures */

enum fate {
	FAILS = 1 << 0,        /* some readings have no value */
	RESETS = 1 << 1,       /* begins anew, once */
	WRAPS = 1 << 2,        /* twice or more */
	WRAPS_UNSEEN = 1 << 3, /* more often than once while it fails */
	GOES = 1 << 4,         /* for good */
};

struct subject {
	const char *script;
	const char *channel; /* the end of its name */
	const char *meter;
	const char *counter; /* as `state` of the simulator begins its line; NULL: a power */
	unsigned int fates;
	int64_t unit_nj;
};

static const struct subject subjects[] = {
	{ "zones", "powercap/package-0", "a", "zone package-0", WRAPS, 400 },
	{ "zones", "powercap/package-0/core", "b", "zone package-0/core", FAILS, 61035 },
	{ "zones", "powercap/package-0/dram", "c", "zone package-0/dram", RESETS, 61035 },
	{ "zones", "powercap/package-0/uncore", "g", "zone package-0/uncore", FAILS | WRAPS_UNSEEN,
	  200 },
	{ "zones", "powercap/package-1", "d", "zone package-1", FAILS, 61035 },
	{ "zones", "powercap/package-1/core", "e", "zone package-1/core", FAILS, 61035 },
	{ "zones", "powercap/package-1/dram", "f", "zone package-1/dram", FAILS | RESETS, 61035 },
	{ "chips", "/fails", "a", "chip counts energy1", FAILS, 1000 },
	{ "chips", "/begins_anew", "b", "chip counts energy2", RESETS, 1000 },
	{ "chips", "/busy", "c", NULL, FAILS, 0 },
	{ "chips", "/goes", "d", NULL, FAILS | GOES, 0 },
	{ "chips", "/rail", "e", NULL, 0, 0 },
	{ "chips", "/ramp", "f", NULL, 0, 0 },
	{ "monitors", "/ramp", "d", NULL, 0, 0 },
	{ "monitors", "/busy", "a", NULL, FAILS, 0 },
	{ "monitors", "/rail", "b", NULL, FAILS, 0 },
	{ "monitors", "/goes", "c", NULL, FAILS | GOES, 0 },
	{ "registers", "powercap/package-0", "a", "msr 0x611 package=0", 0, 61035 },
	{ "registers", "powercap/package-1", "b", "msr 0x611 package=1", FAILS, 61035 },
};

/* What the readings of a subject should have come to. */
struct expectation {
	int64_t energy_nj;
	int64_t allowed_nj;
	uint64_t gap_ns;
	bool has_stalled;
};

/* A subject, measured. */
struct trial {
	const struct subject *subject;
	const struct power_log *log;
	int64_t before_nj; /* used before measuring began */
	const struct watt_channel *channel;
	const struct watt_sample *samples;
	size_t n;
	struct product_domain domain;
};

static uint64_t middle_ns(const struct watt_sample *sample)
{
	return sample->t_before_ns + (sample->t_after_ns - sample->t_before_ns) / 2;
}

static int64_t true_nj(const struct trial *trial, uint64_t t_ns)
{
	return power_log_energy_nj(trial->log, trial->subject->meter, t_ns);
}

static int64_t shown_nj(const struct trial *trial, const struct watt_sample *sample)
{
	return (int64_t)((__int128)sample->raw * (__int128)trial->channel->scale_num /
			 (__int128)trial->channel->scale_den);
}

/* ---- what should have been measured ---- */

/* The counter begins anew between two readings: what it counted after the first of them is lost. */
static void expect_reset(const struct trial *trial, const struct watt_sample *a,
			 const struct watt_sample *b, struct expectation *expected)
{
	/* the first reading shows what it showed before anything was used by the script */
	expected->energy_nj -= sim_origin_nj(trial->subject->counter) - trial->before_nj +
			       shown_nj(trial, &trial->samples[0]) - shown_nj(trial, a);
	expected->gap_ns += middle_ns(b) - middle_ns(a);
}

/* It wraps more than once between two readings: no reading tells how often. */
static void expect_lost_wraps(const struct trial *trial, const struct watt_sample *a,
			      const struct watt_sample *b, struct expectation *expected)
{
	int64_t modulus_nj = (int64_t)trial->channel->wrap_nj;
	int64_t used_nj = true_nj(trial, middle_ns(b)) - true_nj(trial, middle_ns(a));
	int64_t seen_nj = shown_nj(trial, b) - shown_nj(trial, a);

	seen_nj += seen_nj < 0 ? modulus_nj : 0;
	expected->energy_nj -=
		llround((double)(used_nj - seen_nj) / (double)modulus_nj) * modulus_nj;
}

static void expect_counter(const struct trial *trial, const struct watt_sample *a,
			   const struct watt_sample *b, struct expectation *expected)
{
	bool has_fallen = b->raw < a->raw;

	if ((trial->subject->fates & RESETS) && has_fallen)
		expect_reset(trial, a, b, expected);
	if ((trial->subject->fates & WRAPS_UNSEEN) && b > a + 1)
		expect_lost_wraps(trial, a, b, expected);
}

static void expect_power(const struct trial *trial, const struct watt_sample *a,
			 const struct watt_sample *b, struct expectation *expected)
{
	uint64_t distance_ns = middle_ns(b) - middle_ns(a);
	int64_t change_uw;

	if (b > a + 1) {
		expected->energy_nj -= true_nj(trial, middle_ns(b)) - true_nj(trial, middle_ns(a));
		expected->gap_ns += distance_ns;
		return;
	}
	change_uw = power_log_change_uw(trial->log, trial->subject->meter, a->t_before_ns,
					b->t_after_ns);
	expected->allowed_nj += (int64_t)((__int128)change_uw * distance_ns / 1000000) + 1;
}

/* Readings that are too far apart, whatever they say: the guest was stopped. */
static bool has_stalled(const struct trial *trial)
{
	size_t i;

	for (i = 1; i < trial->n; i++)
		if (trial->samples[i].t_after_ns - trial->samples[i - 1].t_before_ns > STALL_NS)
			return true;
	return false;
}

static struct expectation expect(const struct trial *trial)
{
	const struct watt_sample *last = NULL;
	struct expectation expected = { .has_stalled = has_stalled(trial) };
	bool is_counter = trial->subject->counter;
	size_t i;

	expected.energy_nj = true_nj(trial, trial->domain.t_ns) - trial->before_nj;
	expected.allowed_nj = is_counter ? 2 * trial->subject->unit_nj + 2 * NJ_PER_UJ : 0;
	for (i = 0; i < trial->n; i++) {
		const struct watt_sample *sample = &trial->samples[i];

		if (sample->status != WATT_STATUS_OK)
			continue;
		if (last && is_counter)
			expect_counter(trial, last, sample, &expected);
		else if (last)
			expect_power(trial, last, sample, &expected);
		last = sample;
	}
	return expected;
}

/* The driver counts in units of whole nJ, of which 2^-14 J has none. */
static void round_as_driver(const struct subject *subject, struct expectation *expected)
{
	if (!strcmp(subject->script, "registers"))
		expected->energy_nj = (int64_t)((double)expected->energy_nj * 61035 / 61035.15625);
}

/* ---- what was ---- */

static bool complain(const struct trial *trial, const char *what)
{
	printf("%s %s: WRONG: %s\n", trial->subject->script, trial->subject->channel, what);
	return false;
}

/* Whatever is wrong with an energy has to be said of it. */
static bool judge_words(const struct trial *trial, const struct expectation *expected)
{
	const struct product_domain *domain = &trial->domain;
	unsigned int fates = trial->subject->fates;
	bool is_ok = true;

	if (!domain->is_known)
		is_ok = complain(trial, "no energy is known");
	if (strcmp(domain->status, fates & GOES ? "absent" : "ok"))
		is_ok = complain(trial, "the status at the end");
	if (!domain->errors != !(fates & FAILS))
		is_ok = complain(trial, "the number of readings without a value");
	if (domain->resets != !!(fates & RESETS))
		is_ok = complain(trial, "the number of resets");
	if ((fates & WRAPS) && domain->wraps < 2)
		is_ok = complain(trial, "the number of wraps");
	if (!domain->ambiguous != !(fates & WRAPS_UNSEEN))
		is_ok = complain(trial, "whether it may have wrapped unseen");
	if (fabs(domain->gap_s - (double)expected->gap_ns / 1e9) > 1e-6)
		is_ok = complain(trial, "for how long nothing is known");
	return is_ok;
}

static bool judge(const struct trial *trial, const struct expectation *expected)
{
	const struct product_domain *domain = &trial->domain;
	int64_t off_nj = domain->energy_nj - expected->energy_nj;
	bool is_ok = true;

	printf("%-9s %-26s true %12.6f J, measured %12.6f J, off by %+.6f J, allowed %.6f J;"
	       " %" PRIu64 " readings, %" PRIu64 " errors, %" PRIu64 " wraps, %" PRIu64 " resets,"
	       " %" PRIu64 " ambiguous, gaps %.3f s, %s\n",
	       trial->subject->script, trial->subject->channel, (double)expected->energy_nj / 1e9,
	       (double)domain->energy_nj / 1e9, (double)off_nj / 1e9,
	       (double)expected->allowed_nj / 1e9, domain->samples, domain->errors, domain->wraps,
	       domain->resets, domain->ambiguous, domain->gap_s, domain->status);
	if (expected->has_stalled)
		return false;
	if (llabs(off_nj) > expected->allowed_nj)
		is_ok = complain(trial, "the energy");
	return judge_words(trial, expected) && is_ok;
}

static bool judge_subject(const struct subject *subject, const struct product *product,
			  const struct power_log *log, int64_t before_nj, bool *has_stalled)
{
	struct trial trial = { .subject = subject, .log = log, .before_nj = before_nj };
	struct expectation expected;

	trial.channel = product_get_channel(product, subject->channel);
	trial.samples = product_get_samples(product, subject->channel, &trial.n);
	product_get_domain(product, subject->channel, &trial.domain);
	expected = expect(&trial);
	round_as_driver(subject, &expected);
	*has_stalled |= expected.has_stalled;
	return judge(&trial, &expected);
}

static bool measure(const char *self, const struct sensor_script *script, bool *has_stalled)
{
	struct product *product;
	struct power_log log;
	int64_t before_nj[(sizeof(subjects) / sizeof(subjects[0]))] = { 0 };
	char command[256];
	bool is_ok = true;
	size_t i;

	*has_stalled = false;
	sensor_script_set_up(script);
	for (i = 0; i < (sizeof(subjects) / sizeof(subjects[0])); i++)
		if (!strcmp(subjects[i].script, script->name))
			before_nj[i] = sim_meter_nj(subjects[i].meter);
	snprintf(command, sizeof(command), "%s --play %s", self, script->name);
	product = product_record(script->sources, command);
	power_log_read(SENSOR_SCRIPT_LOG, &log);
	for (i = 0; i < (sizeof(subjects) / sizeof(subjects[0])); i++)
		if (!strcmp(subjects[i].script, script->name))
			is_ok = judge_subject(&subjects[i], product, &log, before_nj[i],
					      has_stalled) &&
				is_ok;
	power_log_done(&log);
	product_free(product);
	sensor_script_tear_down(script);
	return is_ok;
}

static bool measure_until_it_counts(const char *self, const struct sensor_script *script)
{
	bool has_stalled;
	int i;

	for (i = 0; i < TRIES; i++) {
		if (measure(self, script, &has_stalled))
			return true;
		if (!has_stalled)
			return false;
		printf("%s: the guest was stopped for too long: again\n", script->name);
	}
	return false;
}

/* Nothing of what a counter shows is lost but what it counted from a reading to a reset. */
static bool judge_stat(const char *path, const char *meter, int64_t unit_nj, bool has_reset,
		       const struct product_stat *stat)
{
	int64_t true_nj = sim_meter_nj(meter), allowed_nj = 2 * unit_nj + 2 * NJ_PER_UJ;
	int64_t missing_nj = true_nj - stat->energy_nj;
	int64_t lost_nj = has_reset ? (int64_t)(STAT_RESET_W * 1e9 * stat->gap_s) : 0;
	bool is_ok = stat->is_known && !stat->errors && stat->resets == has_reset &&
		     (stat->gap_s > 0) == has_reset && missing_nj >= -allowed_nj &&
		     missing_nj <= lost_nj + allowed_nj;

	printf("stat %-20s true %12.6f J, measured %12.6f J, missing %.6f J, allowed %.6f J;"
	       " %" PRIu64 " resets, %" PRIu64 " ambiguous, gaps %.3f s%s\n",
	       path, (double)true_nj / 1e9, (double)stat->energy_nj / 1e9, (double)missing_nj / 1e9,
	       (double)(lost_nj + allowed_nj) / 1e9, stat->resets, stat->ambiguous, stat->gap_s,
	       is_ok ? "" : ": WRONG");
	return is_ok;
}

static bool measure_by_stat(const char *self, const struct sensor_script *script)
{
	static const char *const paths[] = { "package-0", "package-0/core", "dram-0" };
	struct product_stat stats[3];
	char command[256];
	bool is_ok = false;
	int i;

	snprintf(command, sizeof(command), "%s --play %s", self, script->name);
	for (i = 0; i < TRIES && !is_ok; i++) {
		sensor_script_set_up(script);
		product_stat(script->sources, command, paths, 3, stats);
		is_ok = judge_stat(paths[0], "a", 400, false, &stats[0]);
		is_ok = judge_stat(paths[1], "b", 61035, false, &stats[1]) && is_ok;
		is_ok = judge_stat(paths[2], "c", 61035, true, &stats[2]) && is_ok;
		sensor_script_tear_down(script);
		/* else readings were so far apart that a wrap may have gone unseen, and it is said */
		if (!stats[0].ambiguous)
			break;
	}
	return is_ok;
}

static bool measure_all(const char *self, char **names)
{
	bool is_ok = true;

	for (; *names; names++)
		is_ok = measure_until_it_counts(self, sensor_script_find(*names)) && is_ok;
	return is_ok;
}

int main(int argc, char **argv)
{
	bool is_ok = false;

	setlinebuf(stdout);
	if (argc == 3 && !strcmp(argv[1], "--play")) {
		sensor_script_play(sensor_script_find(argv[2]));
		is_ok = true;
	} else if (argc == 3 && !strcmp(argv[1], "--stat")) {
		is_ok = measure_by_stat(argv[0], sensor_script_find(argv[2]));
	} else if (argc == 2 && !strcmp(argv[1], "--live")) {
		is_ok = sensor_live_judge(sensor_script_find("zones"));
	} else if (argc > 1) {
		is_ok = measure_all(argv[0], argv + 1);
	} else {
		fprintf(stderr, "usage: guest_sensors [--stat|--live|--play] SCRIPT...\n");
		return 2;
	}
	return is_ok ? 0 : 1;
}

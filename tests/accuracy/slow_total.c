/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a slow meter of the whole machine is worth: a scripted machine whose parts step and burst,
 * and a BMC that shows the mean of a second, in steps of watts, seconds later, now and then. Time
 * is simulated. Held to bounds: the age that is found, the energy of ten minutes, and the residual
 * where the load has just gone up and where it has just gone down. And a meter that measures
 * something else, of which no age is to be believed.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "slow_bound.h"

#include "timeline/timeline.h"

#include "base/util.h"
#include "source/power/newness.h"

#define MS 1000000ULL
#define SECOND 1000000000ULL
#define STEP_NS (50 * MS)
#define PER_SECOND 20
#define FIRST_NS (100 * SECOND)
#define FOUND_S 180
/* Of a meter that tells something each 30 s, three minutes are six readings: not enough. */
#define WARM_S (3 * 60)
#define SLOW_WARM_S (5 * 60)
#define SLOW_S 30
#define MEASURED_S 600
/* From when on a meter shows anything, and until when its age can't be found. */
#define EARLY_S 10
#define LATE_S 80
#define TAIL_S 60
#define N_STEPS ((SLOW_WARM_S + MEASURED_S + TAIL_S) * PER_SECOND)
#define N_PARTS 3
#define N_SEEDS 4
#define N_OTHERS 10
/* Of them, an age may be believed for a while of so many, by chance. */
#define MAX_BELIEVED 1
#define MAX_AGE_WRONG_MS 250
/* Where three minutes have very many. */
#define OFTEN_S 2
#define MAX_OFTEN_WRONG_MS 50
/* Surer than this, an age is believed. */
#define SURE_MS 200
/* The ages of all that are tried have a history there. */
#define FIRST_SEEN_S 13
/* Where three minutes have so few readings, the age may have to wait. */
#define SELDOM_S 10
/* and it is never wrong by so many times what is said of it */
#define MAX_BEYOND 2.5
#define MAX_ENERGY_WRONG 0.01
/* From this period on, the parts are followed from the beginning. */
#define SHAPED_S 5
#define MAX_IN_DOUBT 0.1
/* Of each second. Disks alone, which nobody tells of, are off by 6 W between seldom readings. */
#define MAX_SURE_W 12.0
/* Behind steps of 40 to 300 W; straight lines between readings are 5 to 34 W off there. */
#define MAX_BIAS_W 2.0

/* What the machine takes of each part: losses of its supply, and fans that go with the load. */
static const double factors[N_PARTS] = { 1.15, 1.05, 1.1 };
#define REST_W 90.0
#define FANS_W 8.0
#define DISK_W 12.0
#define DISK_STEPS (7 * PER_SECOND)
/* When in a second it is polled, in steps, and how long a value may count that stands still. */
#define POLL_PHASE 6
#define MAX_HEARTBEAT_NS (30 * SECOND)
#define MAX_STILL_W 0.6
/* A step of the load is at least so large, and followed for so long. */
#define STEP_W 40
#define AFTER_STEPS (4 * PER_SECOND)

static struct watt_channel channels[N_PARTS + 1];
static const struct watt_channel *const list[] = { &channels[0], &channels[1], &channels[2],
						   &channels[3] };

struct machine {
	double part_w[N_PARTS][N_STEPS];
	int64_t part_nj[N_PARTS][N_STEPS + 1];
	int64_t node_nj[N_STEPS + 1];
};

struct bmc {
	uint64_t delay_ns;
	unsigned int quantum_w;
	unsigned int period_s;
	bool is_told; /* somebody says how old its values are */
};

/*
 * The share of seconds that are said to be in doubt, and how far each second of the residual is off
 * in them, and in the others: root of the mean square.
 */
struct doubts {
	double in_doubt, doubt_w, sure_w;
};

struct result {
	bool is_found;
	double age_wrong_ms;
	double age_beyond;            /* by how many times what is said of it */
	double energy_wrong;          /* ratio of ten minutes */
	double up_w, down_w;          /* how far the residual is off behind steps */
	struct doubts before, behind; /* before its age was found, and in the ten minutes */
	bool is_monotone;
};

static uint64_t rng;

static double draw(double lo, double hi)
{
	rng = rng * 6364136223846793005ULL + 1442695040888963407ULL;
	return lo + (hi - lo) * (double)(rng >> 40) / (double)(1 << 24);
}

/* Loads of 5 to 40 s, and bursts of 0.2 to 2 s upon them. */
static void make_machine(struct machine *m, uint64_t seed)
{
	size_t i, p, load_end = 0, burst_end = 0, gpu_end = 0;
	double load_w = 40, burst_w = 0, gpu_w = 60;

	rng = seed;
	for (i = 0; i < N_STEPS; i++) {
		/* fans and disks, which no part tells of */
		double node_w = REST_W + FANS_W * sin((double)i / PER_SECOND / 15) +
				(i / DISK_STEPS % 3 == 1 ? DISK_W : 0);

		if (i >= load_end) {
			load_w = draw(30, 160);
			load_end = i + (size_t)draw(5 * PER_SECOND, 40 * PER_SECOND);
		}
		if (i >= burst_end) {
			burst_w = burst_w > 0 ? 0 : draw(20, 80);
			burst_end = i + (size_t)(burst_w > 0 ? draw(4, 40) : draw(20, 200));
		}
		if (i >= gpu_end) {
			gpu_w = gpu_w > 100 ? 60 : draw(150, 300);
			gpu_end = i + (size_t)draw(10 * PER_SECOND, 60 * PER_SECOND);
		}
		m->part_w[0][i] = load_w + burst_w;
		m->part_w[1][i] = 8 + 0.1 * load_w;
		m->part_w[2][i] = gpu_w;
		for (p = 0; p < N_PARTS; p++) {
			m->part_nj[p][i + 1] =
				m->part_nj[p][i] + llround(m->part_w[p][i] * (double)STEP_NS);
			node_w += factors[p] * m->part_w[p][i];
		}
		m->node_nj[i + 1] = m->node_nj[i] + llround(node_w * (double)STEP_NS);
	}
}

static void make_channels(const struct bmc *bmc)
{
	static const struct {
		const char *domain;
		enum watt_domain_kind kind;
	} parts[N_PARTS] = { { "package-0", WATT_DOMAIN_PACKAGE },
			     { "package-0/dram", WATT_DOMAIN_DRAM },
			     { "gpu-0", WATT_DOMAIN_GPU } };
	size_t p;

	for (p = 0; p < N_PARTS; p++)
		channels[p] = (struct watt_channel){ .name = parts[p].domain,
						     .source = "t",
						     .domain = parts[p].domain,
						     .kind = parts[p].kind,
						     .quantity = WATT_QUANTITY_ENERGY,
						     .scale_num = 1,
						     .scale_den = 1 };
	channels[N_PARTS] = (struct watt_channel){ .name = "node",
						   .source = "t",
						   .domain = "node",
						   .kind = WATT_DOMAIN_TOTAL,
						   .quantity = WATT_QUANTITY_POWER,
						   .semantics = WATT_SEMANTICS_INSTANT,
						   .flags = WATT_CHANNEL_AGE_UNKNOWN,
						   .scale_num = 1,
						   .scale_den = 1,
						   .period_ns = bmc->period_s * SECOND };
}

static uint64_t step_ns(size_t step)
{
	return FIRST_NS + step * STEP_NS;
}

/* The mean of a second, so long ago, in whole quanta. */
static int64_t show_uw(const struct machine *m, const struct bmc *bmc, size_t step)
{
	size_t end = step - (size_t)(bmc->delay_ns / STEP_NS);
	double power_w = (double)(m->node_nj[end] - m->node_nj[end - PER_SECOND]) / 1e9;

	return llround(power_w / bmc->quantum_w) * bmc->quantum_w * 1000000;
}

static void look_at_age(const struct watt_timeline *tl, const struct bmc *bmc, struct result *ret)
{
	struct watt_age_found age;

	ret->is_found = watt_timeline_get_age(tl, N_PARTS, &age) == 0;
	if (!ret->is_found)
		return;
	ret->age_wrong_ms =
		((double)age.delay_ns - (double)bmc->delay_ns) / 1e6 - 500; /* its middle */
	ret->age_beyond = fabs(ret->age_wrong_ms) / ((double)age.uncertainty_ns / 1e6);
}

/* The energy of the node between two steps, by its curve. */
static double energy_j(const struct watt_timeline *tl, size_t from, size_t to)
{
	watt_i128 e0_nj = 0, e1_nj = 0;

	if (watt_timeline_energy_nj(tl, N_PARTS, step_ns(from), &e0_nj) < 0 ||
	    watt_timeline_energy_nj(tl, N_PARTS, step_ns(to), &e1_nj) < 0)
		return NAN;
	return (double)(e1_nj - e0_nj) / 1e9;
}

/* Second by second. */
static struct doubts measure_doubts(const struct machine *m, const struct watt_timeline *tl,
				    size_t from, size_t to)
{
	double squares[2] = { 0 };
	size_t n[2] = { 0 }, i;

	for (i = from; i < to; i += PER_SECOND) {
		double off_w = energy_j(tl, i, i + PER_SECOND) -
			       (double)(m->node_nj[i + PER_SECOND] - m->node_nj[i]) / 1e9;
		bool in_doubt = watt_timeline_transient_ns(tl, N_PARTS, step_ns(i),
							   step_ns(i + PER_SECOND)) > 0;

		if (isnan(off_w)) /* before its first reading */
			continue;
		squares[in_doubt] += off_w * off_w;
		n[in_doubt]++;
	}
	return (struct doubts){ (double)n[true] / (double)(n[true] + n[false]),
				sqrt(squares[true] / (double)WATT_MAX(n[true], (size_t)1)),
				sqrt(squares[false] / (double)WATT_MAX(n[false], (size_t)1)) };
}

/* Of all machines, the mean. */
static void add_doubts(struct doubts *sum, const struct doubts *doubts)
{
	sum->in_doubt += doubts->in_doubt / N_SEEDS;
	sum->doubt_w += doubts->doubt_w / N_SEEDS;
	sum->sure_w += doubts->sure_w / N_SEEDS;
}

/* The parts are exact here: what the total is off, the residual is. */
static void measure(const struct machine *m, const struct bmc *bmc, const struct watt_timeline *tl,
		    struct result *ret)
{
	size_t from = (bmc->period_s < SLOW_S ? WARM_S : SLOW_WARM_S) * PER_SECOND;
	size_t to = from + MEASURED_S * PER_SECOND, i;
	size_t n_up = 0, n_down = 0;
	double truth_j = (double)(m->node_nj[to] - m->node_nj[from]) / 1e9;

	ret->energy_wrong = energy_j(tl, from, to) / truth_j - 1;
	ret->before = measure_doubts(m, tl, EARLY_S * PER_SECOND, LATE_S * PER_SECOND);
	ret->behind = measure_doubts(m, tl, from, to);
	ret->is_monotone = true;
	for (i = from; i < to; i++) {
		double before_w = m->part_w[0][i - 1] + m->part_w[2][i - 1];
		double change_w = m->part_w[0][i] + m->part_w[2][i] - before_w, off_w;

		ret->is_monotone &= energy_j(tl, i, i + 1) >= 0;
		if (fabs(change_w) < STEP_W)
			continue;
		off_w = (energy_j(tl, i, i + AFTER_STEPS) -
			 (double)(m->node_nj[i + AFTER_STEPS] - m->node_nj[i]) / 1e9) *
			PER_SECOND / AFTER_STEPS;
		*(change_w > 0 ? &ret->up_w : &ret->down_w) += off_w;
		*(change_w > 0 ? &n_up : &n_down) += 1;
	}
	ret->up_w /= (double)WATT_MAX(n_up, (size_t)1);
	ret->down_w /= (double)WATT_MAX(n_down, (size_t)1);
}

static void push_step(struct watt_timeline *tl, const struct machine *m, const struct bmc *bmc,
		      size_t step)
{
	struct watt_sample sample = { .t_before_ns = step_ns(step), .t_after_ns = step_ns(step) };
	size_t p;

	for (p = 0; p < N_PARTS; p++) {
		sample.channel = (uint32_t)p;
		sample.raw = m->part_nj[p][step];
		if (watt_timeline_push(tl, &sample) < 0)
			abort();
	}
	sample.channel = N_PARTS;
	if (step < (bmc->delay_ns / STEP_NS) + PER_SECOND || step % (bmc->period_s * PER_SECOND))
		return;
	sample.raw = show_uw(m, bmc, step);
	if (watt_timeline_push(tl, &sample) < 0)
		abort();
}

static struct watt_timeline *open_timeline(const struct bmc *bmc)
{
	char node[] = "node";
	struct watt_rule rule = { node, bmc->delay_ns + SECOND / 2 };
	const struct watt_rules rules = { .list = &rule, .n = 1 };
	struct watt_timeline *tl;

	make_channels(bmc);
	if (watt_timeline_new(list, N_PARTS + 1, &tl) < 0 ||
	    (bmc->is_told && watt_timeline_set_delays(tl, &rules, NULL) < 0))
		abort();
	return tl;
}

static struct result try(const struct machine *m, const struct bmc *bmc)
{
	struct watt_timeline *tl = open_timeline(bmc);
	struct result result = { 0 };
	size_t step;

	for (step = 0; step <= N_STEPS; step++) {
		push_step(tl, m, bmc, step);
		if (step == FOUND_S * PER_SECOND)
			look_at_age(tl, bmc, &result);
	}
	measure(m, bmc, tl, &result);
	watt_timeline_free(tl);
	return result;
}

/* ---- a meter of something else ---- */

/*
 * Of a machine whose total is another one's, no age is to be believed. Returns the share of the
 * time in which one was.
 */
static double believe(const struct machine *m, const struct bmc *bmc, double *ret_last)
{
	struct watt_age_found age;
	struct watt_timeline *tl;
	size_t step, n_believed = 0;

	make_channels(bmc);
	if (watt_timeline_new(list, N_PARTS + 1, &tl) < 0)
		abort();
	for (step = 0; step <= N_STEPS; step++) {
		push_step(tl, m, bmc, step);
		n_believed += watt_timeline_get_age(tl, N_PARTS, &age) == 0;
	}
	*ret_last = watt_timeline_get_age(tl, N_PARTS, &age) == 0;
	watt_timeline_free(tl);
	return (double)n_believed / N_STEPS;
}

static bool show_others(struct machine *m, struct machine *other, unsigned int period_s,
			unsigned int n_others)
{
	struct bmc bmc = { 2500 * MS, 1, period_s, false };
	unsigned int n_believed = 0, n_last = 0;
	double time = 0, last;
	uint64_t seed;

	for (seed = 1; seed <= n_others; seed++) {
		double share;

		make_machine(m, seed * 77777);
		make_machine(other, seed * 7919 + 13);
		memcpy(m->node_nj, other->node_nj, sizeof(m->node_nj));
		share = believe(m, &bmc, &last);
		n_believed += share > 0;
		n_last += last > 0;
		time += share / n_others;
	}
	printf("%4u s  another machine's total: %2u of %u believed, %.1f %% of the time, %u at the end\n",
	       period_s, n_believed, n_others, time * 100, n_last);
	return n_believed <= MAX_BELIEVED && n_last == 0;
}

/* A plug that was moved to another machine: what was found is believed no more. */
static bool show_moved(struct machine *m, struct machine *other)
{
	const struct bmc bmc = { 2500 * MS, 1, 2, false };
	bool was_found = false, is_found;
	struct watt_age_found age;
	struct watt_timeline *tl;
	size_t step;

	make_machine(m, 77777);
	make_machine(other, 4);
	for (step = N_STEPS / 2; step < N_STEPS; step++)
		m->node_nj[step + 1] =
			m->node_nj[step] + other->node_nj[step + 1] - other->node_nj[step];
	make_channels(&bmc);
	if (watt_timeline_new(list, N_PARTS + 1, &tl) < 0)
		abort();
	for (step = 0; step <= N_STEPS; step++) {
		push_step(tl, m, &bmc, step);
		if (step == N_STEPS / 2)
			was_found = watt_timeline_get_age(tl, N_PARTS, &age) == 0;
	}
	is_found = watt_timeline_get_age(tl, N_PARTS, &age) == 0;
	printf("   2 s  moved to another machine: %s before, %s %u s later\n",
	       was_found ? "known" : "not known", is_found ? "believed" : "not believed",
	       N_STEPS / 2 / PER_SECOND);
	watt_timeline_free(tl);
	return was_found && !is_found;
}

/* ---- a value that stands still ---- */

static double mean_w(const struct machine *m)
{
	return (double)m->node_nj[N_STEPS] / (double)(N_STEPS * STEP_NS);
}

/* Asked each second, as a BMC is that says no times: most polls bring what is known already. */
static void poll_step(struct watt_timeline *tl, const struct machine *m, const struct bmc *bmc,
		      size_t step, struct watt_newness *newness)
{
	size_t since = step - step % (bmc->period_s * PER_SECOND);
	struct watt_bmc_reading reading;
	struct watt_sample sample = { .channel = N_PARTS };
	struct bmc never = *bmc;

	never.period_s = N_STEPS; /* the parts alone */
	push_step(tl, m, &never, step);
	if (step % PER_SECOND != POLL_PHASE || since < bmc->delay_ns / STEP_NS + PER_SECOND)
		return;
	sample.raw = show_uw(m, bmc, since);
	reading = (struct watt_bmc_reading){ .value = (double)sample.raw / 1e6 };
	if (!watt_newness_take(newness, &reading, "", step_ns(step), MAX_HEARTBEAT_NS))
		return;
	sample.t_before_ns = sample.t_after_ns = newness->taken_ns;
	if (watt_timeline_push(tl, &sample) < 0)
		abort();
}

/*
 * In steps of 8 W it often says the same again. When that is taken as read in the middle of two
 * measurements, bursts that neither saw are held against it, and the total is too low; the mean of
 * some machines, which is a bias.
 */
static bool show_still(struct machine *m)
{
	const struct bmc bmc = { 4000 * MS, 8, 2, false };
	double off_w = 0;
	uint64_t seed;

	for (seed = 1; seed <= N_SEEDS; seed++) {
		struct watt_newness newness = { 0 };
		struct watt_timeline *tl;
		struct result r;
		size_t step;

		make_machine(m, seed * 77777);
		make_channels(&bmc);
		if (watt_timeline_new(list, N_PARTS + 1, &tl) < 0)
			abort();
		for (step = 0; step <= N_STEPS; step++)
			poll_step(tl, m, &bmc, step, &newness);
		measure(m, &bmc, tl, &r);
		off_w += r.energy_wrong * mean_w(m) / N_SEEDS;
		watt_timeline_free(tl);
	}
	printf("   2 s  asked each second, in steps of 8 W: %+.2f W off\n", off_w);
	return fabs(off_w) <= MAX_STILL_W;
}

/* ---- an age that is told ---- */

/* Of what is found beside it, nothing is used: a mean of 4 s that ends behind its reading. */
static bool show_told(struct machine *m)
{
	static const uint64_t delays_ns[] = { 200 * MS, 1300 * MS, 8 * SECOND };
	static const uint64_t seeds[] = { 1, 5, 10, 14 };
	double worst = 0;
	size_t d, s;

	for (s = 0; s < WATT_ARRAY_SIZE(seeds); s++)
		for (d = 0; d < WATT_ARRAY_SIZE(delays_ns); d++) {
			const struct bmc bmc = { delays_ns[d], 1, SLOW_S, true };

			make_machine(m, seeds[s] * 31337 + 5);
			worst = WATT_MAX(worst, fabs(try(m, &bmc).energy_wrong));
		}
	printf("%4u s  its age is told: energy %.2f %% off at most\n", SLOW_S, worst * 100);
	return worst <= MAX_ENERGY_WRONG;
}

/* The worst of some machines; of the residual, the mean, which is what a bias is. */
static struct result try_all(const struct bmc *bmc, struct machine *m)
{
	struct result worst = { .is_found = true, .is_monotone = true };
	uint64_t seed;

	for (seed = 1; seed <= N_SEEDS; seed++) {
		struct result r;

		make_machine(m, seed * 77777);
		r = try(m, bmc);
		worst.is_found &= r.is_found;
		worst.is_monotone &= r.is_monotone;
		worst.age_beyond = WATT_MAX(worst.age_beyond, r.age_beyond);
		if (!(fabs(r.age_wrong_ms) <= fabs(worst.age_wrong_ms)))
			worst.age_wrong_ms = r.age_wrong_ms;
		if (!(fabs(r.energy_wrong) <= fabs(worst.energy_wrong)))
			worst.energy_wrong = r.energy_wrong;
		add_doubts(&worst.before, &r.before);
		add_doubts(&worst.behind, &r.behind);
		worst.up_w += r.up_w / N_SEEDS;
		worst.down_w += r.down_w / N_SEEDS;
	}
	return worst;
}

/* Doubts are justified, and few once the age is known. */
static bool are_doubts_good(const struct bmc *bmc, const struct result *r)
{
	bool is_line = bmc->period_s < SHAPED_S; /* as long as the age is not known */

	return (!is_line || r->before.doubt_w >= 2 * r->before.sure_w) &&
	       r->behind.in_doubt <= MAX_IN_DOUBT && r->behind.sure_w <= MAX_SURE_W;
}

static bool is_good(const struct bmc *bmc, const struct result *r)
{
	bool is_seldom = bmc->period_s >= SELDOM_S;
	int max_ms = bmc->period_s > OFTEN_S ? MAX_AGE_WRONG_MS : MAX_OFTEN_WRONG_MS;
	bool is_age_good = (is_seldom || r->is_found) && r->age_beyond <= MAX_BEYOND &&
			   fabs(r->age_wrong_ms) <= max_ms;

	return r->is_monotone && is_age_good && are_doubts_good(bmc, r) &&
	       fabs(r->up_w) <= MAX_BIAS_W && fabs(r->down_w) <= MAX_BIAS_W &&
	       fabs(r->energy_wrong) <= MAX_ENERGY_WRONG;
}

static void print_doubts(const struct doubts *doubts)
{
	printf(" %5.0f %% %5.1f W %4.1f W", doubts->in_doubt * 100, doubts->doubt_w,
	       doubts->sure_w);
}

static bool show(const struct bmc *bmc, struct machine *m)
{
	struct result r = try_all(bmc, m);
	bool ok = is_good(bmc, &r);
	char found[32] = "not yet";

	if (r.is_found)
		snprintf(found, sizeof(found), "%+.0f ms", r.age_wrong_ms);
	printf("%4u s %6.2f s %5u W %10s %8.2f %% %7.1f W %7.1f W", bmc->period_s,
	       (double)bmc->delay_ns / 1e9, bmc->quantum_w, found, r.energy_wrong * 100, r.up_w,
	       r.down_w);
	print_doubts(&r.before);
	print_doubts(&r.behind);
	printf("%s\n", ok ? "" : "  not within its bounds");
	return ok;
}

/* ---- many machines, to see how it is spread ---- */

#define STUDIED_PER_SEED (2 * 4)
#define STUDIED_MACHINES 160
#define N_STUDIED_OTHERS 200
#define MAX_STUDIED 2400

static int compare(const void *a, const void *b)
{
	double x = fabs(*(const double *)a), y = fabs(*(const double *)b);

	return (x > y) - (x < y);
}

static void print_spread(const char *what, double *off, size_t n, const char *unit)
{
	qsort(off, n, sizeof(*off), compare);
	if (n)
		printf("        %s off: half %.2f %s, nine of ten %.2f %s, all %.2f %s\n", what,
		       fabs(off[n / 2]), unit, fabs(off[n * 9 / 10]), unit, fabs(off[n - 1]), unit);
}

static double part_nj(const struct machine *m, size_t part, double t_s)
{
	size_t step = (size_t)(t_s * PER_SECOND);
	double share = t_s * PER_SECOND - (double)step;

	return (double)m->part_nj[part][step] * (1 - share) +
	       (double)m->part_nj[part][step + 1] * share;
}

static double get_part_w(const void *machine, size_t part, double end_s, double window_s)
{
	const struct machine *m = machine;

	return (part_nj(m, part, end_s) - part_nj(m, part, end_s - window_s)) / 1e9 / window_s;
}

/* What can be known of the age of a total when it is looked at. */
static struct slow_bound find_bound(const struct machine *m, const struct bmc *bmc)
{
	struct slow_seen seen = { .get_w = get_part_w,
				  .machine = m,
				  .factors = factors,
				  .quantum_w = bmc->quantum_w,
				  .age_s = (double)bmc->delay_ns / 1e9 + 0.5,
				  .window_s = 1 };
	size_t t_s;

	for (t_s = 0; t_s <= FOUND_S && seen.n < SLOW_BOUND_MAX; t_s += bmc->period_s) {
		if (t_s < FIRST_SEEN_S)
			continue;
		seen.t_s[seen.n] = (double)t_s;
		seen.power_w[seen.n++] = (double)show_uw(m, bmc, t_s * PER_SECOND) / 1e6;
	}
	return slow_bound_find(&seen);
}

struct bounds {
	double least_ms[MAX_STUDIED], off_ms[MAX_STUDIED];
	size_t n, n_blind, n_sure, n_far;
};

static void add_bound(struct bounds *bounds, const struct slow_bound *bound)
{
	bounds->n_blind += isinf(bound->least_ms);
	bounds->least_ms[bounds->n++] = bound->least_ms;
	if (bound->deviation_ms > SURE_MS)
		return;
	bounds->n_far += fabs(bound->off_ms) > MAX_AGE_WRONG_MS;
	bounds->off_ms[bounds->n_sure++] = bound->off_ms;
}

static void print_bounds(struct bounds *bounds)
{
	if (!bounds->n)
		return;
	printf("        at the very most: of %zu, %zu can be known within %u ms, of %zu more than %u ms off; %zu saw no change\n",
	       bounds->n, bounds->n_sure, SURE_MS, bounds->n_far, MAX_AGE_WRONG_MS,
	       bounds->n_blind);
	print_spread("age at the very most", bounds->off_ms, bounds->n_sure, "ms");
	print_spread("Cramer-Rao's least", bounds->least_ms, bounds->n, "ms");
}

static double get_mean(const double *values, size_t n)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < n; i++)
		sum += values[i];
	return sum / (double)n;
}

static void print_biases(double *up_w, double *down_w, size_t n)
{
	printf("        residual behind steps, mean of all: %+.2f W up, %+.2f W down\n",
	       get_mean(up_w, n), get_mean(down_w, n));
	print_spread("that of each up", up_w, n, "W");
	print_spread("that of each down", down_w, n, "W");
}

static void study(struct machine *m, struct machine *other, unsigned int period_s,
		  unsigned int n_machines)
{
	static const uint64_t delays_ns[] = { 200 * MS, 1300 * MS, 2500 * MS, 8 * SECOND };
	static double ages_ms[MAX_STUDIED], energies[MAX_STUDIED], told[MAX_STUDIED];
	static double up_w[MAX_STUDIED], down_w[MAX_STUDIED];
	static struct bounds bounds;
	size_t n = 0, n_found = 0, n_far = 0, n_wrong = 0, d;
	bool is_bound = FOUND_S / period_s < SLOW_BOUND_MAX;
	unsigned int quantum_w;
	uint64_t seed;

	bounds = (struct bounds){ .n = 0 };
	for (seed = 1; seed <= n_machines / STUDIED_PER_SEED; seed++) {
		make_machine(m, seed * 31337 + 5);
		for (d = 0; d < WATT_ARRAY_SIZE(delays_ns); d++)
			for (quantum_w = 1; quantum_w <= 8; quantum_w += 7) {
				struct bmc bmc = { delays_ns[d], quantum_w, period_s, false };
				struct result r = try(m, &bmc);
				struct slow_bound bound;

				if (is_bound) {
					bound = find_bound(m, &bmc);
					add_bound(&bounds, &bound);
				}
				bmc.is_told = true;
				told[n] = try(m, &bmc).energy_wrong * 100;
				up_w[n] = r.up_w;
				down_w[n] = r.down_w;
				n_wrong += fabs(r.energy_wrong) > MAX_ENERGY_WRONG;
				energies[n++] = r.energy_wrong * 100;
				if (!r.is_found)
					continue;
				n_far += fabs(r.age_wrong_ms) > MAX_AGE_WRONG_MS;
				ages_ms[n_found++] = r.age_wrong_ms;
			}
	}
	printf("%4u s  of %zu, the age of %zu was found in %u s, of %zu more than %u ms off\n",
	       period_s, n, n_found, FOUND_S, n_far, MAX_AGE_WRONG_MS);
	print_spread("age", ages_ms, n_found, "ms");
	print_bounds(&bounds);
	print_spread("energy", energies, n, "%");
	printf("        energy of %zu is off by more than %.0f %%\n", n_wrong,
	       MAX_ENERGY_WRONG * 100);
	print_spread("energy, its age is told,", told, n, "%");
	print_biases(up_w, down_w, n);
	show_others(m, other, period_s, N_STUDIED_OTHERS);
}

static void study_as_told(struct machine *m, struct machine *other, const char *what)
{
	unsigned int period_s = 0, n_machines = STUDIED_MACHINES;

	if (sscanf(what, "%ux%u", &period_s, &n_machines) < 1 || period_s == 0 ||
	    n_machines > MAX_STUDIED)
		printf("%s: not a period in seconds, nor one and how many machines, as 30x800 (%u at most)\n",
		       what, MAX_STUDIED);
	else
		study(m, other, period_s, n_machines);
}

/*
 * slow_total [PERIOD[xMACHINES]...]: with periods in seconds, shows how it is spread there, and
 * judges nothing.
 */
int main(int argc, char **argv)
{
	static const uint64_t delays_ns[] = { 200 * MS, 2500 * MS, 8 * SECOND };
	static const unsigned int quanta_w[] = { 1, 8 }, periods_s[] = { 1, 2, 5, 10, 30 };
	struct machine *m = calloc(1, sizeof(*m)), *other = calloc(1, sizeof(*m));
	size_t d, q, p;
	int bad = 0, i;

	if (!m || !other)
		return 1;
	for (i = 1; i < argc; i++)
		study_as_told(m, other, argv[i]);
	if (argc > 1) {
		free(other);
		free(m);
		return 0;
	}
	printf("%57s%-24s%-24s\n", "", "  in doubt before it", "  behind");
	printf("period    delay quantum    age off energy off  steps up      down   time    off  else    time    off   else\n");
	for (p = 0; p < WATT_ARRAY_SIZE(periods_s); p++)
		for (d = 0; d < WATT_ARRAY_SIZE(delays_ns); d++)
			for (q = 0; q < WATT_ARRAY_SIZE(quanta_w); q++) {
				struct bmc bmc = { delays_ns[d], quanta_w[q], periods_s[p], false };

				bad += !show(&bmc, m);
			}
	for (p = 0; p < WATT_ARRAY_SIZE(periods_s); p++)
		bad += !show_others(m, other, periods_s[p], N_OTHERS);
	bad += !show_moved(m, other);
	bad += !show_still(m);
	bad += !show_told(m);
	free(other);
	free(m);
	return bad != 0;
}

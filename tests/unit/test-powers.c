/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lib/powers.c and lib/doctor.c, by sessions whose only sources are made up here: one that is
 * quick, one that blocks on a pipe until the test lets it go, and a makeshift.
 */
#include "unit.h"

#include <fcntl.h>
#include <unistd.h>

#include <wattribute/wattribute.h>

#include "../options_of.h"
#include "base/ring.h"
#include "base/util.h"
#include "doctor.h"
#include "source/registry.h"

#define LONG_MS 60000u
#define LINE_SIZE 256

/* ---- the sources ---- */

/* A session that is closed while a source hangs leaves behind what that one's thread still uses. */
MAY_LEAK("leak:watt_live_open");

/* What they do: written while no session is open. */
static struct script {
	int gate[2];  /* the slow one opens for 'o', and fails for 'e' */
	int there[2]; /* it tells when it is there */
	int past[2];  /* and tells when it needs the script no more */
	size_t n_let_go;
	bool is_quick_absent;
	bool is_quick_of_cpus;
	bool is_slow_of_cpus;
	bool hangs_in_probe;
	bool quick_waits_for_slow;
	struct watt_counter n_models; /* times that the makeshift was opened */
} script;

#define CHANNEL(source_, domain_, kind_) \
	{ \
		.name = source_ "/" domain_, .source = source_, .domain = domain_, .kind = kind_, \
		.quantity = WATT_QUANTITY_ENERGY, .semantics = WATT_SEMANTICS_COUNTER, \
		.scale_num = 1, .scale_den = 1, .package_id = -1, .die_id = -1, .core_id = -1 \
	}

static const struct watt_channel channels[] = {
	CHANNEL("quick", "fan", WATT_DOMAIN_RAIL),
	CHANNEL("quick", "package-0", WATT_DOMAIN_PACKAGE),
	CHANNEL("slow", "board", WATT_DOMAIN_RAIL),
	CHANNEL("slow", "cpu", WATT_DOMAIN_CPU_RAIL),
	CHANNEL("model", "guess", WATT_DOMAIN_PACKAGE),
};

static const struct watt_power_group group = { .n = 1 };

static int make(const struct watt_power_ops *ops, const struct watt_channel *channel,
		struct watt_power **ret)
{
	struct watt_power *power = calloc(1, sizeof(*power));

	assert_non_null(power);
	*power = (struct watt_power){
		.ops = ops, .channels = channel, .n_channels = 1, .groups = &group, .n_groups = 1
	};
	*ret = power;
	return 0;
}

static void count_watts(struct watt_power *power, uint32_t g, struct watt_sample *ret)
{
	uint64_t t_ns = watt_now_ns();

	(void)power, (void)g;
	/* 1 W is a nJ in a ns */
	*ret = (struct watt_sample){ .t_before_ns = t_ns,
				     .t_after_ns = t_ns,
				     .raw = (int64_t)t_ns };
}

static void release(struct watt_power *power)
{
	free(power);
}

static int probe_well(const struct watt_env *env, struct watt_diag *diag)
{
	(void)env;
	diag->state = WATT_AVAILABLE;
	return 0;
}

static int pass_gate(void)
{
	char word = 0;

	assert_int_equal(write(script.there[1], "", 1), 1);
	assert_int_equal(read(script.gate[0], &word, 1), 1);
	return word == 'o' ? 0 : -EACCES;
}

static void tell_past(const struct watt_env *env)
{
	char has_world = env->config && fcntl(env->sysfs.fd, F_GETFD) >= 0;

	assert_int_equal(write(script.past[1], &has_world, 1), 1);
}

static int quick_open(const struct watt_env *env, struct watt_power **ret);
static int slow_open(const struct watt_env *env, struct watt_power **ret);
static int model_open(const struct watt_env *env, struct watt_power **ret);

static int slow_probe(const struct watt_env *env, struct watt_diag *diag)
{
	if (script.hangs_in_probe) {
		pass_gate();
		tell_past(env);
	}
	return probe_well(env, diag);
}

static const struct watt_power_ops quick = { .name = "quick",
					     .summary = "there at once",
					     .probe = probe_well,
					     .open = quick_open,
					     .read = count_watts,
					     .close = release };
static const struct watt_power_ops slow = { .name = "slow",
					    .summary = "blocks on a pipe",
					    .flags = WATT_POWER_BLOCKING,
					    .probe = slow_probe,
					    .open = slow_open,
					    .read = count_watts,
					    .close = release };
static const struct watt_power_ops model = { .name = "model",
					     .summary = "for want of better",
					     .flags = WATT_POWER_FALLBACK,
					     .probe = probe_well,
					     .open = model_open,
					     .read = count_watts,
					     .close = release };

static int quick_open(const struct watt_env *env, struct watt_power **ret)
{
	char byte;

	/* the thread of the slow one has begun */
	if (script.quick_waits_for_slow)
		assert_int_equal(read(script.there[0], &byte, 1), 1);
	return script.is_quick_absent ? -ENODEV :
					make(&quick, &channels[script.is_quick_of_cpus], ret);
}

static int slow_open(const struct watt_env *env, struct watt_power **ret)
{
	int r = pass_gate();

	if (r == 0)
		make(&slow, &channels[2 + script.is_slow_of_cpus], ret);
	tell_past(env);
	return r;
}

static int model_open(const struct watt_env *env, struct watt_power **ret)
{
	watt_counter_add(&script.n_models, 1);
	return make(&model, &channels[4], ret);
}

/* Instead of the library's. */
const struct watt_power_ops *const watt_power_registry[] = { &slow, &quick, &model, NULL };
const struct watt_activity_ops *const watt_activity_registry[] = { &watt_activity_synth, NULL };
const struct watt_meta_ops *const watt_meta_registry[] = { NULL };

/* ---- what the tests do ---- */

static int setup(void **state)
{
	memset(&script, 0, sizeof(script));
	return pipe(script.gate) || pipe(script.there) || pipe(script.past);
}

/* Threads that were left behind must not meet the next script. */
static int teardown(void **state)
{
	char has_world;

	for (; script.n_let_go > 0; script.n_let_go--) {
		assert_int_equal(read(script.past[0], &has_world, 1), 1);
		assert_true(has_world);
	}
	close(script.there[0]);
	close(script.there[1]);
	close(script.past[0]);
	close(script.past[1]);
	close(script.gate[0]);
	close(script.gate[1]);
	return 0;
}

static void let_go(char how)
{
	assert_int_equal(write(script.gate[1], &how, 1), 1);
	script.n_let_go++;
}

/* A thread that is told to end before it came so far would never open anything. */
static void wait_until_there(void)
{
	char byte;

	assert_int_equal(read(script.there[0], &byte, 1), 1);
}

static int try_open(const char *sources, const char *rates, uint32_t wait_ms,
		    struct watt_session **ret)
{
	struct watt_options *options = options_of("usage", "synth", "slice", "10ms", NULL);
	int r = 0;

	if (sources)
		r = watt_options_set(options, "sources", sources);
	if (r == 0 && rates)
		r = watt_options_set(options, "rate", rates);
	if (r == 0)
		r = watt_options_set_open_wait_ms(options, wait_ms);
	if (r == 0)
		return open_by(options, ret);
	watt_options_free(options);
	return r;
}

static struct watt_session *open_waiting(uint32_t wait_ms)
{
	struct watt_session *ses = NULL;

	assert_int_equal(try_open(NULL, NULL, wait_ms, &ses), 0);
	return ses;
}

static enum watt_status status_of(const struct watt_session *ses, const char *source)
{
	enum watt_status status = WATT_STATUS_NODATA;
	const char *name;
	size_t i;

	for (i = 0; (name = watt_session_get_source(ses, i, &status)); i++)
		if (!strcmp(name, source))
			return status;
	fail_msg("no source %s", source);
	return status;
}

static bool has_channel(const struct watt_session *ses, const char *name)
{
	size_t i;

	for (i = 0; i < watt_session_get_channel_count(ses); i++)
		if (!strcmp(watt_session_get_channel(ses, i)->name, name))
			return true;
	return false;
}

static void wait_for_channel(struct watt_session *ses, const char *name)
{
	uint64_t give_up_ns = watt_now_ns() + 30 * WATT_NSEC_PER_SEC;

	while (!has_channel(ses, name)) {
		assert_true(watt_now_ns() < give_up_ns);
		assert_int_equal(watt_session_wait(ses, 5), 0);
	}
}

static void wait_for_status(struct watt_session *ses, const char *source, enum watt_status status)
{
	uint64_t give_up_ns = watt_now_ns() + 30 * WATT_NSEC_PER_SEC;

	while (status_of(ses, source) != status) {
		assert_true(watt_now_ns() < give_up_ns);
		assert_int_equal(watt_session_wait(ses, 5), 0);
	}
}

/* Until its domain has energy. */
static void wait_for_energy(struct watt_session *ses, const char *path)
{
	uint64_t give_up_ns = watt_now_ns() + 30 * WATT_NSEC_PER_SEC;
	bool has_energy = false;
	size_t i;

	while (!has_energy) {
		struct watt_snapshot *snap = NULL;

		assert_true(watt_now_ns() < give_up_ns);
		assert_int_equal(watt_session_wait(ses, 5), 0);
		assert_int_equal(watt_session_snapshot(ses, &snap), 0);
		assert_int_equal(watt_snapshot_get_quality(snap)->check_failures, 0);
		for (i = 0; i < watt_snapshot_get_domain_count(snap); i++)
			if (!strcmp(watt_snapshot_get_domain(snap, i)->path, path))
				has_energy =
					watt_energy_to_nj(
						watt_snapshot_get_domain_state(snap, i)->energy) >
					0;
		watt_snapshot_unref(snap);
	}
}

/* A sensor that does not answer keeps nobody waiting; it joins when it does. */
static void test_joins_when_it_answers(void **state)
{
	struct watt_session *ses = open_waiting(1);

	assert_int_equal(status_of(ses, "slow"), WATT_STATUS_PENDING);
	assert_int_equal(status_of(ses, "quick"), WATT_STATUS_OK);
	assert_int_equal(watt_session_get_channel_count(ses), 1);
	assert_int_equal(watt_session_start(ses), 0);
	wait_for_energy(ses, "fan");
	assert_int_equal(status_of(ses, "slow"), WATT_STATUS_PENDING);
	let_go('o');
	wait_for_energy(ses, "board");
	assert_int_equal(status_of(ses, "slow"), WATT_STATUS_OK);
	assert_string_equal(watt_session_get_channel(ses, 0)->name, "quick/fan");
	watt_session_close(ses);
}

/* Who answers in time is numbered in the order of preference, as if all were quick. */
static void test_order_of_those_in_time(void **state)
{
	struct watt_session *ses;

	let_go('o');
	ses = open_waiting(LONG_MS);
	assert_string_equal(watt_session_get_channel(ses, 0)->name, "slow/board");
	assert_string_equal(watt_session_get_channel(ses, 1)->name, "quick/fan");
	assert_int_equal(status_of(ses, "slow"), WATT_STATUS_OK);
	assert_int_equal(watt_session_start(ses), 0);
	wait_for_energy(ses, "board");
	wait_for_energy(ses, "fan");
	watt_session_close(ses);
}

static void test_closed_before_it_answers(void **state)
{
	struct watt_session *ses = open_waiting(1);

	wait_until_there();
	watt_session_close(ses);
	ses = open_waiting(1);
	assert_int_equal(watt_session_start(ses), 0);
	wait_until_there();
	watt_session_close(ses);
	/* both threads find their way out */
	let_go('o');
	let_go('o');
}

/* A session that can't be opened leaves it behind, with all that it needs. */
static void test_refused_while_it_opens(void **state)
{
	struct watt_options *options =
		options_of("usage", "synth", "share-key", "nowhere=none", NULL);
	struct watt_session *ses;

	script.quick_waits_for_slow = true;
	assert_int_equal(watt_options_set_open_wait_ms(options, 1), 0);
	assert_int_equal(open_by(options, &ses), -ENOENT);
	let_go('o');
}

/* The makeshift is for when it is known that nothing measures the CPUs. */
static void test_makeshift_waits(void **state)
{
	struct watt_session *ses = open_waiting(1);

	assert_int_equal(watt_session_start(ses), 0);
	wait_for_energy(ses, "fan");
	assert_int_equal(watt_counter_get(&script.n_models), 0);
	let_go('e');
	wait_for_energy(ses, "guess");
	assert_int_equal(status_of(ses, "slow"), WATT_STATUS_FORBIDDEN);
	assert_int_equal(status_of(ses, "model"), WATT_STATUS_OK);
	watt_session_close(ses);
}

static void test_makeshift_not_needed(void **state)
{
	struct watt_session *ses;

	script.is_slow_of_cpus = true;
	ses = open_waiting(1);
	assert_int_equal(watt_session_start(ses), 0);
	let_go('o');
	wait_for_channel(ses, "slow/cpu");
	wait_for_energy(ses, "cpu");
	assert_int_equal(watt_counter_get(&script.n_models), 0);
	watt_session_close(ses);
	/* nor while somebody measures them already */
	script.is_quick_of_cpus = true;
	ses = open_waiting(1);
	assert_int_equal(watt_counter_get(&script.n_models), 0);
	wait_until_there();
	wait_until_there();
	let_go('o');
	watt_session_close(ses);
}

/* Where nothing else measures, the slow one is worth waiting for; so is one that has a name. */
static void test_waits_for_the_only_one(void **state)
{
	struct watt_session *ses;

	script.is_quick_absent = true;
	let_go('o');
	ses = open_waiting(1);
	assert_true(has_channel(ses, "slow/board"));
	watt_session_close(ses);
	let_go('e');
	assert_int_equal(try_open("slow", NULL, 1, &ses), -EACCES);
	script.is_quick_absent = false;
	let_go('e');
	assert_int_equal(try_open("quick,slow", NULL, 1, &ses), -EACCES);
	assert_int_equal(try_open("-slow,-quick,-model", NULL, 1, &ses), -ENODEV);
}

static void keep_line(void *data, enum watt_log_level level, const char *text)
{
	if (level == WATT_LOG_ERROR)
		snprintf(data, LINE_SIZE, "%s", text);
}

static void test_rate_of_one_that_is_not_used(void **state)
{
	struct watt_options *options = options_of("usage", "synth", "sources", "quick,model",
						  "rate", "quick=20,slow=10", NULL);
	struct watt_session *ses = NULL;
	char line[LINE_SIZE] = "";

	watt_options_set_log(options, keep_line, line);
	assert_int_equal(open_by(options, &ses), -ENOENT);
	assert_string_equal(
		line, "no source that is used here is called 'slow'; there are: quick, model");
}

/* The last of two rates holds. */
static void test_rate_of_one_that_is_not_open(void **state)
{
	struct watt_reader_stats stats = { .sz = sizeof(stats) };
	struct watt_session *ses = NULL;

	assert_int_equal(try_open(NULL, "slow=2Hz,slow=4Hz", 1, &ses), 0);
	assert_int_equal(watt_session_start(ses), 0);
	let_go('o');
	wait_for_channel(ses, "slow/board");
	assert_int_equal(watt_session_get_reader_stats(ses, 1, &stats), 0);
	assert_int_equal(stats.period_ns, 250 * WATT_NSEC_PER_MSEC);
	watt_session_close(ses);
	assert_int_equal(try_open("quick", "slow=4Hz", 1, &ses), -ENOENT);
}

/* Nothing is quick: the session waits for what comes, and does not overlook it. */
static void test_comes_to_a_long_slice(void **state)
{
	struct watt_options *options =
		options_of("usage", "synth", "slice", "60s", "period", "10ms", NULL);
	struct watt_session *ses = NULL;

	assert_int_equal(watt_options_set_open_wait_ms(options, 1), 0);
	assert_int_equal(open_by(options, &ses), 0);
	assert_int_equal(watt_session_start(ses), 0);
	let_go('o');
	wait_for_status(ses, "slow", WATT_STATUS_OK);
	watt_session_close(ses);
}

static const struct watt_diag *find_diag(const struct watt_diag *diags, size_t n,
					 const char *source)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!strcmp(diags[i].source, source))
			return &diags[i];
	fail_msg("no diagnosis of %s", source);
	return NULL;
}

/* One that hangs is said to, and the others are heard. */
static void test_doctor_leaves_behind(void **state)
{
	static struct watt_diag diags[16];
	const struct watt_diag *diag;
	size_t n = WATT_ARRAY_SIZE(diags);

	diags[0].sz = sizeof(diags[0]);
	script.hangs_in_probe = true;
	assert_int_equal(watt_doctor_within(NULL, WATT_NSEC_PER_MSEC, diags, &n), 0);
	assert_int_equal(n, 4);
	diag = find_diag(diags, n, "slow");
	assert_int_equal(diag->state, WATT_BROKEN);
	assert_int_equal(diag->error, -ETIMEDOUT);
	assert_int_equal(diag->is_selected, 0);
	assert_non_null(strstr(diag->why, "did not answer"));
	let_go('o'); /* probe, then open */
	let_go('o');
}

static void test_doctor_hears_all(void **state)
{
	static struct watt_diag diags[16];
	size_t n = WATT_ARRAY_SIZE(diags);

	diags[0].sz = sizeof(diags[0]);
	script.hangs_in_probe = true;
	let_go('o');
	let_go('o');
	assert_int_equal(watt_doctor_within(NULL, 60 * WATT_NSEC_PER_SEC, diags, &n), 0);
	assert_int_equal(find_diag(diags, n, "slow")->is_selected, 1);
	assert_int_equal(find_diag(diags, n, "quick")->is_selected, 1);
	assert_int_equal(find_diag(diags, n, "quick")->n_channels, 1);
	assert_int_equal(find_diag(diags, n, "model")->is_selected, 1);
	assert_int_equal(find_diag(diags, n, "synth")->role, WATT_ROLE_USAGE);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(test_joins_when_it_answers),
		TEST(test_order_of_those_in_time),
		TEST(test_closed_before_it_answers),
		TEST(test_refused_while_it_opens),
		TEST(test_makeshift_waits),
		TEST(test_makeshift_not_needed),
		TEST(test_waits_for_the_only_one),
		TEST(test_rate_of_one_that_is_not_open),
		TEST(test_rate_of_one_that_is_not_used),
		TEST(test_comes_to_a_long_slice),
		TEST(test_doctor_leaves_behind),
		TEST(test_doctor_hears_all),
	};

	return cmocka_run_group_tests_name("powers", tests, NULL, NULL);
}

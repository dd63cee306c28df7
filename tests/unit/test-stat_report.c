/* SPDX-License-Identifier: Apache-2.0 */
/* cli/stat_report.c: what is said of a command for which there is next to nothing to say. */
#include "unit.h"

#include <math.h>

#include "../options_of.h"
#include "stat_report.h"

static struct watt_session *ses;

static int setup(void **state)
{
	struct watt_options *options = options_of("sources", "synth", "usage", "synth", NULL);

	assert_int_equal(watt_options_set_driven(options, 1), 0);
	assert_int_equal(open_by(options, &ses), 0);
	return 0;
}

static int teardown(void **state)
{
	watt_session_close(ses);
	return 0;
}

/* The text of one run of a machine that took 5 J; the caller frees. argv NULL: attached. */
static const char *keys = "";
static double uncertainty_j = NAN;
static struct watt_run_thread threads[2];
static size_t n_threads;

static char *print_run(char **argv, int64_t energy_nj, uint64_t cpu_ns, double rusage_s)
{
	struct stat_setup about = {
		.ses = ses, .argv = argv, .pid = 7, .balance = { .is_baseline_ready = true }
	};
	struct watt_run run = { .sz = sizeof(run),
				.is_known = 1,
				.energy_nj = energy_nj,
				.machine_nj = 5000000000,
				.machine_w = 5,
				.cpu_ns = cpu_ns,
				.rusage_s = rusage_s,
				.uncertainty_j = uncertainty_j,
				.threads = threads,
				.n_threads = n_threads,
				.elapsed_ns = 1000000000 };
	const struct watt_run *runs[] = { &run };
	struct stat_report report = {
		.setup = &about, .runs = runs, .n_runs = 1, .has_threads = n_threads > 0
	};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	snprintf(about.balance.keys, sizeof(about.balance.keys), "%s", keys);
	assert_non_null(out);
	stat_report_print(&report, out);
	fclose(out);
	return text;
}

static char *command[] = { (char[]){ "true" }, NULL };

/* The line has no number, but a dash. */
static void check_dash(const char *text, const char *what)
{
	const char *p = strstr(text, what);

	assert_non_null(p);
	while (p > text && p[-1] == ' ')
		p--;
	assert_true(p > text + 1);
	assert_int_equal(p[-1], '-');
	assert_int_equal(p[-2], ' ');
}

static void check_too_little(uint64_t cpu_ns, double rusage_s)
{
	char *text = print_run(command, 0, cpu_ns, rusage_s);

	check_dash(text, " J  the command: below what could be resolved, for 1");
	check_dash(text, " W  the command, on average");
	free(text);
}

static void test_too_little_is_not_none(void **state)
{
	check_too_little(1000000, 0.001);
	/* over before anybody looked: the kernel told who waited for it */
	check_too_little(0, 0.001);
}

/* Where nothing was shared, nobody is said to have used nothing. */
static void test_not_shared_is_not_none(void **state)
{
	char *text;

	keys = "none";
	text = print_run(command, 0, 1000000, 0.001);
	keys = "";
	assert_non_null(strstr(text, "shared by nothing"));
	check_dash(text, " J  the command: nothing tells who used the energy");
	free(text);
}

static void test_little_is_told(void **state)
{
	char *text = print_run(command, 2000, 1000000, 0.001);

	assert_null(strstr(text, "below what could be resolved"));
	assert_null(strstr(text, "0.000000 J  the command"));
	free(text);
}

/* What a key can't tell of its own shares is left out, and never 0. */
/* A thread that used less than a digit can show has used something. */
static void test_little_of_a_thread(void **state)
{
	char *text;

	threads[0] = (struct watt_run_thread){ .name = (char[]){ "busy" },
					       .pid = 7,
					       .tid = 7,
					       .energy_nj = 999999000,
					       .cpu_ns = 200000000 };
	threads[1] = (struct watt_run_thread){
		.name = (char[]){ "idler" }, .pid = 7, .tid = 8, .energy_nj = 1000, .cpu_ns = 200
	};
	n_threads = 2;
	text = print_run(command, 1000000000, 200000200, 0.2);
	n_threads = 0;
	assert_non_null(strstr(text, " <0.001    J     0.000000 s  idler (8 of 7)"));
	assert_non_null(strstr(text, " 1.000    J     0.200000 s  busy (7 of 7)"));
	free(text);
}

static void test_doubt(void **state)
{
	char *text = print_run(command, 2000000000, 1000000, 0.001);

	assert_non_null(strstr(text, "the command, 40.0 % of the machine\n"));
	free(text);
	uncertainty_j = 0.25;
	text = print_run(command, 2000000000, 1000000, 0.001);
	uncertainty_j = NAN;
	assert_non_null(strstr(text, "the command, 40.0 % of the machine, +-0.25 J\n"));
	free(text);
}

/* Who sleeps uses nothing, and that is known. */
static void test_none_is_none(void **state)
{
	char *text = print_run(NULL, 0, 0, NAN);

	assert_null(strstr(text, "below what could be resolved"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_too_little_is_not_none),
		cmocka_unit_test(test_not_shared_is_not_none),
		cmocka_unit_test(test_little_is_told),
		cmocka_unit_test(test_little_of_a_thread),
		cmocka_unit_test(test_doubt),
		cmocka_unit_test(test_none_is_none),
	};

	return cmocka_run_group_tests_name("stat_report", tests, setup, teardown);
}

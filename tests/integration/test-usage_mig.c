/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session beside a GPU whose instances come and go, by a driver that is not there: in every
 * window instances and what is nobody's are the GPU, to the nJ; and the recording gives the same
 * snapshots, byte for byte.
 */
#include "../unit/unit.h"

#include <unistd.h>

#include <wattribute/json.h>
#include <wattribute/wattribute.h>

#include "../options_of.h"

#define N_SNAPSHOTS 6
#define GPU "gpu-0000:01:00_0"

static char *texts[N_SNAPSHOTS];

/* This process is in one that is there for 4 s, its parent in one that comes after 2 s. */
static void write_script(const char *dir)
{
	char path[256], script[512];

	snprintf(script, sizeof(script),
		 "gpu GPU-1 00000000:01:00.0 a GPU\npower 0 200000\npower 3 300000\ngpm\n"
		 "mig 1 0 3 MIG-a 0 4\nmig 2 0 2 MIG-b 2\nprocess %u 0 80\nplace %u 1 0\n"
		 "process %u 0 50\nplace %u 2 0\nprocess 4194303 0 20\nplace 4194303 2 0\n",
		 (unsigned int)getpid(), (unsigned int)getpid(), (unsigned int)getppid(),
		 (unsigned int)getppid());
	scratch_write_bytes(dir, "script", script, strlen(script));
	snprintf(path, sizeof(path), "%s/script", dir);
	assert_int_equal(setenv("FAKE_NVML_SCRIPT", path, 1), 0);
}

/* Returns how many instances there are in it. */
static size_t check_windows(const struct watt_snapshot *snap)
{
	int64_t sum_nj = 0, gpu_nj = 0;
	size_t n = 0, d;

	for (d = 0; d < watt_snapshot_get_domain_count(snap); d++) {
		const struct watt_domain_state *s = watt_snapshot_get_domain_state(snap, d);
		const struct watt_domain *domain = watt_snapshot_get_domain(snap, d);

		if (!strcmp(domain->path, GPU)) {
			gpu_nj = s->window_nj;
			sum_nj += s->window_idle_nj + s->window_unattributed_nj;
		} else if (domain->kind == WATT_DOMAIN_GPU_INSTANCE) {
			assert_int_equal(domain->origin, WATT_ORIGIN_ESTIMATED);
			/* of whom nobody knows: in both */
			sum_nj += s->window_nj - s->window_unattributed_nj;
			n++;
		}
	}
	assert_int_equal(sum_nj, gpu_nj);
	assert_int_equal(watt_snapshot_get_quality(snap)->check_failures, 0);
	assert_int_equal(watt_snapshot_get_quality(snap)->sum_failures, 0);
	return n;
}

static void live(const char *lib, const char *path)
{
	struct watt_session *ses;
	struct watt_snapshot *snap;
	size_t n = 0, i;
	bool is_gone = false;

	assert_int_equal(
		open_by(options_of("sources", "nvml", "usage", "procfs", "nvml-lib", lib, NULL),
			&ses),
		0);
	assert_int_equal(watt_session_record(ses, path, NULL), 0);
	assert_int_equal(watt_session_start(ses), 0);
	for (i = 0; i < N_SNAPSHOTS; i++) {
		usleep(1200000);
		assert_int_equal(watt_session_snapshot(ses, &snap), 0);
		assert_int_equal(watt_snapshot_to_json(snap, 0, &texts[i]), 0);
		assert_true(check_windows(snap) >= n);
		n = check_windows(snap);
		is_gone = strstr(texts[i], "absent") != NULL;
		watt_snapshot_unref(snap);
	}
	assert_true(n >=
		    1); /* the first of two may be over before a machine as busy as may be looks */
	assert_true(n < 2 || is_gone);
	watt_session_close(ses);
}

static void check_replay(const char *path)
{
	struct watt_session *ses;
	struct watt_snapshot *snap;
	char *text;
	size_t i;

	assert_int_equal(watt_session_open_recording(path, NULL, &ses), 0);
	for (i = 0; i < N_SNAPSHOTS; i++) {
		assert_int_equal(watt_session_next_snapshot(ses, &snap), 0);
		assert_int_equal(watt_snapshot_to_json(snap, 0, &text), 0);
		assert_string_equal(text, texts[i]);
		check_windows(snap);
		watt_snapshot_unref(snap);
		free(text);
		free(texts[i]);
	}
	assert_int_equal(watt_session_next_snapshot(ses, &snap), 1);
	watt_session_close(ses);
}

static void test_instances(void **state)
{
	const char *lib = getenv("WATT_FAKE_NVML");
	char *dir = scratch_new(), path[256];

	assert_non_null(lib);
	snprintf(path, sizeof(path), "%s/mig.watt", dir);
	write_script(dir);
	live(lib, path);
	check_replay(path);
	scratch_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_instances) };

	if (!has_machine_pids()) {
		fprintf(stderr,
			"skipped: in a pid namespace of its own nobody is found on a GPU\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}

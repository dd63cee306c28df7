/* SPDX-License-Identifier: Apache-2.0 */
/* lib/pipeline.c: what appears while a session runs gets its energy, live and in replay. */
#include "power.h"

#include <wattribute/json.h>
#include <wattribute/wattribute.h>

#include "../options_of.h"

#define ZONE "sys/class/powercap/intel-rapl:9"

static int domain_named(const struct watt_snapshot *snap, const char *path)
{
	size_t i;

	for (i = 0; i < watt_snapshot_get_domain_count(snap); i++)
		if (!strcmp(watt_snapshot_get_domain(snap, i)->path, path))
			return (int)i;
	return -1;
}

static struct watt_session *open_on(const char *dir, const char *record)
{
	struct watt_options *options;
	struct watt_session *ses;
	char *sysfs, *procfs;

	assert_true(asprintf(&sysfs, "%s/sys", dir) > 0);
	assert_true(asprintf(&procfs, "%s/proc", dir) > 0);
	options = options_of("sources", "powercap", "usage", "synth", "slice", "10ms", "sysfs-root",
			     sysfs, "procfs-root", procfs, NULL);
	watt_options_set_driven(options, 1);
	assert_int_equal(open_by(options, &ses), 0);
	assert_int_equal(watt_session_record(ses, record, NULL), 0);
	assert_int_equal(watt_session_start(ses), 0);
	free(procfs);
	free(sysfs);
	return ses;
}

/* In place and as long as before, so that nobody ever sees it empty. */
static void count_to(const char *dir, unsigned int uj)
{
	char *path, text[16];
	int fd, len = snprintf(text, sizeof(text), "%010u\n", uj);

	assert_true(asprintf(&path, "%s/" ZONE "/energy_uj", dir) > 0);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, text, (size_t)len, 0), len);
	close(fd);
	free(path);
}

/* Lets it count until a domain of that path has energy. */
static struct watt_snapshot *wait_for_energy(struct watt_session *ses, const char *dir,
					     const char *path)
{
	uint64_t give_up_ns = watt_session_get_time_ns(ses) + 20000000000ULL;
	struct watt_snapshot *snap;
	unsigned int uj = 1000;
	int domain;

	for (;;) {
		count_to(dir, uj += 1000);
		assert_int_equal(watt_session_wait(ses, 20), 0);
		assert_int_equal(watt_session_snapshot(ses, &snap), 0);
		domain = domain_named(snap, path);
		if (domain >= 0) {
			const struct watt_energy *energy =
				&watt_snapshot_get_domain_state(snap, (size_t)domain)->energy;

			if (energy->j > 0 || energy->nj > 0)
				return snap;
		}
		watt_snapshot_unref(snap);
		assert_true(watt_session_get_time_ns(ses) < give_up_ns);
	}
}

static char *json_of(const struct watt_snapshot *snap)
{
	char *text = NULL;

	assert_int_equal(watt_snapshot_to_json(snap, 0, &text), 0);
	return text;
}

static void check_replay(const char *record, size_t n_channels, const char *expected)
{
	struct watt_snapshot *snap, *last = NULL;
	struct watt_session *ses;
	char *said;

	assert_int_equal(watt_session_open_recording(record, NULL, &ses), 0);
	assert_int_equal(watt_session_start(ses), 0);
	assert_int_equal(watt_session_get_channel_count(ses), n_channels - 1);
	while (watt_session_next_snapshot(ses, &snap) == 0) {
		watt_snapshot_unref(last);
		last = snap;
	}
	assert_int_equal(watt_session_get_channel_count(ses), n_channels);
	said = json_of(last);
	assert_string_equal(said, expected);
	free(said);
	watt_snapshot_unref(last);
	watt_session_close(ses);
}

/* All of it at once, as the kernel does: a half of a zone is none, and is not looked at again. */
static void make_zone(const char *dir)
{
	char *from, *to;

	scratch_write(dir, "new/name", "package-7\n");
	scratch_write(dir, "new/max_energy_range_uj", "262143328850\n");
	scratch_write(dir, "new/energy_uj", "0000001000\n");
	assert_true(asprintf(&from, "%s/new", dir) > 0);
	assert_true(asprintf(&to, "%s/" ZONE, dir) > 0);
	assert_int_equal(rename(from, to), 0);
	free(from);
	free(to);
}

static void test_zone_that_comes(void **state)
{
	char *dir = fixture_copy("rapl-forbidden"), *record, *said;
	const struct watt_domain_state *came;
	struct watt_session *ses;
	struct watt_snapshot *snap;
	size_t n_channels, n_domains;
	int domain;

	assert_true(asprintf(&record, "%s/run.watt", dir) > 0);
	ses = open_on(dir, record);
	n_channels = watt_session_get_channel_count(ses);
	n_domains = watt_session_get_domain_count(ses);
	assert_int_equal(watt_session_wait(ses, 50), 0);
	make_zone(dir);
	snap = wait_for_energy(ses, dir, "package-7");
	assert_int_equal(watt_session_get_channel_count(ses), n_channels + 1);
	assert_string_equal(watt_session_get_channel(ses, n_channels)->name, "powercap/package-7");
	assert_int_equal(watt_session_get_domain_count(ses), n_domains + 1);
	domain = domain_named(snap, "package-7");
	assert_int_equal(domain, (int)n_domains);
	came = watt_snapshot_get_domain_state(snap, (size_t)domain);
	assert_int_equal(came->status, WATT_STATUS_OK);
	assert_int_equal(watt_snapshot_get_domain(snap, (size_t)domain)->is_summed, 1);
	assert_int_equal(watt_snapshot_get_quality(snap)->check_failures, 0);
	said = json_of(snap);
	watt_snapshot_unref(snap);
	watt_session_close(ses);
	check_replay(record, n_channels + 1, said);
	free(said);
	free(record);
	scratch_remove(dir);
}

static void check_end(const char *record, uint64_t end_ns)
{
	struct watt_recording *rec;

	assert_int_equal(watt_recording_open(record, NULL, NULL, &rec), 0);
	assert_int_equal(watt_recording_get_info(rec)->end_ns, end_ns);
	watt_recording_close(rec);
}

/* What goes on behind the end is not recorded, and the end is what was said. */
static void test_end_of_a_recording(void **state)
{
	char *dir = fixture_copy("rapl-forbidden"), *record;
	struct watt_session *ses;
	uint64_t end_ns;

	assert_true(asprintf(&record, "%s/run.watt", dir) > 0);
	ses = open_on(dir, record);
	assert_int_equal(watt_session_wait(ses, 50), 0);
	end_ns = watt_session_get_time_ns(ses) - 10000000;
	assert_int_equal(watt_session_end_recording(ses, 1), -EINVAL);
	assert_int_equal(watt_session_end_recording(ses, end_ns), 0);
	assert_int_equal(watt_session_end_recording(ses, end_ns), -EALREADY);
	assert_int_equal(watt_session_wait(ses, 50), 0);
	watt_session_close(ses);
	check_end(record, end_ns);
	assert_int_equal(watt_session_open_recording(record, NULL, &ses), 0);
	assert_int_equal(watt_session_end_recording(ses, end_ns), -ENODATA);
	watt_session_close(ses);
	free(record);
	scratch_remove(dir);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_zone_that_comes),
		cmocka_unit_test(test_end_of_a_recording),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

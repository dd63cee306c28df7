/* SPDX-License-Identifier: Apache-2.0 */
/* An instrument that is played by a command: lib/source/power/meter/. */
#include "unit.h"

#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/util.h"
#include "source/power/meter/meter_link.h"
#include "source/registry.h"

#define PATIENCE_MS 30000

/* Reads until a line is there, or it has ended. */
static int hear(struct watt_meter_link *link, struct watt_meter_line *ret)
{
	int r;

	while ((r = watt_meter_link_read(link, ret)) == -EAGAIN)
		assert_int_equal(watt_meter_link_wait(link, PATIENCE_MS), 0);
	return r;
}

static void test_the_newest_line_counts(void **state)
{
	struct watt_meter_link link;
	struct watt_meter_line line;

	assert_int_equal(watt_meter_link_open(&link, "exec:printf '# us\\nW 5\\n\\nW 6\\nW 7'"), 0);
	while (watt_meter_link_read(&link, &line) == -EAGAIN)
		watt_meter_link_wait(&link, PATIENCE_MS);
	assert_int_equal(line.value_uw, 6000000);
	assert_int_equal(hear(&link, &line), -EPIPE); /* what was not ended was not said */
	watt_meter_link_close(&link);
	assert_int_equal(watt_meter_link_read(&link, &line), -EPIPE);
}

static void test_lines_that_are_none(void **state)
{
	static const char *const commands[] = {
		"exec:echo hello",
		"exec:printf 'W 5\\0\\n'",
		"exec:printf 'W %0300d\\n' 5",
	};
	struct watt_meter_link link;
	struct watt_meter_line line;
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(commands); i++) {
		assert_int_equal(watt_meter_link_open(&link, commands[i]), 0);
		assert_int_equal(hear(&link, &line), -EBADMSG);
		watt_meter_link_close(&link);
	}
}

static void test_places(void **state)
{
	static const struct {
		const char *place;
		int error;
	} cases[] = {
		{ "", -EINVAL },
		{ "/dev/ttyUSB0", -EINVAL },
		{ "unix:", -EINVAL },
		{ "tcp:5", -EINVAL },
		{ "tcp:host:", -EINVAL },
		{ "exec:", -EINVAL },
		{ "unix:/nowhere/at/all", -ENOENT },
	};
	struct watt_meter_link link;
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(cases); i++)
		assert_int_equal(watt_meter_link_open(&link, cases[i].place), cases[i].error);
}

/* Whoever plays it on a socket may come and go. */
static void test_socket(void **state)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char folder[] = "/tmp/watt-meter-XXXXXX", place[128];
	struct watt_meter_link link;
	struct watt_meter_line line;
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), fd;

	assert_non_null(mkdtemp(folder));
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/meter", folder);
	assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(listener, 1), 0);
	snprintf(place, sizeof(place), "unix:%s", address.sun_path);
	assert_int_equal(watt_meter_link_open(&link, place), 0);
	fd = accept(listener, NULL, NULL);
	assert_int_equal(watt_meter_link_read(&link, &line), -EAGAIN);
	assert_int_equal(write(fd, "J 5", 3), 3);
	assert_int_equal(watt_meter_link_read(&link, &line), -EAGAIN);
	assert_int_equal(write(fd, ".5\n", 3), 3);
	assert_int_equal(hear(&link, &line), 0);
	assert_int_equal(line.quantity, WATT_QUANTITY_ENERGY);
	assert_int_equal(line.value_uw, 5500000);
	close(fd);
	assert_int_equal(hear(&link, &line), -EPIPE);
	watt_meter_link_close(&link);
	close(listener);
	unlink(address.sun_path);
	rmdir(folder);
}

/* The command ends with the source, and all that it started. */
static void test_source(void **state)
{
	struct watt_env env = { .meter = "exec:echo W 42.5; sleep 1000 & wait" };
	struct watt_sample sample = { 0 };
	struct watt_power *power;
	const struct watt_channel *channel;

	assert_int_equal(watt_power_meter.open(&env, &power), 0);
	channel = &power->channels[0];
	assert_string_equal(channel->name, "meter/power");
	assert_string_equal(channel->domain, "node");
	assert_int_equal(channel->kind, WATT_DOMAIN_TOTAL);
	watt_power_meter.read(power, 0, &sample);
	assert_int_equal(sample.status, WATT_STATUS_OK);
	assert_int_equal(sample.raw, 42500000);
	watt_power_meter.read(power, 0, &sample);
	assert_int_equal(sample.status, WATT_STATUS_NOTHING_NEW);
	watt_power_meter.close(power);
}

static void test_what_probe_says(void **state)
{
	static const struct {
		const char *meter;
		enum watt_availability state;
		const char *why, *hint;
	} cases[] = {
		{ NULL, WATT_ABSENT, "nobody named", "--meter=" },
		{ "exec:echo J 5; sleep 1000", WATT_AVAILABLE, "the energy of the node", "" },
		{ "exec:echo hello", WATT_BROKEN, "neither", "'W 231.5'" },
		{ "exec:true", WATT_BROKEN, "ends before", "'W 231.5'" },
		{ "unix:/nowhere/at/all", WATT_BROKEN, "No such file", "start it" },
	};
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(cases); i++) {
		struct watt_env env = { .meter = cases[i].meter };
		struct watt_diag diag = { 0 };

		watt_power_meter.probe(&env, &diag);
		assert_int_equal(diag.state, cases[i].state);
		assert_non_null(strstr(diag.why, cases[i].why));
		assert_non_null(strstr(diag.hint, cases[i].hint));
	}
}

static void take_warning(void *data, enum watt_log_level level, const char *text)
{
	assert_int_equal(level, WATT_LOG_WARNING);
	assert_non_null(strstr(text, "unix:/nowhere/at/all: No such file"));
	++*(int *)data;
}

/* Who named an instrument is told that it is not there: once, and not each time it is tried. */
static void test_who_named_it_is_told(void **state)
{
	int n_told = 0;
	struct watt_env env = { .meter = "unix:/nowhere/at/all", .log = { take_warning, &n_told } };
	const struct watt_known nothing = { 0 };
	struct watt_power *power;

	assert_int_equal(watt_power_meter.open(&env, &power), -ENOENT);
	assert_int_equal(n_told, 1);
	assert_int_equal(watt_power_meter.rescan(&env, &nothing, &power), -ENOENT);
	assert_int_equal(n_told, 1);
	env.meter = NULL;
	assert_int_equal(watt_power_meter.open(&env, &power), -ENODEV);
	assert_int_equal(n_told, 1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_newest_line_counts),
		cmocka_unit_test(test_lines_that_are_none),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_socket),
		cmocka_unit_test(test_source),
		cmocka_unit_test(test_what_probe_says),
		cmocka_unit_test(test_who_named_it_is_told),
	};

	return cmocka_run_group_tests_name("meter_link", tests, NULL, NULL);
}

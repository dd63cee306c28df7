/* SPDX-License-Identifier: Apache-2.0 */
/* lib/source/power/dcmi: against a device and a BMC that are not there (tests/fake/ipmi.c). */
#include "power.h"

#include "base/clock.h"
#include "base/util.h"
#include "source/power/dcmi/dcmi_reading.h"
#include "source/power/dcmi/ipmi_link.h"
#include "source/registry.h"

static char *dir;
static char script[PATH_MAX];

static void say(const char *text)
{
	scratch_write(dir, "script", text);
}

static int set_up(void **state)
{
	dir = scratch_new();
	snprintf(script, sizeof(script), "%s/script", dir);
	setenv("FAKE_IPMI", script, 1);
	scratch_write(dir, "sys/class/ipmi/ipmi0/dev", "242:0\n");
	return 0;
}

static int tear_down(void **state)
{
	scratch_remove(dir);
	return 0;
}

/* ---- what a BMC answers ---- */

static void test_answers(void **state)
{
	/* 312 W now, 90 to 640, 287 in the mean of a minute */
	uint8_t answer[19] = { 0xdc, 0x38, 1, 90,   0,    0x80, 2, 0x1f, 1,
			       0,    0,    0, 0x65, 0x60, 0xea, 0, 0,    0x40 };
	uint32_t power_w = 7;

	assert_int_equal(watt_dcmi_reading_parse(answer, 18, &power_w), 0);
	assert_int_equal(power_w, 312);
	power_w = 7;
	assert_int_equal(watt_dcmi_reading_parse(answer, 17, &power_w), -EBADMSG);
	assert_int_equal(watt_dcmi_reading_parse(answer, 19, &power_w), -EBADMSG);
	assert_int_equal(watt_dcmi_reading_parse(answer, 0, &power_w), -EBADMSG);
	answer[17] = 0xbf;
	assert_int_equal(watt_dcmi_reading_parse(answer, 18, &power_w), -ENODATA);
	answer[17] = 0x40;
	answer[1] = answer[2] = 0;
	assert_int_equal(watt_dcmi_reading_parse(answer, 18, &power_w), -ENODATA);
	answer[1] = answer[2] = 0xff;
	answer[0] = 0xdd;
	assert_int_equal(watt_dcmi_reading_parse(answer, 18, &power_w), -EBADMSG);
	assert_int_equal(power_w, 7);
	answer[0] = 0xdc;
	assert_int_equal(watt_dcmi_reading_parse(answer, 18, &power_w), 0);
	assert_int_equal(power_w, 65535);
}

static void test_link(void **state)
{
	static const struct watt_ipmi_question question = { .netfn = 6, .command = 1 };
	static const struct {
		const char *script;
		int r;
		bool is_open; /* and stays so */
	} cases[] = {
		{ "answer 00 01 02 03\n", 3, true },    { "answer 00\n", 0, true },
		{ "answer 00 01\nlate 30\n", 1, true }, { "answer 00 01 02\nstray\n", 2, true },
		{ "answer c1\n", -EOPNOTSUPP, true },   { "answer d6\n", -EOPNOTSUPP, true },
		{ "answer d4\n", -EACCES, true },       { "answer c0\n", -EAGAIN, true },
		{ "answer c3\n", -ETIMEDOUT, true },    { "answer cb\n", -ENODATA, true },
		{ "answer d5\n", -ENODATA, true },      { "answer ff\n", -EREMOTEIO, true },
		{ "answer 83 dc\n", -EREMOTEIO, true }, { "answer\n", -EREMOTEIO, true },
		{ "send 19\n", -ENODEV, false },
	};
	struct watt_ipmi_link link;
	uint8_t answer[WATT_IPMI_ANSWER_MAX];
	char text[512] = "answer 00";
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(cases); i++) {
		say(cases[i].script);
		assert_int_equal(watt_ipmi_link_open(&link, "/dev/ipmi0"), 0);
		if (watt_ipmi_link_ask(&link, &question, answer) != cases[i].r ||
		    (link.fd >= 0) != cases[i].is_open)
			fail_msg("%s", cases[i].script);
		watt_ipmi_link_close(&link);
	}
	for (i = 0; i < 100; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), " %02zx", i);
	say(text);
	assert_int_equal(watt_ipmi_link_open(&link, "/dev/ipmi0"), 0);
	assert_int_equal(watt_ipmi_link_ask(&link, &question, answer), WATT_IPMI_ANSWER_MAX);
	assert_int_equal(answer[63], 63);
	watt_ipmi_link_close(&link);
	say("open 13\n");
	assert_int_equal(watt_ipmi_link_open(&link, "/dev/ipmi0"), -EACCES);
	watt_ipmi_link_close(&link);
}

/* ---- the source ---- */

/* In a world of its own, with a BMC that says this. */
static struct watt_power *open_source(struct power_world *world, const char *text)
{
	struct watt_power *power;

	world_open(world, dir);
	say(text);
	assert_int_equal(watt_power_dcmi.open(&world->env, &power), 0);
	return power;
}

static void close_source(struct power_world *world, struct watt_power *power)
{
	power->ops->close(power);
	world_close(world);
}

static void read_one(struct watt_power *power, struct watt_sample *ret)
{
	power->ops->read(power, 0, ret);
	assert_true(ret->t_after_ns >= ret->t_before_ns);
}

static void test_total(void **state)
{
	struct power_world world;
	struct watt_power *power;
	struct watt_sample sample;

	power = open_source(&world, "power 312\n");
	check_power(power);
	assert_int_equal(power->n_channels, 1);
	assert_string_equal(power->channels[0].name, "dcmi/node/power");
	assert_string_equal(power->channels[0].domain, "node");
	assert_string_equal(power->channels[0].path, "/dev/ipmi0");
	assert_int_equal(power->channels[0].kind, WATT_DOMAIN_TOTAL);
	assert_int_equal(power->channels[0].flags, WATT_CHANNEL_AGE_UNKNOWN);
	assert_in_range(power->groups[0].period_ns, WATT_NSEC_PER_SEC, 10 * WATT_NSEC_PER_SEC);
	read_one(power, &sample);
	assert_int_equal(sample.status, WATT_STATUS_OK);
	assert_int_equal(sample.raw * (int64_t)power->channels[0].scale_num, 312000000);
	say("power 65535\n");
	read_one(power, &sample);
	assert_int_equal(sample.status, WATT_STATUS_OK);
	assert_int_equal(sample.raw, 65535);
	assert_int_equal(world.n_warnings, 0);
	close_source(&world, power);
}

/* What goes wrong is told once, and is over when it is over. */
static void test_failures(void **state)
{
	static const struct {
		const char *script;
		enum watt_status status;
	} cases[] = {
		{ "answer d5\n", WATT_STATUS_NODATA },
		{ "answer 00 dc 38 01 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00\n",
		  WATT_STATUS_NODATA },
		{ "power 0\n", WATT_STATUS_NODATA },
		{ "answer c0\n", WATT_STATUS_NODATA },
		{ "answer d4\n", WATT_STATUS_FORBIDDEN },
		{ "answer c3\n", WATT_STATUS_STALE },
		{ "answer 00 dc 38 01\n", WATT_STATUS_BROKEN },
		{ "answer ff\n", WATT_STATUS_BROKEN },
	};
	struct power_world world;
	struct watt_power *power;
	struct watt_sample sample;
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(cases); i++) {
		power = open_source(&world, "power 200\n");
		read_one(power, &sample);
		assert_int_equal(sample.status, WATT_STATUS_OK);
		say(cases[i].script);
		read_one(power, &sample);
		if (sample.status != cases[i].status || sample.raw)
			fail_msg("%s: %d", cases[i].script, sample.status);
		read_one(power, &sample);
		assert_int_equal(world.n_warnings, 1);
		say("power 201\n");
		read_one(power, &sample);
		assert_int_equal(sample.status, WATT_STATUS_OK);
		assert_int_equal(sample.raw, 201);
		close_source(&world, power);
	}
}

/* The driver has gone: nobody asks more often than every 2 s whether it is back. */
static void test_driver_gone(void **state)
{
	struct power_world world;
	struct watt_power *power;
	struct watt_sample sample;

	power = open_source(&world, "power 200\n");
	say("send 19\nopen 19\n");
	read_one(power, &sample);
	assert_int_equal(sample.status, WATT_STATUS_ABSENT);
	read_one(power, &sample); /* that is the first try */
	assert_int_equal(sample.status, WATT_STATUS_ABSENT);
	say("power 200\n");
	read_one(power, &sample);
	assert_int_equal(sample.status, WATT_STATUS_STALE);
	close_source(&world, power);
}

static void test_probe(void **state)
{
	static const struct {
		const char *script;
		enum watt_availability state;
		const char *why, *hint;
	} cases[] = {
		{ "power 312\n", WATT_AVAILABLE, "machine's total", "" },
		{ "answer c1\n", WATT_ABSENT, "no DCMI", "--redfish-url" },
		{ "open 13\n", WATT_FORBIDDEN, "may not ask", "root" },
		{ "open 1\n", WATT_FORBIDDEN, "may not ask", "container" },
		{ "open 2\n", WATT_BROKEN, "no such device", "container" },
		{ "answer c3\n", WATT_BROKEN, "does not answer", "starting" },
		{ "answer d5\n", WATT_BROKEN, "does not measure", "settings" },
		{ "power 0\n", WATT_BROKEN, "0 W", "settings" },
		{ "answer 00 dc\n", WATT_BROKEN, "makes no sense", "firmware" },
		{ "answer ff\n", WATT_BROKEN, "I/O", "" },
	};
	struct power_world world;
	struct watt_diag diag;
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(cases); i++) {
		int r;

		world_open(&world, dir);
		say(cases[i].script);
		diag = (struct watt_diag){ 0 };
		r = watt_power_dcmi.probe(&world.env, &diag);
		if (diag.error != r || (r == 0) != (diag.state == WATT_AVAILABLE) ||
		    diag.state != cases[i].state || !strstr(diag.why, cases[i].why) ||
		    !strstr(diag.hint, cases[i].hint))
			fail_msg("%s: %s; %s", cases[i].script, diag.why, diag.hint);
		assert_string_equal(diag.path, "/dev/ipmi0");
		world_close(&world);
	}
}

/* Without a BMC, or on a captured machine, whose BMC this is not, nobody is asked. */
static void test_nothing(void **state)
{
	struct watt_diag diag = { 0 };
	struct power_world world;
	struct watt_power *power;
	char *empty = scratch_new();

	say("power 312\n");
	world_open(&world, dir);
	world.env.is_captured = true;
	assert_int_equal(watt_power_dcmi.open(&world.env, &power), -ENODEV);
	world_close(&world);
	scratch_write(empty, "sys/class/net/lo", "");
	world_open(&world, empty);
	assert_int_equal(watt_power_dcmi.open(&world.env, &power), -ENODEV);
	assert_int_equal(watt_power_dcmi.probe(&world.env, &diag), -ENODEV);
	assert_int_equal(diag.state, WATT_ABSENT);
	assert_non_null(strstr(diag.hint, "ipmi_devintf"));
	world_close(&world);
	scratch_remove(empty);
}

/* A BMC that can't now is found when it can; one that is known is not opened twice. */
static void test_comes_later(void **state)
{
	static const char *const name = "dcmi/node/power";
	const struct watt_known known = { &name, 1 }, nobody = { NULL, 0 };
	struct power_world world;
	struct watt_power *power;

	world_open(&world, dir);
	say("answer c1\n");
	assert_int_equal(watt_power_dcmi.open(&world.env, &power), -ENODEV);
	say("answer d5\n");
	assert_int_equal(watt_power_dcmi.rescan(&world.env, &nobody, &power), -ENODATA);
	say("power 99\n");
	assert_int_equal(watt_power_dcmi.rescan(&world.env, &known, &power), -ENODEV);
	assert_int_equal(watt_power_dcmi.rescan(&world.env, &nobody, &power), 0);
	close_source(&world, power);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers),
		cmocka_unit_test_setup_teardown(test_link, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_total, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_failures, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_driver_gone, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_probe, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_nothing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_comes_later, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("dcmi", tests, NULL, NULL);
}

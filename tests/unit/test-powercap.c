/* SPDX-License-Identifier: Apache-2.0 */
/* lib/source/power/powercap/powercap.c, powercap_scan.c, powercap_channel.c, powercap_reader.c */
#include "power.h"

#include "source/power/powercap/powercap_scan.h"
#include "source/registry.h"

#define ENERGY(zone) "sys/class/powercap/" zone "/energy_uj"

static const struct watt_power_ops *const ops = &watt_power_powercap;

static struct watt_power *open_fixture(struct power_world *world, const char *machine)
{
	struct watt_power *power = NULL;

	world_open_fixture(world, machine);
	assert_int_equal(ops->open(&world->env, &power), 0);
	check_power(power);
	return power;
}

static void close_fixture(struct power_world *world, struct watt_power *power)
{
	ops->close(power);
	world_close(world);
}

static void check_channel(const struct watt_power *power, const char *name, const char *domain,
			  enum watt_domain_kind kind, int package_id, int die_id)
{
	const struct watt_channel *ch = channel_named(power, name);

	assert_string_equal(ch->domain, domain);
	assert_int_equal(ch->kind, kind);
	assert_int_equal(ch->package_id, package_id);
	assert_int_equal(ch->die_id, die_id);
}

static void test_two_sockets(void **state)
{
	struct power_world world;
	struct watt_power *power = open_fixture(&world, "xeon-2s");
	const struct watt_channel *ch;
	struct watt_sample samples[16];

	assert_int_equal(power->n_channels, 7);
	assert_int_equal(power->n_groups, 1);
	check_channel(power, "powercap/package-0", "package-0", WATT_DOMAIN_PACKAGE, 0, -1);
	check_channel(power, "powercap/package-0/dram", "dram-0", WATT_DOMAIN_DRAM, 0, -1);
	check_channel(power, "powercap/package-1/core", "package-1/core", WATT_DOMAIN_CORES, 1, -1);
	check_channel(power, "powercap/psys", "psys", WATT_DOMAIN_TOTAL, -1, -1);
	/* index 2 is socket 1 */
	ch = channel_named(power, "powercap/package-1");
	assert_non_null(strstr(ch->path, "intel-rapl:2/energy_uj"));
	assert_int_equal(ch->wrap_nj, 4294967296ULL * 61035);
	assert_int_equal(channel_named(power, "powercap/package-1/dram")->wrap_nj,
			 4294967296ULL * 15300);
	assert_int_equal(ch->max_power_uw, 4 * 150000000ULL);
	assert_int_equal(ch->period_ns, 1000000);
	read_all_groups(power, samples);
	assert_int_equal(samples[ch - power->channels].status, WATT_STATUS_OK);
	assert_int_equal(samples[ch - power->channels].raw, 98765432109);
	assert_true(samples[0].t_before_ns <= samples[0].t_after_ns);
	assert_true(samples[0].t_after_ns <= samples[1].t_before_ns);
	assert_int_equal(world.n_warnings, 0);
	close_fixture(&world, power);
}

static void test_dies(void **state)
{
	struct power_world world;
	struct watt_power *power = open_fixture(&world, "xeon-2s-2die");

	assert_int_equal(power->n_channels, 12);
	check_channel(power, "powercap/package-1-die-1", "package-1-die-1", WATT_DOMAIN_PACKAGE, 1,
		      1);
	check_channel(power, "powercap/package-0-die-1/core", "package-0-die-1/core",
		      WATT_DOMAIN_CORES, 0, 1);
	check_channel(power, "powercap/package-0-die-1/dram", "dram-0-die-1", WATT_DOMAIN_DRAM, 0,
		      1);
	close_fixture(&world, power);
}

static void test_duplicates(void **state)
{
	struct power_world world;
	struct watt_power *power = open_fixture(&world, "laptop-client");
	const struct watt_channel *mmio =
		channel_named(power, "powercap/intel-rapl-mmio/package-0");

	assert_int_equal(power->n_channels, 5);
	check_channel(power, "powercap/package-0/uncore", "package-0/uncore", WATT_DOMAIN_UNCORE, 0,
		      -1);
	/* the same place in the tree, behind the one that is used, and read seldom */
	assert_string_equal(mmio->domain, "package-0");
	assert_ptr_equal(mmio, &power->channels[4]);
	assert_true(power->groups[mmio->group].period_ns > power->groups[0].period_ns);
	assert_int_equal(world.n_warnings, 0);
	close_fixture(&world, power);
}

static void test_amd(void **state)
{
	struct power_world world;
	struct watt_power *power = open_fixture(&world, "epyc");

	assert_int_equal(power->n_channels, 2);
	check_channel(power, "powercap/package-0", "package-0", WATT_DOMAIN_PACKAGE, 0, -1);
	check_channel(power, "powercap/package-1", "package-1", WATT_DOMAIN_PACKAGE, 1, -1);
	assert_int_equal(power->channels[0].wrap_nj, 4294967296ULL * 15258);
	close_fixture(&world, power);
}

static void test_scmi(void **state)
{
	struct power_world world;
	struct watt_power *power = open_fixture(&world, "arm-scmi");
	const struct watt_channel *ch;
	struct watt_sample samples[3];

	assert_int_equal(power->n_channels, 3);
	ch = channel_named(power, "powercap/arm-scmi/soc/cpu_cluster_0");
	assert_string_equal(ch->domain, "arm-scmi/soc/cpu_cluster_0");
	assert_int_equal(ch->quantity, WATT_QUANTITY_POWER);
	assert_int_equal(ch->semantics, WATT_SEMANTICS_AVERAGE);
	assert_int_equal(ch->window_ns, 1000000);
	assert_true(ch->flags & WATT_CHANNEL_OVERLAP_UNKNOWN);
	read_all_groups(power, samples);
	assert_int_equal(samples[ch - power->channels].raw, 6500000);
	assert_int_equal(channel_named(power, "powercap/arm-scmi/soc/gpu")->semantics,
			 WATT_SEMANTICS_INSTANT);
	close_fixture(&world, power);
}

/* Each bad file costs its own channel, with one line that names it, and nothing else. */
static void check_unread(struct watt_power *power, const char *name, const char *domain)
{
	const struct watt_channel *ch = channel_named(power, name);
	struct watt_sample samples[16];

	read_all_groups(power, samples);
	assert_string_equal(ch->domain, domain);
	assert_int_equal(ch->flags, WATT_CHANNEL_UNREAD);
	assert_int_equal(samples[ch - power->channels].status, WATT_STATUS_BROKEN);
	assert_true(power->groups[ch->group].period_ns > power->groups[0].period_ns);
}

/* The kernel numbers zones in hexadecimal: the eleventh is intel-rapl:a. */
static void test_sixteen_sockets(void **state)
{
	struct power_world world;
	struct watt_power *power = open_fixture(&world, "xeon-16s");
	char name[64], file[64];
	uint32_t i;

	assert_int_equal(power->n_channels, 16);
	assert_int_equal(world.n_warnings, 0);
	for (i = 0; i < 16; i++) {
		snprintf(name, sizeof(name), "powercap/package-%u", i);
		snprintf(file, sizeof(file), "intel-rapl:%x/energy_uj", i);
		assert_string_equal(power->channels[i].name, name);
		assert_non_null(strstr(power->channels[i].path, file));
		assert_int_equal(power->channels[i].package_id, i);
	}
	close_fixture(&world, power);
}

/* By TPMI: of the same control type, in the order in which its devices came, memory in each. */
static void test_tpmi(void **state)
{
	struct power_world world;
	struct watt_power *power = open_fixture(&world, "xeon-tpmi");
	struct watt_sample samples[16];
	const struct watt_channel *ch;

	assert_int_equal(power->n_channels, 6);
	assert_int_equal(world.n_warnings, 0);
	check_channel(power, "powercap/package-0", "package-0", WATT_DOMAIN_PACKAGE, 0, -1);
	check_channel(power, "powercap/package-1", "package-1", WATT_DOMAIN_PACKAGE, 1, -1);
	check_channel(power, "powercap/package-0/dram", "dram-0", WATT_DOMAIN_DRAM, 0, -1);
	check_channel(power, "powercap/package-1/dram", "dram-1", WATT_DOMAIN_DRAM, 1, -1);
	check_channel(power, "powercap/psys", "psys", WATT_DOMAIN_TOTAL, -1, -1);
	assert_int_equal(channel_named(power, "powercap/psys")->flags, 0);
	/* each socket's firmware tells of the platform */
	assert_int_equal(channel_named(power, "powercap/psys-1")->flags,
			 WATT_CHANNEL_OVERLAP_UNKNOWN);
	ch = channel_named(power, "powercap/package-0");
	assert_non_null(strstr(ch->path, "intel-rapl:2/energy_uj"));
	read_all_groups(power, samples);
	assert_int_equal(samples[ch - power->channels].raw, 33333444555);
	close_fixture(&world, power);
}

/* A package without a number is not forgotten, and shows one as soon as it has it. */
static void test_unread(void **state)
{
	char *dir = fixture_copy("xeon-16s");
	const struct watt_channel *ch;
	struct watt_sample samples[16];
	struct watt_diag diag = { 0 };
	struct power_world world;
	struct watt_power *power;

	scratch_write(dir, ENERGY("intel-rapl:c"), "no number\n");
	world_open(&world, dir);
	assert_int_equal(ops->probe(&world.env, &diag), 0);
	assert_non_null(strstr(diag.why, "15 of 16 zones"));
	assert_non_null(strstr(diag.why, "incomplete"));
	assert_int_equal(ops->open(&world.env, &power), 0);
	check_power(power);
	check_unread(power, "powercap/package-12", "package-12");
	assert_non_null(strstr(world.text, "intel-rapl:c (package-12) can't be read"));
	scratch_write(dir, ENERGY("intel-rapl:c"), "4711\n");
	ch = channel_named(power, "powercap/package-12");
	read_all_groups(power, samples);
	assert_int_equal(samples[ch - power->channels].status, WATT_STATUS_OK);
	assert_int_equal(samples[ch - power->channels].raw, 4711);
	ops->close(power);
	world_close(&world);
	scratch_remove(dir);
}

static void test_garbage(void **state)
{
	struct power_world world;
	struct watt_power *power = open_fixture(&world, "rapl-garbage");

	assert_int_equal(power->n_channels, 8);
	assert_int_equal(channel_named(power, "powercap/package-0")->wrap_nj, 0);
	/* a name that RAPL does not use is shown and never added */
	assert_true(channel_named(power, "powercap/package-99999999")->flags &
		    WATT_CHANNEL_OVERLAP_UNKNOWN);
	assert_int_equal(channel_named(power, "powercap/package-1/core")->wrap_nj, 0);
	assert_non_null(strstr(world.text, "intel-rapl:0:0 (package-0/core) left out"));
	assert_non_null(strstr(world.text, "intel-rapl:0:1 (package-0/uncore) left out"));
	/* what the sum should have is kept, and has no value */
	check_unread(power, "powercap/package-0/dram", "dram-0");
	check_unread(power, "powercap/package-1", "package-1");
	check_unread(power, "powercap/intel-rapl:3", "intel-rapl/intel-rapl:3");
	assert_non_null(strstr(world.text, "intel-rapl:1 (package-1) can't be read"));
	assert_non_null(strstr(world.text, "intel-rapl:0 and intel-rapl:2 are both"));
	assert_non_null(strstr(world.text, "intel-rapl:3 left out"));
	assert_non_null(strstr(world.text, "intel-rapl:5 left out"));
	assert_non_null(strstr(world.text, "intel-rapl:x"));
	close_fixture(&world, power);
}

static void test_removed_and_back(void **state)
{
	char *dir = fixture_copy("rapl-forbidden");
	struct power_world world;
	struct watt_power *power, *more;
	struct watt_sample samples[2];

	world_open(&world, dir);
	assert_int_equal(ops->open(&world.env, &power), 0);
	read_all_groups(power, samples);
	assert_int_equal(world_rescan(&world, power, samples, &more), -ENODEV);
	scratch_unlink(dir, ENERGY("intel-rapl:0"));
	read_all_groups(power, samples);
	assert_int_equal(samples[0].status, WATT_STATUS_ABSENT);
	assert_int_equal(samples[0].raw, 0);
	assert_int_equal(samples[1].status, WATT_STATUS_OK);
	assert_int_equal(world_rescan(&world, power, samples, &more), -ENODEV);
	scratch_write(dir, ENERGY("intel-rapl:0"), "17\n");
	/* never again from here: its number may be another zone's by now */
	read_all_groups(power, samples);
	assert_int_equal(samples[0].status, WATT_STATUS_ABSENT);
	assert_int_equal(world_rescan(&world, power, samples, &more), 0);
	assert_int_equal(more->n_channels, 1);
	assert_string_equal(more->channels[0].name, power->channels[0].name);
	read_all_groups(more, samples);
	assert_int_equal(samples[0].status, WATT_STATUS_OK);
	assert_int_equal(samples[0].raw, 17);
	scratch_write(dir, ENERGY("intel-rapl:0"), "99999999999999999999\n");
	read_all_groups(more, samples);
	assert_int_equal(samples[0].status, WATT_STATUS_BROKEN);
	ops->close(more);
	ops->close(power);
	world_close(&world);
	scratch_remove(dir);
}

/* One look at the class finds all that are back, under whatever numbers. */
static void test_all_back_at_once(void **state)
{
	char *dir = fixture_copy("rapl-forbidden");
	struct power_world world;
	struct watt_power *power, *more;
	struct watt_sample samples[2];

	world_open(&world, dir);
	assert_int_equal(ops->open(&world.env, &power), 0);
	scratch_unlink(dir, ENERGY("intel-rapl:0"));
	scratch_unlink(dir, ENERGY("intel-rapl:0:0"));
	read_all_groups(power, samples);
	assert_int_equal(samples[0].status, WATT_STATUS_ABSENT);
	assert_int_equal(samples[1].status, WATT_STATUS_ABSENT);
	scratch_write(dir, "sys/class/powercap/intel-rapl:7/name", "package-0\n");
	scratch_write(dir, ENERGY("intel-rapl:7"), "18\n");
	scratch_write(dir, "sys/class/powercap/intel-rapl:7:0/name", "core\n");
	scratch_write(dir, ENERGY("intel-rapl:7:0"), "19\n");
	assert_int_equal(world_rescan(&world, power, samples, &more), 0);
	assert_int_equal(more->n_channels, 2);
	check_power(more);
	read_all_groups(more, samples);
	assert_int_equal(samples[0].raw, 18);
	assert_int_equal(samples[1].raw, 19);
	ops->close(more);
	ops->close(power);
	world_close(&world);
	scratch_remove(dir);
}

/* After the driver was loaded again the numbers may have changed places. */
static void test_back_under_another_number(void **state)
{
	char *dir = fixture_copy("xeon-2s");
	char command[PATH_MAX];
	struct power_world world;
	struct watt_power *power, *more;
	struct watt_sample samples[8];
	const struct watt_channel *ch;

	world_open(&world, dir);
	assert_int_equal(ops->open(&world.env, &power), 0);
	ch = channel_named(power, "powercap/package-1");
	snprintf(command, sizeof(command),
		 "cd '%s'/sys/class/powercap && mv intel-rapl:2 x && rm x/energy_uj", dir);
	assert_int_equal(system(command), 0);
	read_all_groups(power, samples);
	assert_int_equal(samples[ch - power->channels].status, WATT_STATUS_ABSENT);
	snprintf(
		command, sizeof(command),
		"cd '%s'/sys/class/powercap && mv intel-rapl:1 intel-rapl:2 && mv x intel-rapl:1 && "
		"echo 42 >intel-rapl:1/energy_uj",
		dir);
	assert_int_equal(system(command), 0);
	assert_int_equal(world_rescan(&world, power, samples, &more), 0);
	assert_string_equal(channel_named(more, ch->name)->domain, ch->domain);
	ch = channel_named(more, ch->name);
	read_all_groups(more, samples);
	assert_int_equal(samples[ch - more->channels].status, WATT_STATUS_OK);
	assert_int_equal(samples[ch - more->channels].raw, 42);
	ops->close(more);
	ops->close(power);
	world_close(&world);
	scratch_remove(dir);
}

static void test_stuck(void **state)
{
	struct watt_power *power = NULL;
	struct watt_diag diag = { 0 };
	struct power_world world;

	world_open_fixture(&world, "rapl-stuck-zero");
	assert_int_equal(ops->open(&world.env, &power), -ENODEV);
	assert_null(power);
	assert_int_equal(ops->probe(&world.env, &diag), -ENODATA);
	assert_int_equal(diag.state, WATT_ABSENT);
	assert_non_null(strstr(diag.why, "stay at 0"));
	world_close(&world);
}

/* One that is stuck beside others that count has no value, until it moves. */
static void test_stuck_wakes_up(void **state)
{
	char *dir = fixture_copy("rapl-stuck-zero");
	const struct watt_channel *ch;
	struct watt_sample samples[3];
	struct power_world world;
	struct watt_power *power;

	scratch_write(dir, ENERGY("intel-rapl:0"), "5000\n");
	world_open(&world, dir);
	assert_int_equal(ops->open(&world.env, &power), 0);
	ch = channel_named(power, "powercap/package-0/core");
	read_all_groups(power, samples);
	assert_int_equal(samples[0].status, WATT_STATUS_OK);
	assert_int_equal(samples[ch - power->channels].status, WATT_STATUS_STUCK);
	scratch_write(dir, ENERGY("intel-rapl:0:0"), "1\n");
	read_all_groups(power, samples);
	assert_int_equal(samples[ch - power->channels].status, WATT_STATUS_OK);
	scratch_write(dir, ENERGY("intel-rapl:0:0"), "0\n");
	read_all_groups(power, samples);
	assert_int_equal(samples[ch - power->channels].status, WATT_STATUS_OK);
	ops->close(power);
	world_close(&world);
	scratch_remove(dir);
}

/* As root the mode of a file stops nobody: the test gives the right up for a while. */
static void test_forbidden(void **state)
{
	char *dir = fixture_copy("rapl-forbidden");
	struct watt_power *power = NULL;
	struct watt_diag diag = { 0 };
	struct power_world world;
	char path[PATH_MAX];
	bool is_root = geteuid() == 0;
	int r_open, r_probe;

	chmod(dir, 0755);
	snprintf(path, sizeof(path), "%s/" ENERGY("intel-rapl:0"), dir);
	assert_int_equal(chmod(path, is_root ? 0400 : 0), 0);
	snprintf(path, sizeof(path), "%s/" ENERGY("intel-rapl:0:0"), dir);
	assert_int_equal(chmod(path, is_root ? 0400 : 0), 0);
	world_open(&world, dir);
	if (is_root)
		assert_int_equal(seteuid(65534), 0);
	r_open = ops->open(&world.env, &power);
	r_probe = ops->probe(&world.env, &diag);
	if (is_root)
		assert_int_equal(seteuid(0), 0);
	assert_int_equal(r_open, -EACCES);
	assert_int_equal(r_probe, -EACCES);
	assert_int_equal(diag.state, WATT_FORBIDDEN);
	assert_non_null(strstr(diag.why, "2 of 2 zones"));
	assert_non_null(strstr(diag.hint, "CAP_DAC_READ_SEARCH"));
	assert_non_null(strstr(diag.path, "energy_uj"));
	world_close(&world);
	scratch_remove(dir);
}

static void check_absent(const char *machine, const char *why)
{
	struct watt_power *power = NULL;
	struct watt_diag diag = { 0 };
	struct power_world world;

	world_open_fixture(&world, machine);
	assert_int_equal(ops->open(&world.env, &power), -ENODEV);
	assert_int_equal(ops->probe(&world.env, &diag), -ENODEV);
	assert_int_equal(diag.state, WATT_ABSENT);
	assert_int_equal(diag.error, -ENODEV);
	assert_non_null(strstr(diag.why, why));
	assert_true(diag.hint[0] != '\0');
	world_close(&world);
}

static void test_absent(void **state)
{
	check_absent("vm-empty", "no powercap class");
	check_absent("rapl-masked", "masked");
}

static void test_probe(void **state)
{
	struct watt_diag diag = { 0 };
	struct power_world world;

	world_open_fixture(&world, "xeon-2s");
	assert_int_equal(ops->probe(&world.env, &diag), 0);
	assert_int_equal(diag.state, WATT_AVAILABLE);
	assert_int_equal(diag.n_channels, 7);
	assert_int_equal(diag.period_ns, 1000000);
	assert_true(diag.uncertainty_ppm > 0);
	assert_string_equal(world.text, "");
	world_close(&world);
	world_open_fixture(&world, "rapl-garbage");
	assert_int_equal(ops->probe(&world.env, &diag), 0);
	assert_string_equal(world.text, "");
	world_close(&world);
}

static void test_id(void **state)
{
	static const char *const bad[] = { ":0",  "a:",        "a:x",  "a::1", "a:0:",    "a:0:g",
					   "a:A", "a:1234567", "a:-1", "a:0 ", "a:0:1:2:" };
	struct watt_powercap_id id;
	size_t i;

	assert_int_equal(watt_powercap_id_parse("intel-rapl", &id), -ENOENT);
	assert_int_equal(watt_powercap_id_parse("intel-rapl:0", &id), 0);
	assert_string_equal(id.control, "intel-rapl");
	assert_int_equal(id.depth, 1);
	assert_int_equal(watt_powercap_id_parse("intel-rapl-mmio:10:2:3", &id), 0);
	assert_string_equal(id.control, "intel-rapl-mmio");
	assert_int_equal(id.depth, 3);
	assert_int_equal(watt_powercap_id_parse("intel-rapl:a:f", &id), 0);
	assert_int_equal(id.depth, 2);
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(watt_powercap_id_parse(bad[i], &id), -EBADMSG);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_sockets),
		cmocka_unit_test(test_dies),
		cmocka_unit_test(test_duplicates),
		cmocka_unit_test(test_amd),
		cmocka_unit_test(test_scmi),
		cmocka_unit_test(test_sixteen_sockets),
		cmocka_unit_test(test_tpmi),
		cmocka_unit_test(test_unread),
		cmocka_unit_test(test_garbage),
		cmocka_unit_test(test_removed_and_back),
		cmocka_unit_test(test_all_back_at_once),
		cmocka_unit_test(test_back_under_another_number),
		cmocka_unit_test(test_stuck),
		cmocka_unit_test(test_stuck_wakes_up),
		cmocka_unit_test(test_forbidden),
		cmocka_unit_test(test_absent),
		cmocka_unit_test(test_probe),
		cmocka_unit_test(test_id),
	};

	return cmocka_run_group_tests_name("powercap", tests, NULL, NULL);
}

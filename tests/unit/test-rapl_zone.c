/* SPDX-License-Identifier: Apache-2.0 */
/* lib/source/power/powercap/rapl_zone.c */
#include "unit.h"

#include "base/util.h"
#include "source/power/powercap/rapl_zone.h"

static void test_parse(void **state)
{
	static const struct {
		const char *parent, *name, *domain;
		enum watt_domain_kind kind;
		int package_id, die_id;
	} cases[] = {
		{ NULL, "package-0", "package-0", WATT_DOMAIN_PACKAGE, 0, -1 },
		{ NULL, "package-12-die-3", "package-12-die-3", WATT_DOMAIN_PACKAGE, 12, 3 },
		{ NULL, "psys", "psys", WATT_DOMAIN_TOTAL, -1, -1 },
		{ NULL, "psys-1", "psys-1", WATT_DOMAIN_TOTAL, 1, -1 },
		{ "package-1", "psys", "psys", WATT_DOMAIN_TOTAL, -1, -1 },
		{ "package-0", "core", "package-0/core", WATT_DOMAIN_CORES, 0, -1 },
		{ "package-0", "uncore", "package-0/uncore", WATT_DOMAIN_UNCORE, 0, -1 },
		{ "package-1", "dram", "dram-1", WATT_DOMAIN_DRAM, 1, -1 },
		{ "package-0-die-1", "core", "package-0-die-1/core", WATT_DOMAIN_CORES, 0, 1 },
		{ "package-0-die-1", "dram", "dram-0-die-1", WATT_DOMAIN_DRAM, 0, 1 },
	};
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(cases); i++) {
		struct watt_rapl_zone zone;

		assert_int_equal(watt_rapl_zone_parse(cases[i].parent, cases[i].name, &zone), 0);
		assert_string_equal(zone.domain, cases[i].domain);
		assert_int_equal(zone.kind, cases[i].kind);
		assert_int_equal(zone.package_id, cases[i].package_id);
		assert_int_equal(zone.die_id, cases[i].die_id);
		assert_int_equal(zone.core_id, -1);
	}
}

static void test_reject(void **state)
{
	static const char *const names[][2] = {
		{ NULL, "" },
		{ NULL, "package" },
		{ NULL, "package-" },
		{ NULL, "package-x" },
		{ NULL, "package--1" },
		{ NULL, "package-0-" },
		{ NULL, "package-0-die" },
		{ NULL, "package-0-die-" },
		{ NULL, "package-0-die-1x" },
		{ NULL, "package-65536" },
		{ NULL, "package-99999999999999999999" },
		{ NULL, "psys-" },
		{ NULL, "core" },
		{ NULL, "dram" },
		{ "package-0", "package-0" },
		{ "package-0", "cores" },
		{ "core", "dram" },
	};
	struct watt_rapl_zone zone = { .package_id = 77 };
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(names); i++)
		assert_int_equal(watt_rapl_zone_parse(names[i][0], names[i][1], &zone), -ENOENT);
	assert_int_equal(zone.package_id, 77);
}

static void test_place(void **state)
{
	struct watt_rapl_zone zone = {
		.kind = WATT_DOMAIN_CORE, .package_id = 1, .die_id = -1, .core_id = 7
	};

	assert_int_equal(watt_rapl_zone_place(&zone), 0);
	assert_string_equal(zone.domain, "package-1/core-7");
	zone.core_id = -1;
	assert_int_equal(watt_rapl_zone_place(&zone), -EINVAL);
	zone.kind = WATT_DOMAIN_GPU;
	assert_int_equal(watt_rapl_zone_place(&zone), -EINVAL);
	zone.kind = WATT_DOMAIN_DRAM;
	zone.package_id = -1;
	assert_int_equal(watt_rapl_zone_place(&zone), -EINVAL);
}

static void test_bound(void **state)
{
	/* a stated limit counts four times, an absurd or missing one not at all */
	assert_int_equal(watt_rapl_max_power_uw(WATT_DOMAIN_PACKAGE, 125000000), 500000000);
	assert_int_equal(watt_rapl_max_power_uw(WATT_DOMAIN_PACKAGE, 0), 4000000000);
	assert_int_equal(watt_rapl_max_power_uw(WATT_DOMAIN_PACKAGE, 4095875000), 4000000000);
	assert_int_equal(watt_rapl_max_power_uw(WATT_DOMAIN_PACKAGE, UINT64_MAX), 4000000000);
	assert_int_equal(watt_rapl_max_power_uw(WATT_DOMAIN_DRAM, 1), 1000000000);
	assert_true(watt_rapl_uncertainty_ppm(WATT_DOMAIN_PACKAGE, true) >
		    watt_rapl_uncertainty_ppm(WATT_DOMAIN_PACKAGE, false));
}

#define TWO32 4294967296ULL

static void test_known_moduli(void **state)
{
	static const struct {
		uint64_t range_uj;
		uint64_t modulus_nj;
	} cases[] = {
		{ 262143328850ULL, TWO32 * 61035 },          /* 2^-14 J, cut to whole nJ */
		{ 65532610987ULL, TWO32 * 15258 },           /* 2^-16 J */
		{ 65712999613ULL, TWO32 * 15300 },           /* memory of servers */
		{ 4294967295000000ULL, TWO32 * 1000000000 }, /* psys in whole J */
		{ 4294967ULL, TWO32 },                       /* 1 nJ */
		{ 1000000ULL, 1000001000ULL },               /* no unit gives this: range + 1 uJ */
		{ 262143328851ULL, 262143328852000ULL },
		{ 1ULL, 2000ULL },
	};
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(cases); i++) {
		uint64_t modulus_nj = 0;

		assert_int_equal(watt_rapl_modulus_nj(cases[i].range_uj, &modulus_nj), 0);
		assert_int_equal(modulus_nj, cases[i].modulus_nj);
	}
}

/* Whatever the unit, what the kernel prints for it leads back to it. */
static void test_modulus_of_every_unit(void **state)
{
	uint64_t unit_nj, modulus_nj;

	for (unit_nj = 1; unit_nj < 2000000000; unit_nj = unit_nj * 5 / 4 + 1) {
		watt_u128 range_uj = (watt_u128)0xffffffffU * unit_nj / 1000;

		assert_int_equal(watt_rapl_modulus_nj((uint64_t)range_uj, &modulus_nj), 0);
		assert_int_equal(modulus_nj, TWO32 * unit_nj);
	}
}

static void test_range_that_is_none(void **state)
{
	uint64_t modulus_nj = 7;

	assert_int_equal(watt_rapl_modulus_nj(0, &modulus_nj), -ERANGE);
	assert_int_equal(watt_rapl_modulus_nj(UINT64_MAX, &modulus_nj), -ERANGE);
	assert_int_equal(watt_rapl_modulus_nj(UINT64_MAX / 1000, &modulus_nj), -ERANGE);
	assert_int_equal(modulus_nj, 7);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_reject),
		cmocka_unit_test(test_place),
		cmocka_unit_test(test_bound),
		cmocka_unit_test(test_known_moduli),
		cmocka_unit_test(test_modulus_of_every_unit),
		cmocka_unit_test(test_range_that_is_none),
	};

	return cmocka_run_group_tests_name("rapl_zone", tests, NULL, NULL);
}

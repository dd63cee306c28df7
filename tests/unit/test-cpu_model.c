/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "source/power/estimate/cpu_model.h"

static const struct watt_config no_config;

static const char *name_of(const struct watt_cpuinfo *info)
{
	struct watt_cpu_model model;

	watt_cpu_model_find(info, &no_config, &model);
	assert_true(model.idle_uw > 0 && model.idle_uw < model.full_uw);
	assert_in_range(model.uncertainty_ppm, 300000, 600000);
	return model.name;
}

/* CPUs as their cpuinfo describes them. */
static void test_x86_kinds(void **state)
{
	static const struct {
		const char *vendor;
		uint32_t family, model, stepping;
		const char *name;
	} cpus[] = {
		{ "GenuineIntel", 6, 42, 7, "Intel Core desktop" },   /* Core i5-2400 */
		{ "GenuineIntel", 6, 45, 7, "Sandy Bridge" },         /* Xeon E5-2670 */
		{ "GenuineIntel", 6, 62, 4, "Ivy Bridge" },           /* Xeon E5-2680 v2 */
		{ "GenuineIntel", 6, 63, 2, "Haswell" },              /* Xeon E5-2676 v3 */
		{ "GenuineIntel", 6, 79, 1, "Broadwell" },            /* Xeon E5-2686 v4 */
		{ "GenuineIntel", 6, 85, 4, "Skylake" },              /* Xeon Platinum 8175M */
		{ "GenuineIntel", 6, 85, 7, "Cascade Lake" },         /* Xeon Platinum 8259CL */
		{ "GenuineIntel", 6, 85, 11, "Cascade Lake" },        /* Cooper Lake */
		{ "GenuineIntel", 6, 106, 6, "Ice Lake" },            /* Xeon Platinum 8375C */
		{ "GenuineIntel", 6, 143, 8, "Sapphire Rapids" },     /* Xeon Platinum 8488C */
		{ "GenuineIntel", 6, 207, 2, "Emerald Rapids" },      /* Xeon Platinum 8592+ */
		{ "GenuineIntel", 6, 173, 1, "Granite Rapids" },      /* Xeon 6980P */
		{ "GenuineIntel", 6, 158, 10, "Intel Core desktop" }, /* Core i7-8700 */
		{ "GenuineIntel", 6, 142, 12, "Intel Core laptop" },  /* Core i7-10510U */
		{ "GenuineIntel", 6, 151, 2, "Intel Core desktop" },  /* Core i9-12900K */
		{ "GenuineIntel", 6, 154, 3, "Intel Core laptop" },   /* Core i7-1260P */
		{ "GenuineIntel", 6, 122, 8, "Intel Atom" },          /* Celeron J4125 */
		{ "GenuineIntel", 6, 190, 0, "Intel Atom" },          /* N100 */
		{ "GenuineIntel", 15, 6, 1, "generic CPU" },          /* as QEMU's qemu64 */
		{ "GenuineIntel", 6, 1000, 0, "generic CPU" },
		{ "AuthenticAMD", 23, 1, 2, "Zen" },             /* EPYC 7571 */
		{ "AuthenticAMD", 23, 49, 0, "Zen 2" },          /* EPYC 7R32 */
		{ "AuthenticAMD", 25, 1, 1, "Zen 3" },           /* EPYC 7R13 */
		{ "AuthenticAMD", 25, 17, 1, "Zen 4" },          /* EPYC 9R14 */
		{ "AuthenticAMD", 25, 160, 2, "Zen 4c" },        /* EPYC 9754 */
		{ "AuthenticAMD", 26, 2, 1, "Zen 5" },           /* EPYC 9755 */
		{ "AuthenticAMD", 23, 113, 0, "Ryzen desktop" }, /* Ryzen 5 3600 */
		{ "AuthenticAMD", 23, 96, 1, "Ryzen laptop" },   /* Ryzen 7 4800U */
		{ "AuthenticAMD", 25, 33, 2, "Ryzen desktop" },  /* Ryzen 9 5950X */
		{ "AuthenticAMD", 25, 116, 1, "Ryzen laptop" },  /* Ryzen 7 7840U */
		{ "AuthenticAMD", 15, 107, 1, "generic CPU" },   /* as QEMU's qemu64 */
		{ "HygonGenuine", 24, 1, 1, "Zen" },
		{ "CentaurHauls", 7, 59, 0, "generic CPU" },
	};
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(cpus); i++) {
		struct watt_cpuinfo info = { .family = cpus[i].family,
					     .model = cpus[i].model,
					     .stepping = cpus[i].stepping };

		watt_strlcpy(info.vendor, cpus[i].vendor, sizeof(info.vendor));
		assert_string_equal(name_of(&info), cpus[i].name);
	}
}

static void test_arm_kinds(void **state)
{
	static const struct {
		uint32_t implementer, part;
		const char *name;
	} cpus[] = {
		{ 0x41, 0xd0c, "Neoverse N1" },     /* Graviton 2, Ampere Altra */
		{ 0x41, 0xd40, "Neoverse V1" },     /* Graviton 3 */
		{ 0x41, 0xd49, "Neoverse N2" },     /* Cobalt 100 */
		{ 0x41, 0xd4f, "Neoverse V2" },     /* Graviton 4, Grace */
		{ 0x41, 0xd03, "Cortex-A, small" }, /* Raspberry Pi 3 */
		{ 0x41, 0xd08, "Cortex-A, large" }, /* Raspberry Pi 4 */
		{ 0x41, 0xd0b, "Cortex-A, large" }, /* Raspberry Pi 5 */
		{ 0x41, 0xc0f, "Cortex-A, small" }, /* Cortex-A15 */
		{ 0x41, 0xfff, "generic CPU" },     { 0x43, 0x0af, "Arm server" }, /* ThunderX2 */
		{ 0xc0, 0xac3, "Arm server" },                                     /* AmpereOne */
		{ 0x61, 0x022, "generic CPU" },
	};
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(cpus); i++) {
		struct watt_cpuinfo info = { .implementer = cpus[i].implementer,
					     .part = cpus[i].part };

		assert_string_equal(name_of(&info), cpus[i].name);
	}
}

static void test_nothing_known_is_generic(void **state)
{
	struct watt_cpuinfo info = { 0 };

	assert_string_equal(name_of(&info), "generic CPU");
}

static void test_user_models_come_first(void **state)
{
	char ours[] = "ours", arms[] = "arms", epyc_match[] = "epyc 7r13", arm_match[] = "neoverse";
	struct watt_config_model user[] = {
		{ ours, epyc_match, .idle_uw = 1, .full_uw = 2, .uncertainty_ppm = 50000 },
		{ arms, arm_match, .idle_uw = 3, .full_uw = 3 },
	};
	struct watt_config config = { .models = user, .n_models = 2 };
	struct watt_cpuinfo epyc = { .vendor = "AuthenticAMD",
				     .family = 25,
				     .model = 1,
				     .name = "AMD EPYC 7R13 Processor" };
	struct watt_cpuinfo rome = {
		.vendor = "AuthenticAMD", .family = 23, .model = 49, .name = "AMD EPYC 7R32"
	};
	struct watt_cpuinfo graviton = { .implementer = 0x41, .part = 0xd0c };
	struct watt_cpu_model model;

	watt_cpu_model_find(&epyc, &config, &model);
	assert_string_equal(model.name, "ours");
	assert_int_equal(model.idle_uw, 1);
	assert_int_equal(model.full_uw, 2);
	assert_int_equal(model.uncertainty_ppm, 50000);
	watt_cpu_model_find(&rome, &config, &model);
	assert_string_equal(model.name, "Zen 2");
	/* No model name in its cpuinfo: ours stands in. */
	watt_cpu_model_find(&graviton, &config, &model);
	assert_string_equal(model.name, "arms");
	user[1].match = NULL;
	watt_cpu_model_find(&rome, &config, &model);
	assert_string_equal(model.name, "arms");
}

static void test_energy_is_exact(void **state)
{
	const struct watt_cpu_model model = { .idle_uw = 700001, .full_uw = 4000003 };
	const struct watt_cpu_model huge = { .idle_uw = 1, .full_uw = UINT32_MAX };
	watt_u128 sum = 0, whole;
	uint64_t i;

	assert_true(watt_cpu_model_energy_fj(&model, 0, 0) == 0);
	assert_true(watt_cpu_model_energy_fj(&model, 10, 3) == 7000010 + 9900006);
	/* Parts add up to the whole, to the last digit. */
	for (i = 0; i < 1000; i++)
		sum += watt_cpu_model_energy_fj(&model, 1000003 + i, 999 + i);
	whole = watt_cpu_model_energy_fj(&model, 1000003 * 1000ULL + 499500, 999000 + 499500);
	assert_true(sum == whole);
	/* A century at 4 kW does not overflow. */
	whole = watt_cpu_model_energy_fj(&huge, 3155760000ULL * 1000000000,
					 3155760000ULL * 1000000000);
	assert_true(whole == (watt_u128)UINT32_MAX * 3155760000ULL * 1000000000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_x86_kinds),
		cmocka_unit_test(test_arm_kinds),
		cmocka_unit_test(test_nothing_known_is_generic),
		cmocka_unit_test(test_user_models_come_first),
		cmocka_unit_test(test_energy_is_exact),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* lib/attrib/tree.c */
#include "unit.h"

#include "attrib/tree.h"
#include "base/util.h"

struct given {
	const char *source, *domain;
	enum watt_domain_kind kind;
	uint32_t flags;
	enum watt_origin origin;
};

static uint32_t uncertainty_ppm_of(size_t channel)
{
	return 1000 * ((uint32_t)channel + 1);
}

static struct watt_tree build(const struct given *given, size_t n)
{
	static struct watt_channel channels[16];
	static const struct watt_channel *list[16];
	struct watt_tree tree = { 0 };
	size_t i;

	for (i = 0; i < n; i++) {
		channels[i] = (struct watt_channel){
			.source = given[i].source,
			.domain = given[i].domain,
			.kind = given[i].kind,
			.flags = given[i].flags,
			.origin = given[i].origin,
			.package_id = -1,
			.die_id = -1,
			.core_id = -1,
			.uncertainty_ppm = uncertainty_ppm_of(i),
		};
		list[i] = &channels[i];
	}
	assert_int_equal(watt_tree_build(list, n, &tree), 0);
	for (i = 0; i < tree.n_domains; i++) {
		const struct watt_domain *d = &tree.domains[i];

		assert_true(d->parent < (int32_t)i);
		if (d->channel >= 0)
			assert_int_equal(d->uncertainty_ppm,
					 uncertainty_ppm_of((size_t)d->channel));
	}
	return tree;
}

/* One line per domain: its path, its parent's, and s (summed) and p (partition). */
static void assert_tree(const struct given *given, size_t n, const char *expected)
{
	struct watt_tree tree = build(given, n);
	char text[1024] = "";
	size_t i, len = 0;

	for (i = 0; i < tree.n_domains; i++) {
		const struct watt_domain *d = &tree.domains[i];

		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s<%s%s%s\n", d->path,
					d->parent < 0 ? "" : tree.domains[d->parent].path,
					d->is_summed ? " s" : "", d->is_partition ? " p" : "");
	}
	assert_string_equal(text, expected);
	watt_tree_done(&tree);
}

/* Who can't be read gives its domain to who can, whatever the order, and is in the sum else. */
static void test_unread(void **state)
{
	static const struct given given[] = {
		{ "powercap", "package-0", WATT_DOMAIN_PACKAGE, WATT_CHANNEL_UNREAD },
		{ "powercap", "package-1", WATT_DOMAIN_PACKAGE, WATT_CHANNEL_UNREAD },
		{ "perf_rapl", "package-0", WATT_DOMAIN_PACKAGE },
		{ "kmod", "package-0", WATT_DOMAIN_PACKAGE },
	};
	struct watt_tree tree = build(given, WATT_ARRAY_SIZE(given));

	assert_int_equal(tree.n_domains, 2);
	assert_int_equal(tree.domains[0].channel, 2);
	assert_int_equal(tree.domains[1].channel, 1);
	assert_true(tree.domains[1].is_summed);
	assert_string_equal(tree.domains[0].path, "package-0");
	watt_tree_done(&tree);
}

/* A total that stands still is none while another one counts. */
static void test_stuck_total(void **state)
{
	static const struct given given[] = {
		{ "hwmon", "meter-1", WATT_DOMAIN_TOTAL, WATT_CHANNEL_UNREAD },
		{ "hwmon", "meter-2", WATT_DOMAIN_TOTAL },
		{ "powercap", "package-0", WATT_DOMAIN_PACKAGE },
	};

	assert_tree(given, 3,
		    "meter-1<\n"
		    "meter-2< s\n"
		    "package-0<meter-2 p\n"
		    "meter-2/residual<meter-2 p\n");
	assert_tree(given, 1, "meter-1< s p\n");
}

static void test_server(void **state)
{
	static const struct given given[] = {
		{ "powercap", "package-0", WATT_DOMAIN_PACKAGE, 0, 0 },
		{ "powercap", "package-0/core", WATT_DOMAIN_CORES, 0, 0 },
		{ "powercap", "dram-0", WATT_DOMAIN_DRAM, 0, 0 },
		{ "powercap", "package-1", WATT_DOMAIN_PACKAGE, 0, 0 },
		{ "mmio", "package-0", WATT_DOMAIN_PACKAGE, 0, 0 }, /* once more: not a domain */
	};

	assert_tree(given, WATT_ARRAY_SIZE(given),
		    "package-0< s p\npackage-0/core<package-0\ndram-0< s p\npackage-1< s p\n");
}

static void test_psys(void **state)
{
	static const struct given given[] = {
		{ "powercap", "package-0", WATT_DOMAIN_PACKAGE, 0, 0 },
		{ "powercap", "psys", WATT_DOMAIN_TOTAL, 0, 0 },
		{ "hwmon", "meter", WATT_DOMAIN_TOTAL, 0, 0 }, /* the machine once more */
		{ "hwmon", "gpu", WATT_DOMAIN_GPU, 0, 0 },
		{ "power_supply", "battery", WATT_DOMAIN_SUPPLY, 0, 0 },
		{ "hwmon", "odd", WATT_DOMAIN_RAIL, WATT_CHANNEL_OVERLAP_UNKNOWN, 0 },
	};

	assert_tree(given, WATT_ARRAY_SIZE(given),
		    "psys< s\npackage-0<psys p\ngpu<psys p\npsys/residual<psys p\nmeter<\n"
		    "battery<\nodd<\n");
}

/* Totals that may not be added contain nothing: what they see is added by itself, or by the one
 * that may. */
static void test_total_never_added(void **state)
{
	static const struct given given[] = {
		{ "powercap", "psys-1", WATT_DOMAIN_TOTAL, WATT_CHANNEL_OVERLAP_UNKNOWN, 0 },
		{ "powercap", "package-0", WATT_DOMAIN_PACKAGE, 0, 0 },
		{ "powercap", "dram-0", WATT_DOMAIN_DRAM, 0, 0 },
		{ "powercap", "psys", WATT_DOMAIN_TOTAL, 0, 0 },
	};

	assert_tree(given, 3, "psys-1<\npackage-0< s p\ndram-0< s p\n");
	assert_tree(given, 4,
		    "psys-1<\npsys< s\npackage-0<psys p\ndram-0<psys p\npsys/residual<psys p\n");
}

static void test_jetson(void **state)
{
	static const struct given given[] = {
		{ "hwmon", "vdd_in", WATT_DOMAIN_TOTAL, 0, 0 },
		{ "hwmon", "vdd_in/vdd_cpu_gpu_cv", WATT_DOMAIN_CPU_RAIL, 0, 0 },
		{ "hwmon", "vdd_in/vdd_soc", WATT_DOMAIN_RAIL, 0, 0 },
		{ "hwmon", "vdd_mux", WATT_DOMAIN_TOTAL, 0, 0 }, /* the carrier beside the module */
	};

	assert_tree(given, WATT_ARRAY_SIZE(given),
		    "vdd_in< s\nvdd_in/vdd_cpu_gpu_cv<vdd_in p\nvdd_in/vdd_soc<vdd_in p\n"
		    "vdd_in/residual<vdd_in p\nvdd_mux< s p\n");
}

static void test_orin(void **state)
{
	static const struct given given[] = {
		{ "hwmon", "vdd_gpu_soc", WATT_DOMAIN_GPU, 0, 0 },
		{ "hwmon", "vdd_cpu_cv", WATT_DOMAIN_CPU_RAIL, 0, 0 },
		{ "hwmon", "vin_sys_5v0", WATT_DOMAIN_RAIL, 0, 0 },
		{ "hwmon", "vin_sys_5v0/vddq", WATT_DOMAIN_DRAM, 0, 0 },
	};

	assert_tree(given, WATT_ARRAY_SIZE(given),
		    "vdd_gpu_soc< s p\nvdd_cpu_cv< s p\nvin_sys_5v0< s\n"
		    "vin_sys_5v0/vddq<vin_sys_5v0 p\nvin_sys_5v0/residual<vin_sys_5v0 p\n");
}

static void test_estimate_is_not_mixed(void **state)
{
	static const struct given given[] = {
		{ "hwmon", "gpu", WATT_DOMAIN_GPU, 0, WATT_ORIGIN_MEASURED },
		{ "estimate", "package-0", WATT_DOMAIN_PACKAGE, 0, WATT_ORIGIN_ESTIMATED },
	};
	static const struct given alone[] = {
		{ "power_supply", "battery", WATT_DOMAIN_SUPPLY, 0, 0 },
	};

	assert_tree(given, 2, "gpu< s p\npackage-0<\n");
	assert_tree(given + 1, 1, "package-0< s p\n");
	assert_tree(alone, 1, "battery< s p\n");
	assert_tree(given, 0, "");
}

/* A simulated part of a measured total is not added to it; what is left is simulated, too. */
static void test_simulated_parts_of_a_measured_total(void **state)
{
	static const struct given given[] = {
		{ "redfish", "node", WATT_DOMAIN_TOTAL, 0, WATT_ORIGIN_MEASURED },
		{ "synth", "package-0", WATT_DOMAIN_PACKAGE, 0, WATT_ORIGIN_SIMULATED },
		{ "estimate", "guess", WATT_DOMAIN_PACKAGE, 0, WATT_ORIGIN_ESTIMATED },
	};
	struct watt_tree tree = build(given, 3);

	assert_tree(given, 3, "node< s\npackage-0<node p\nnode/residual<node p\nguess<\n");
	assert_int_equal(tree.domains[0].origin, WATT_ORIGIN_MEASURED);
	assert_int_equal(tree.domains[2].origin, WATT_ORIGIN_SIMULATED);
	watt_tree_done(&tree);
}

/* What is there when the first n of them are, and the others come one by one. */
static void assert_grown(const struct given *given, size_t n, size_t n_all, const char *expected)
{
	static struct watt_channel channels[16];
	static const struct watt_channel *list[16];
	struct watt_tree tree = { 0 };
	char text[1024] = "";
	size_t i, len = 0;

	for (i = 0; i < n_all; i++) {
		channels[i] = (struct watt_channel){ .source = given[i].source,
						     .domain = given[i].domain,
						     .kind = given[i].kind,
						     .flags = given[i].flags,
						     .origin = given[i].origin };
		list[i] = &channels[i];
	}
	assert_int_equal(watt_tree_build(list, n, &tree), 0);
	for (; n < n_all; n++) {
		size_t first = tree.n_domains;

		assert_int_equal(watt_tree_grow(&tree, list, n + 1), 0);
		assert_int_equal(watt_tree_show(&tree, list, first), 0);
	}
	for (i = 0; i < tree.n_domains; i++) {
		const struct watt_domain *d = watt_tree_get(&tree, i);

		/* what is computed is computed in the order of the numbers */
		assert_true(tree.domains[i].parent < (int32_t)i);
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s<%s%s%s\n", d->path,
					d->parent < 0 ? "" : tree.domains[d->parent].path,
					d->is_summed ? " s" : "", d->is_partition ? " p" : "");
	}
	assert_string_equal(text, expected);
	watt_tree_done(&tree);
}

/* A total that answers late stands above its parts, which go on being what is added. */
static void test_late_total(void **state)
{
	static const struct given given[] = {
		{ "r", "package-0", WATT_DOMAIN_PACKAGE },
		{ "r", "package-0/core", WATT_DOMAIN_CORES },
		{ "b", "supply-BAT0", WATT_DOMAIN_SUPPLY },
		{ "h", "loose", WATT_DOMAIN_RAIL, WATT_CHANNEL_OVERLAP_UNKNOWN },
		{ "e", "guess", WATT_DOMAIN_PACKAGE, 0, WATT_ORIGIN_ESTIMATED },
		{ "bmc", "server", WATT_DOMAIN_TOTAL },
		{ "g", "gpu-0", WATT_DOMAIN_GPU },
		{ "bmc2", "server2", WATT_DOMAIN_TOTAL },
	};

	assert_grown(given, 5, WATT_ARRAY_SIZE(given),
		     "package-0<server s p\n"
		     "package-0/core<package-0\n"
		     "supply-BAT0<\n"
		     "loose<\n"
		     "guess<\n"
		     "server<\n"
		     "gpu-0<server s p\n"
		     "server2<\n");
}

/* So does a whole; where it is itself a part, it is shown in between. */
static void test_late_whole(void **state)
{
	static const struct given given[] = {
		{ "t", "psys", WATT_DOMAIN_TOTAL },
		{ "r", "package-0/core", WATT_DOMAIN_CORES },
		{ "r", "package-0/uncore", WATT_DOMAIN_UNCORE },
		{ "r", "package-0", WATT_DOMAIN_PACKAGE },
	};
	static const struct given board[] = {
		{ "h", "in/cpu", WATT_DOMAIN_CPU_RAIL },
		{ "h", "in/soc/gpu", WATT_DOMAIN_GPU },
		{ "h", "in/soc", WATT_DOMAIN_RAIL },
		{ "h", "in", WATT_DOMAIN_TOTAL },
	};

	assert_grown(given, 3, WATT_ARRAY_SIZE(given),
		     "psys< s\n"
		     "package-0/core<package-0 p\n"
		     "package-0/uncore<package-0 p\n"
		     "psys/residual<psys p\n"
		     "package-0<psys\n");
	assert_grown(board, 2, WATT_ARRAY_SIZE(board),
		     "in/cpu<in s p\n"
		     "in/soc/gpu<in/soc s p\n"
		     "in/soc<in\n"
		     "in<\n");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unread),
		cmocka_unit_test(test_stuck_total),
		cmocka_unit_test(test_server),
		cmocka_unit_test(test_psys),
		cmocka_unit_test(test_total_never_added),
		cmocka_unit_test(test_jetson),
		cmocka_unit_test(test_orin),
		cmocka_unit_test(test_estimate_is_not_mixed),
		cmocka_unit_test(test_simulated_parts_of_a_measured_total),
		cmocka_unit_test(test_late_total),
		cmocka_unit_test(test_late_whole),
	};

	return cmocka_run_group_tests_name("tree", tests, NULL, NULL);
}

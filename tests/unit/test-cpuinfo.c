/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "base/fs.h"
#include "source/power/cpuinfo.h"

static char *read_cpuinfo(const char *machine)
{
	struct watt_root root = WATT_ROOT_INIT;
	char *text;
	size_t len;

	assert_int_equal(watt_root_open(&root, fixture(machine, "proc")), 0);
	assert_int_equal(watt_root_slurp(&root, "cpuinfo", 1 << 20, &text, &len), 0);
	watt_root_close(&root);
	return text;
}

static void test_x86(void **state)
{
	char *text = read_cpuinfo("vm-xeon");
	const char *cursor = text;
	struct watt_cpuinfo info;
	uint32_t cpu;

	for (cpu = 0; cpu < 4; cpu++) {
		assert_int_equal(watt_cpuinfo_next(&cursor, &info), 0);
		assert_int_equal(info.cpu, cpu);
		assert_string_equal(info.vendor, "GenuineIntel");
		assert_int_equal(info.family, 6);
		assert_int_equal(info.model, 85);
		assert_int_equal(info.stepping, 7);
		assert_int_equal(info.implementer, 0);
		assert_string_equal(info.name, "Intel(R) Xeon(R) Platinum 8259CL CPU @ 2.50GHz");
	}
	assert_int_equal(watt_cpuinfo_next(&cursor, &info), 1);
	free(text);
}

static void test_arm(void **state)
{
	char *text = read_cpuinfo("vm-graviton");
	const char *cursor = text;
	struct watt_cpuinfo info;

	assert_int_equal(watt_cpuinfo_next(&cursor, &info), 0);
	assert_int_equal(info.implementer, 0x41);
	assert_int_equal(info.part, 0xd0c);
	assert_string_equal(info.vendor, "");
	assert_string_equal(info.name, "");
	assert_int_equal(watt_cpuinfo_next(&cursor, &info), 0);
	assert_int_equal(info.cpu, 1);
	assert_int_equal(watt_cpuinfo_next(&cursor, &info), 1);
	free(text);
}

/* A bad line makes a CPU less known, no more. */
static void test_nonsense_is_skipped(void **state)
{
	const char *cursor = "hello\n\n: :\nmodel : 3\n"
			     "processor : x\n"
			     "processor : 7\nmodel : -1\ncpu family : 99999999999999999999\n"
			     "CPU part : 0xzz\nvendor_id : 0123456789abcdefghij\nmodel";
	struct watt_cpuinfo info;

	assert_int_equal(watt_cpuinfo_next(&cursor, &info), 0);
	assert_int_equal(info.cpu, 7);
	assert_int_equal(info.model, 0);
	assert_int_equal(info.family, 0);
	assert_int_equal(info.part, 0);
	assert_string_equal(info.vendor, "0123456789abcde");
	assert_int_equal(watt_cpuinfo_next(&cursor, &info), 1);
}

/* Old 32-bit kernels end with a block of the board, s390 numbers its lines differently. */
static void test_other_architectures(void **state)
{
	const char *arm32 = "processor\t: 0\nmodel name\t: ARMv7 Processor rev 4 (v7l)\n"
			    "CPU implementer\t: 0x41\nCPU part\t: 0xd03\n\n"
			    "Hardware\t: BCM2835\nRevision\t: a02082\n";
	const char *s390 = "vendor_id       : IBM/S390\n# processors    : 1\n"
			   "processor 0: version = FF,  identification = 000000,  machine = 8561\n";
	struct watt_cpuinfo info;

	assert_int_equal(watt_cpuinfo_next(&arm32, &info), 0);
	assert_string_equal(info.name, "ARMv7 Processor rev 4 (v7l)");
	assert_int_equal(info.part, 0xd03);
	assert_int_equal(watt_cpuinfo_next(&arm32, &info), 1);
	assert_int_equal(watt_cpuinfo_next(&s390, &info), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_x86),
		cmocka_unit_test(test_arm),
		cmocka_unit_test(test_nonsense_is_skipped),
		cmocka_unit_test(test_other_architectures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

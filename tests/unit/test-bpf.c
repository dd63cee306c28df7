/* SPDX-License-Identifier: Apache-2.0 */
/* What the source "bpf" says of machines where it can't be, and of a user who may not. */
#include "unit.h"

#include "source/config/config.h"
#include "source/activity/bpf/bpf.h"

struct machine {
	char *root;
	struct watt_config config;
	struct watt_env env;
};

static int setup(void **state)
{
	struct machine *machine = calloc(1, sizeof(*machine));

	machine->root = scratch_new();
	machine->env.config = &machine->config;
	scratch_write(machine->root, "stat", "cpu  1 2 3 4\ncpu0 1 2 3 4\n");
	assert_int_equal(watt_root_open(&machine->env.procfs, machine->root), 0);
	assert_int_equal(watt_root_open(&machine->env.sysfs, machine->root), 0);
	*state = machine;
	return 0;
}

static int teardown(void **state)
{
	struct machine *machine = *state;

	watt_root_close(&machine->env.procfs);
	watt_root_close(&machine->env.sysfs);
	scratch_remove(machine->root);
	free(machine);
	return 0;
}

/* A captured machine's tasks are not in this kernel. */
static void test_captured_machine(void **state)
{
	struct watt_cpu_map map = { .n_cpus = 1, .n_slots = 1, .slot = (uint16_t[1]){ 0 } };
	struct watt_activity_source *source = NULL;
	struct machine *machine = *state;
	struct watt_diag diag = { .state = WATT_AVAILABLE };

	assert_int_equal(watt_activity_bpf.probe(&machine->env, &diag), -ENODEV);
	assert_int_equal(diag.state, WATT_ABSENT);
	assert_int_equal(diag.error, -ENODEV);
	assert_non_null(strstr(diag.why, "captured"));
	assert_int_equal(watt_activity_bpf.open(&machine->env, &map, &source), -ENODEV);
	assert_null(source);
}

/* Whatever this machine is, the answer is whole: a state, its errno, and why. */
static void test_this_machine(void **state)
{
	struct machine *machine = *state;
	struct watt_diag diag = { 0 };
	int r;

	watt_root_close(&machine->env.procfs);
	assert_int_equal(watt_root_open(&machine->env.procfs, "/proc"), 0);
	r = watt_activity_bpf.probe(&machine->env, &diag);
	assert_int_equal(r, diag.error);
	assert_true(strlen(diag.why) > 0);
	assert_true((r == 0) == (diag.state == WATT_AVAILABLE));
	if (diag.state == WATT_FORBIDDEN) {
		assert_int_equal(r, -EACCES);
		assert_non_null(strstr(diag.hint, "cap_bpf,cap_perfmon"));
	}
}

static void test_close_nothing(void **state)
{
	watt_activity_bpf.close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_captured_machine, setup, teardown),
		cmocka_unit_test_setup_teardown(test_this_machine, setup, teardown),
		cmocka_unit_test(test_close_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

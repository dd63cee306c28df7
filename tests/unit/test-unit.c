/* SPDX-License-Identifier: Apache-2.0 */
/* lib/source/meta/unit.c */
#include "unit.h"

#include "base/util.h"
#include "source/meta/unit.h"

static void assert_span(const char *path, struct watt_span span, const char *expected)
{
	if (!span.p != !expected || (expected && !watt_span_is(span, expected)))
		fail_msg("%s: %.*s, not %s", path, (int)span.len, span.p ? span.p : "(none)",
			 expected ? expected : "(none)");
}

static void test_find(void **state)
{
	static const struct {
		const char *path, *unit, *user_unit;
	} cases[] = {
		{ "/system.slice/ssh.service", "ssh.service" },
		{ "/system.slice/system-getty.slice/getty@tty1.service", "getty@tty1.service" },
		{ "/init.scope", "init.scope" },
		{ "/system.slice/dbus.socket", "dbus.socket" },
		{ "/system.slice/home.mount", "home.mount" },
		{ "/system.slice/dev-sda2.swap", "dev-sda2.swap" },
		{ "/system.slice", NULL },
		{ "/", NULL },
		{ "", NULL },
		{ "/user.slice/user-1000.slice/session-3.scope", "session-3.scope" },
		{ "/user.slice/user-1000.slice/user@1000.service/app.slice/foot.service",
		  "user@1000.service", "foot.service" },
		{ "/user.slice/user-1000.slice/user@1000.service/app.slice/app-x.slice/a@b.service",
		  "user@1000.service", "a@b.service" },
		{ "/user.slice/user-1000.slice/user@1000.service/init.scope", "user@1000.service",
		  "init.scope" },
		{ "/user.slice/user-1000.slice/user@1000.service/old.service", "user@1000.service",
		  "old.service" },
		{ "/user.slice/user-1000.slice/user@1000.service", "user@1000.service" },
		{ "/user.slice/user-1000.slice/user@1000.service/x/foot.service",
		  "user@1000.service" },
		/* a service that has cgroups of its own below */
		{ "/system.slice/kubelet.service/sub/deep.service", "kubelet.service" },
		/* a name that would be a file of the cgroup is escaped */
		{ "/system.slice/_cpu.service", "cpu.service" },
		/* systemd inside a container is not this machine's */
		{ "/docker/x/system.slice/nginx.service", NULL },
		{ "/plain/ssh.service", NULL },
		{ "/.service", NULL },
		{ "/../../a.service", "a.service" },
	};
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(cases); i++) {
		struct watt_span unit, user_unit;

		watt_unit_find(cases[i].path, &unit, &user_unit);
		assert_span(cases[i].path, unit, cases[i].unit);
		assert_span(cases[i].path, user_unit, cases[i].user_unit);
	}
}

static void test_path(void **state)
{
	const char *cursor = "//a/./../b//";
	struct watt_span span;

	assert_true(watt_path_next(&cursor, &span));
	assert_true(watt_span_is(span, "a"));
	assert_true(watt_path_next(&cursor, &span));
	assert_true(watt_span_is(span, "b"));
	assert_false(watt_path_next(&cursor, &span));
	assert_false(watt_path_next(&cursor, &span));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_path),
	};

	return cmocka_run_group_tests_name("unit", tests, NULL, NULL);
}

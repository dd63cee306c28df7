/* SPDX-License-Identifier: Apache-2.0 */
/* lib/env.c: options of the configuration file, below those of the caller. */
#include "unit.h"

#include "../options_of.h"
#include "../../lib/env.h"

static char said[4096];

static void hear(void *data, enum watt_log_level level, const char *text)
{
	if (level == WATT_LOG_ERROR)
		snprintf(said, sizeof(said), "%s", text);
}

/* Opens with a file that holds the text. Takes the options. */
static int open_with(struct watt_env_owner *owner, const char *text, struct watt_options *options)
{
	char *dir = scratch_new(), *path;
	int r;

	*owner = (struct watt_env_owner)WATT_ENV_OWNER_INIT;
	said[0] = '\0';
	scratch_write(dir, "w.yaml", text);
	assert_true(asprintf(&path, "%s/w.yaml", dir) > 0);
	assert_int_equal(watt_options_set_config(options, path), 0);
	assert_int_equal(watt_options_set_log(options, hear, NULL), 0);
	r = watt_env_open(options, owner);
	watt_options_free(options);
	free(path);
	scratch_remove(dir);
	return r;
}

static void assert_rule(const struct watt_rules *rules, size_t i, const char *name, uint64_t value)
{
	assert_true(i < rules->n);
	if (name)
		assert_string_equal(rules->list[i].name, name);
	else
		assert_null(rules->list[i].name);
	assert_int_equal(rules->list[i].value, value);
}

#ifdef WATT_HAVE_KUBELET
#define KUBELET "  kubelet-url: https://k\n"
#else
#define KUBELET ""
#endif
#define ALL \
	"options:\n" \
	"  sources: powercap,-hwmon\n" \
	"  usage: procfs\n" \
	"  slice: 20ms\n" \
	"  period: 5ms\n" \
	"  rate: powercap=100\n" \
	"  idle-policy: proportional\n" \
	"  share-key: package-0=none\n" \
	"  sensor-delay: 'a*=1s'\n" \
	"  nvml-lib: /lib/nvml.so\n" \
	"  redfish-url: https://bmc\n" \
	"  redfish-auth: /etc/bmc\n" \
	"  redfish-tls: insecure\n" \
	"  meter: unix:/run/m\n" KUBELET

/* A build that can ask none has no such option. */
static void assert_kubelet(const struct watt_env *env)
{
#ifdef WATT_HAVE_KUBELET
	assert_string_equal(env->kubelet_url, "https://k");
#else
	assert_null(env->kubelet_url);
#endif
}

static void test_file_speaks(void **state)
{
	struct watt_env_owner owner;
	const struct watt_options *o = &owner.options;

	assert_int_equal(open_with(&owner, ALL, options_of(NULL)), 0);
	assert_string_equal(said, "");
	assert_int_equal(o->sources.n, 2);
	assert_rule(&o->sources, 0, "powercap", 1);
	assert_rule(&o->sources, 1, "hwmon", 0);
	assert_string_equal(o->usage, "procfs");
	assert_int_equal(o->slice_ns, 20000000);
	assert_int_equal(o->period_ns, 5000000);
	assert_rule(&o->rates, 0, "powercap", 10000000);
	assert_int_equal(o->idle_policy, WATT_IDLE_PROPORTIONAL);
	assert_rule(&o->share_keys, 0, "package-0", WATT_KEY_NONE);
	assert_rule(&o->delays, 0, "a*", 1000000000);
	assert_string_equal(o->nvml_lib, "/lib/nvml.so");
	assert_string_equal(owner.env.nvml_lib, "/lib/nvml.so");
	assert_string_equal(owner.env.redfish_url, "https://bmc");
	assert_string_equal(owner.env.redfish_auth, "/etc/bmc");
	assert_string_equal(owner.env.redfish_tls, "insecure");
	assert_string_equal(owner.env.meter, "unix:/run/m");
	assert_kubelet(&owner.env);
	watt_env_close(&owner);
}

/* Whoever calls has the last word. */
static void test_caller_wins(void **state)
{
	struct watt_env_owner owner;
	const struct watt_options *o = &owner.options;
	struct watt_options *options = options_of("sources", "synth", "usage", "synth", "slice",
						  "30ms", "period", "40ms", "rate", "powercap=1",
						  "idle-policy", "separate", "share-key",
						  "package-0=cpu_time", "sensor-delay", "b=2s",
						  "redfish-url", "https://x", NULL);

	assert_int_equal(open_with(&owner, ALL, options), 0);
	assert_int_equal(o->sources.n, 1);
	assert_rule(&o->sources, 0, "synth", 1);
	assert_string_equal(o->usage, "synth");
	assert_int_equal(o->slice_ns, 30000000);
	assert_int_equal(o->period_ns, 40000000);
	assert_rule(&o->rates, o->rates.n - 1, "powercap", 1000000000);
	assert_int_equal(o->idle_policy, WATT_IDLE_SEPARATE);
	assert_rule(&o->share_keys, o->share_keys.n - 1, "package-0", WATT_KEY_CPU_TIME);
	assert_rule(&o->delays, o->delays.n - 1, "b", 2000000000);
	assert_string_equal(owner.env.redfish_url, "https://x");
	assert_kubelet(&owner.env);
	watt_env_close(&owner);
}

/* Each with its line, and nothing of the file is used. */
static void test_refuses(void **state)
{
	static const struct {
		const char *text, *said;
	} cases[] = {
		{ "options:\n  slice: soon\n", "w.yaml:2: slice: 'soon' is not a time" },
		{ "options:\n  usage: procfs\n  slices: 1ms\n",
		  "w.yaml:3: slices: no option is called 'slices'; there are: sources" },
		{ "options:\n\n  sources: powercap,nothing\n",
		  "w.yaml:3: sources: no source is called 'nothing'" },
		{ "options:\n  config: /etc/other\n", "w.yaml:2: config can't be said in a file" },
		{ "options:\n  machine: /x\n", "w.yaml:2: machine can't be said in a file" },
		{ "options:\n  sysfs-root: /x\n", "w.yaml:2: sysfs-root can't be said in a file" },
		{ "options:\n  procfs-root: /x\n",
		  "w.yaml:2: procfs-root can't be said in a file" },
		{ "options: [slice]\n", "w.yaml:1: options must be a mapping" },
		{ "options:\n  slice: [1ms]\n", "w.yaml:2: an option must be a text" },
		{ "options:\n  slice: ''\n", "w.yaml:2: an option must be a text" },
		{ "options:\n  ? [slice]\n  : 1ms\n", ": a key of options must be a text" },
	};
	struct watt_env_owner owner;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(open_with(&owner, cases[i].text, options_of(NULL)), -EINVAL);
		if (!strstr(said, cases[i].said))
			fail_msg("'%s' said '%s'", cases[i].text, said);
		watt_env_close(&owner);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_file_speaks),
		cmocka_unit_test(test_caller_wins),
		cmocka_unit_test(test_refuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

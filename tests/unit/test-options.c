/* SPDX-License-Identifier: Apache-2.0 */
/* lib/options.c and lib/base/rules.c: setters, and the grammar of options as text. */
#include "unit.h"

#include <wattribute/options.h>

#include "attrib/key.h"
#include "base/util.h"
#include "options.h"

#define MS 1000000ULL

static struct watt_options *new_options(void)
{
	struct watt_options *options = NULL;

	assert_int_equal(watt_options_new(&options), 0);
	assert_non_null(options);
	assert_string_equal(watt_options_get_problem(options), "");
	return options;
}

/* Every option as text, and what it means. */
static void test_texts(void **state)
{
	struct watt_options *o = new_options();

	assert_int_equal(watt_options_set(o, "machine", "m.tar.zst"), 0);
	assert_int_equal(watt_options_set(o, "sysfs-root", "/s"), 0);
	assert_int_equal(watt_options_set(o, "procfs-root", "/p"), 0);
	assert_int_equal(watt_options_set(o, "nvml-lib", "libn.so"), 0);
	assert_int_equal(watt_options_set_state_dir(o, "/state"), 0);
	assert_int_equal(watt_options_set(o, "redfish-url", "https://bmc"), 0);
	assert_int_equal(watt_options_set(o, "meter", "tcp:plug:9000"), 0);
	assert_int_equal(watt_options_set(o, "redfish-auth", "/bmc.csv"), 0);
	assert_int_equal(watt_options_set(o, "redfish-tls", "insecure"), 0);
	assert_int_equal(watt_options_set_redfish_login(o, "me", "secret"), 0);
#ifdef WATT_HAVE_KUBELET
	assert_int_equal(watt_options_set(o, "kubelet-url", "https://node:10250"), 0);
	assert_int_equal(watt_options_set(o, "kubelet-token", "/run/token"), 0);
	assert_int_equal(watt_options_set(o, "kubelet-tls", "insecure"), 0);
#endif
	assert_int_equal(watt_options_set(o, "config", "w.yaml"), 0);
	assert_int_equal(watt_options_set(o, "usage", "procfs"), 0);
	assert_int_equal(watt_options_set(o, "slice", "20"), 0);
	assert_int_equal(watt_options_set(o, "period", "1500us"), 0);
	assert_int_equal(watt_options_set(o, "idle-policy", "proportional"), 0);
	assert_string_equal(o->machine, "m.tar.zst");
	assert_int_equal(watt_options_set(o, "privacy", "users"), 0);
	assert_int_equal(o->privacy, WATT_PRIVACY_USERS);
	assert_string_equal(o->sysfs_root, "/s");
	assert_string_equal(o->procfs_root, "/p");
	assert_string_equal(o->nvml_lib, "libn.so");
	assert_string_equal(o->state_dir, "/state");
	assert_string_equal(o->redfish_url, "https://bmc");
	assert_string_equal(o->meter, "tcp:plug:9000");
	assert_string_equal(o->redfish_auth, "/bmc.csv");
	assert_string_equal(o->redfish_tls, "insecure");
	assert_string_equal(o->redfish_user, "me");
	assert_string_equal(o->redfish_password, "secret");
#ifdef WATT_HAVE_KUBELET
	assert_string_equal(o->kubelet_url, "https://node:10250");
	assert_string_equal(o->kubelet_token, "/run/token");
	assert_string_equal(o->kubelet_tls, "insecure");
#endif
	assert_string_equal(o->config, "w.yaml");
	assert_string_equal(o->usage, "procfs");
	assert_int_equal(o->slice_ns, 20 * MS);
	assert_int_equal(o->period_ns, 1500000);
	assert_true(o->has_idle_policy);
	assert_int_equal(o->idle_policy, WATT_IDLE_PROPORTIONAL);
	assert_string_equal(watt_options_get_problem(o), "");
	watt_options_free(o);
}

static void assert_rule(const struct watt_rules *rules, size_t i, const char *name, uint64_t value)
{
	assert_in_range(i, 0, rules->n - 1);
	assert_int_equal(!name, !rules->list[i].name);
	if (name)
		assert_string_equal(rules->list[i].name, name);
	assert_int_equal(rules->list[i].value, value);
}

/* Lists add, but for sources, which begin again. */
static void test_lists(void **state)
{
	struct watt_options *o = new_options();

	assert_int_equal(watt_options_set(o, "sources", "powercap, -hwmon"), 0);
	assert_int_equal(watt_options_set(o, "sources", "-estimate,synth"), 0);
	assert_int_equal(o->sources.n, 2);
	assert_rule(&o->sources, 0, "estimate", 0);
	assert_rule(&o->sources, 1, "synth", 1);
	assert_int_equal(watt_options_set(o, "rate", "100Hz,hwmon=0.5Hz"), 0);
	assert_int_equal(watt_options_set(o, "rate", "powercap=0.02kHz"), 0);
	assert_int_equal(o->period_ns, 10 * MS);
	assert_int_equal(o->rates.n, 2);
	assert_rule(&o->rates, 0, "hwmon", 2000 * MS);
	assert_rule(&o->rates, 1, "powercap", 50 * MS);
	assert_int_equal(watt_options_set(o, "share-key", "none,package=auto"), 0);
	assert_int_equal(watt_options_set(o, "share-key", "gpu=cpu_time"), 0);
	assert_int_equal(o->share_keys.n, 3);
	assert_rule(&o->share_keys, 0, NULL, WATT_KEY_NONE);
	assert_rule(&o->share_keys, 1, "package", WATT_KEY_AUTO);
	assert_rule(&o->share_keys, 2, "gpu", WATT_KEY_CPU_TIME);
	assert_int_equal(watt_options_set(o, "sensor-delay", "a*=12.5,b==1us,c=60s"), 0);
	assert_rule(&o->delays, 0, "a*", 12500000);
	assert_rule(&o->delays, 1, "b=", 1000);
	assert_rule(&o->delays, 2, "c", 60000 * MS);
	watt_options_free(o);
}

static const struct {
	const char *name, *value;
	int r;
	const char *told;
} refused[] = {
	{ "nonsense", "1", -ENOENT, "no option is called 'nonsense'; there are: sources, " },
	{ "", "1", -ENOENT, "no option is called ''" },
	{ "sysfs-root", "", -EINVAL, "'' is no folder" },
	{ "redfish-url", "", -EINVAL, "'' is no URL" },
	{ "meter", "plug", -EINVAL, "none of unix:PATH" },
	{ "config", "", -EINVAL, "'' is no file" },
	{ "sources", "", -EINVAL, "the list of sources is empty" },
	{ "sources", " ,", -EINVAL, "the list of sources is empty" },
	{ "sources", "synth,-nonsense", -ENOENT, "no source is called 'nonsense'; there are: " },
	{ "sources", "synth,drm", -EINVAL, "drm measures no power" },
	{ "sources", "+drm", -EINVAL, "-drm leaves it out" },
	{ "sources", "-precise", -ENOENT, "no source is called 'precise'" },
	{ "sources", "-", -ENOENT, "no source is called ''" },
	{ "sources", "+", -ENOENT, "no source is called ''" },
	{ "sources", "+-synth", -ENOENT, "no source is called '-synth'" },
	{ "usage", "nonsense", -ENOENT,
	  "no way of counting usage is called 'nonsense'; there are: auto, " },
	{ "slice", "", -EINVAL, "'' is not a time such as 50ms (1ms to 60s)" },
	{ "slice", "999us", -EINVAL, "'999us' is not a time such as 50ms (1ms to 60s)" },
	{ "slice", "60001", -EINVAL, "(1ms to 60s)" },
	{ "slice", "1 s", -EINVAL, "(1ms to 60s)" },
	{ "slice", "-1", -EINVAL, "(1ms to 60s)" },
	{ "slice", "1.s", -EINVAL, "(1ms to 60s)" },
	{ "slice", "5 apples", -EINVAL, "(1ms to 60s)" },
	{ "period", "0", -EINVAL, "(1ms to 60s)" },
	{ "period", "99999999999999999999999s", -EINVAL, "(1ms to 60s)" },
	{ "rate", "", -EINVAL, "'' is not a rate such as 100Hz or SOURCE=1kHz (one in an " },
	{ "rate", "0", -EINVAL, "'0' is not a rate" },
	{ "rate", "1MHz", -EINVAL, "'1MHz' is not a rate" },
	{ "rate", "1001", -EINVAL, "'1001' is not a rate" },
	{ "rate", "hwmon=2kHz", -EINVAL, "'hwmon=2kHz' is not a rate" },
	{ "rate", "hwmon=10,", -EINVAL, "'' is not a rate" },
	{ "rate", "hwmon=0.0001", -EINVAL, "'hwmon=0.0001' is not a rate" },
	{ "rate", "10,hwm=10", -ENOENT, "no source is called 'hwm'; there are: " },
	{ "rate", "hwmon=10,0.001Hz", -EINVAL, "1000 s is not possible; 1 ms to 60 s are" },
	{ "share-key", "", -ENOENT, "'' is not a share key such as auto or DOMAIN=none" },
	{ "share-key", "package=nonsense", -ENOENT, "; there are: auto, none, cpu_time" },
	{ "share-key", "unknown", -ENOENT, "'unknown' is not a share key" },
	{ "share-key", "none,", -ENOENT, "'' is not a share key" },
	{ "share-key", "=none", -EINVAL, "'=none' is not a share key" },
	{ "sensor-delay", "", -EINVAL, "'' is not a delay such as CHANNEL=20ms (0 to 60 s)" },
	{ "sensor-delay", "5", -EINVAL, "'5' is not a delay" },
	{ "sensor-delay", "*=", -EINVAL, "'*=' is not a delay" },
	{ "sensor-delay", "*=1x", -EINVAL, "'*=1x' is not a delay" },
	{ "sensor-delay", "*=1,*=60000.1", -EINVAL, "'*=60000.1' is not a delay" },
	{ "sensor-delay", "*= 1", -EINVAL, "'*= 1' is not a delay" },
	{ "privacy", "none", -ENOENT, "there are: names, own, users, all" },
	{ "idle-policy", "fair", -ENOENT,
	  "no idle policy is called 'fair'; there are: separate, proportional, requests" },
};

/* Whatever is refused says what, and changes nothing. */
static void test_texts_that_are_refused(void **state)
{
	struct watt_options *o = new_options();
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(refused); i++) {
		if (watt_options_set(o, refused[i].name, refused[i].value) != refused[i].r ||
		    !strstr(watt_options_get_problem(o), refused[i].told))
			fail_msg("%s=%s: %s", refused[i].name, refused[i].value,
				 watt_options_get_problem(o));
		assert_int_equal(o->sources.n + o->rates.n + o->share_keys.n + o->delays.n, 0);
		assert_int_equal(o->slice_ns + o->period_ns, 0);
		assert_false(o->has_idle_policy);
		assert_null(o->sysfs_root);
		assert_null(o->config);
		assert_null(o->usage);
	}
	watt_options_free(o);
}

static void test_setters(void **state)
{
	struct watt_options *o = new_options();

	assert_int_equal(watt_options_add_source(o, "synth"), 0);
	assert_int_equal(watt_options_drop_source(o, "estimate"), 0);
	assert_rule(&o->sources, 0, "synth", 1);
	assert_rule(&o->sources, 1, "estimate", 0);
	assert_int_equal(watt_options_set_source_period_ns(o, "hwmon", 3600000 * MS), 0);
	assert_rule(&o->rates, 0, "hwmon", 3600000 * MS);
	assert_int_equal(watt_options_set_share_key(o, NULL, WATT_KEY_NONE), 0);
	assert_int_equal(watt_options_set_share_key(o, "package", WATT_KEY_AUTO), 0);
	assert_rule(&o->share_keys, 0, NULL, WATT_KEY_NONE);
	assert_rule(&o->share_keys, 1, "package", WATT_KEY_AUTO);
	assert_int_equal(watt_options_set_delay_ns(o, "*", 1), 0);
	assert_rule(&o->delays, 0, "*", 1);
	assert_int_equal(watt_options_set_slice_ns(o, 60000 * MS), 0);
	assert_int_equal(watt_options_set_period_ns(o, MS), 0);
	assert_int_equal(watt_options_set_driven(o, 7), 0);
	assert_true(o->is_driven);
	/* and back */
	assert_int_equal(watt_options_set_slice_ns(o, 0), 0);
	assert_int_equal(o->slice_ns, 0);
	assert_int_equal(watt_options_set_usage(o, "synth"), 0);
	assert_int_equal(watt_options_set_usage(o, NULL), 0);
	assert_null(o->usage);
	assert_int_equal(watt_options_set_config(o, "a"), 0);
	assert_int_equal(watt_options_set_config(o, NULL), 0);
	assert_null(o->config);
	watt_options_free(o);
}

static void test_setters_that_refuse(void **state)
{
	struct watt_options *o = new_options();

	assert_int_equal(watt_options_new(NULL), -EINVAL);
	assert_int_equal(watt_options_set_slice_ns(o, MS - 1), -EINVAL);
	assert_int_equal(watt_options_set_period_ns(o, 60000 * MS + 1), -EINVAL);
	assert_string_equal(watt_options_get_problem(o), "60 s is not possible; 1 ms to 60 s are");
	assert_int_equal(watt_options_set_source_period_ns(o, "hwmon", 3600000 * MS + 1), -EINVAL);
	assert_int_equal(watt_options_set_source_period_ns(o, "nonsense", MS), -ENOENT);
	assert_int_equal(watt_options_set_source_period_ns(o, NULL, MS), -EINVAL);
	assert_int_equal(watt_options_add_source(o, "nonsense"), -ENOENT);
	assert_int_equal(watt_options_add_source(o, NULL), -EINVAL);
	assert_int_equal(watt_options_drop_source(o, ""), -ENOENT);
	assert_int_equal(watt_options_set_delay_ns(o, "*", 60000 * MS + 1), -EINVAL);
	assert_int_equal(watt_options_set_delay_ns(o, "a,b", 1), -EINVAL);
	assert_int_equal(watt_options_set_delay_ns(o, NULL, 1), -EINVAL);
	assert_int_equal(watt_options_set_share_key(o, "", WATT_KEY_NONE), -EINVAL);
	assert_int_equal(watt_options_set_share_key(o, NULL, (enum watt_share_key)99), -EINVAL);
	assert_int_equal(watt_options_set_idle_policy(o, (enum watt_idle_policy)3), -EINVAL);
	assert_int_equal(watt_options_set_privacy(o, (enum watt_privacy)0), -EINVAL);
	assert_int_equal(watt_options_set_privacy(o, (enum watt_privacy)5), -EINVAL);
	assert_int_equal(watt_options_set(o, "slice", NULL), -EINVAL);
	assert_int_equal(watt_options_set(o, NULL, "1"), -EINVAL);
	assert_int_equal(o->sources.n + o->rates.n + o->share_keys.n + o->delays.n, 0);
	watt_options_free(o);
}

/* A good text replaces what was there, NULL takes it away, and an empty one is refused. */
static void test_setters_of_texts(void **state)
{
	static const struct {
		int (*set)(struct watt_options *o, const char *text);
		size_t field;
		const char *good;
	} setters[] = {
		{ watt_options_set_config, offsetof(struct watt_options, config), "/c" },
		{ watt_options_set_machine, offsetof(struct watt_options, machine), "/m" },
		{ watt_options_set_sysfs_root, offsetof(struct watt_options, sysfs_root), "/s" },
		{ watt_options_set_procfs_root, offsetof(struct watt_options, procfs_root), "/p" },
		{ watt_options_set_nvml_lib, offsetof(struct watt_options, nvml_lib), "/n" },
		{ watt_options_set_meter, offsetof(struct watt_options, meter), "unix:/u" },
		{ watt_options_set_redfish_url, offsetof(struct watt_options, redfish_url),
		  "https://bmc" },
		{ watt_options_set_redfish_auth, offsetof(struct watt_options, redfish_auth),
		  "/a" },
		{ watt_options_set_redfish_tls, offsetof(struct watt_options, redfish_tls), "/t" },
#ifdef WATT_HAVE_KUBELET
		{ watt_options_set_kubelet_url, offsetof(struct watt_options, kubelet_url),
		  "https://node:10250" },
		{ watt_options_set_kubelet_token, offsetof(struct watt_options, kubelet_token),
		  "/k" },
		{ watt_options_set_kubelet_tls, offsetof(struct watt_options, kubelet_tls), "/l" },
#endif
	};
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(setters); i++) {
		struct watt_options *o = new_options();
		char *const *field = (char *const *)((const char *)o + setters[i].field);

		assert_int_equal(setters[i].set(o, setters[i].good), 0);
		assert_string_equal(*field, setters[i].good);
		assert_int_equal(setters[i].set(o, ""), -EINVAL);
		assert_string_equal(*field, setters[i].good);
		assert_int_equal(setters[i].set(o, NULL), 0);
		assert_null(*field);
		assert_int_equal(setters[i].set(NULL, setters[i].good), -EINVAL);
		watt_options_free(o);
	}
}

/* The ends of each range are taken, and what is beyond them changes nothing. */
static void test_setters_at_their_bounds(void **state)
{
	struct watt_options *o = new_options();

	assert_int_equal(watt_options_set_slice_ns(o, MS), 0);
	assert_int_equal(watt_options_set_slice_ns(o, 60000 * MS + 1), -EINVAL);
	assert_int_equal(o->slice_ns, MS);
	assert_int_equal(watt_options_set_period_ns(o, 60000 * MS), 0);
	assert_int_equal(watt_options_set_period_ns(o, MS - 1), -EINVAL);
	assert_int_equal(o->period_ns, 60000 * MS);
	assert_int_equal(watt_options_set_source_period_ns(o, "hwmon", MS), 0);
	assert_int_equal(watt_options_set_source_period_ns(o, "hwmon", MS - 1), -EINVAL);
	assert_rule(&o->rates, 0, "hwmon", MS);
	assert_int_equal(watt_options_set_delay_ns(o, "*", 60000 * MS), 0);
	assert_int_equal(watt_options_set_delay_ns(o, "", 1), -EINVAL);
	assert_rule(&o->delays, 0, "*", 60000 * MS);
	assert_int_equal(watt_options_set_idle_policy(o, WATT_IDLE_REQUESTS), 0);
	assert_int_equal(watt_options_set_idle_policy(o, (enum watt_idle_policy) - 1), -EINVAL);
	assert_int_equal(o->idle_policy, WATT_IDLE_REQUESTS);
	assert_int_equal(watt_options_set_privacy(o, WATT_PRIVACY_NAMES), 0);
	assert_int_equal(watt_options_set_privacy(o, (enum watt_privacy)(WATT_PRIVACY_ALL + 1)),
			 -EINVAL);
	assert_int_equal(o->privacy, WATT_PRIVACY_NAMES);
	assert_int_equal(watt_options_set_owner(o, UINT32_MAX), 0);
	assert_true(o->has_owner);
	assert_int_equal(o->owner_uid, UINT32_MAX);
	assert_int_equal(watt_options_set_owner(NULL, 0), -EINVAL);
	watt_options_free(o);
}

/* Without options, as after a failed watt_options_new() that nobody looked at. */
static void test_no_options(void **state)
{
	assert_int_equal(watt_options_set(NULL, "slice", "1s"), -EINVAL);
	assert_int_equal(watt_options_set_sysfs_root(NULL, "/"), -EINVAL);
	assert_int_equal(watt_options_set_procfs_root(NULL, "/"), -EINVAL);
	assert_int_equal(watt_options_set_nvml_lib(NULL, "x"), -EINVAL);
	assert_int_equal(watt_options_set_state_dir(NULL, "x"), -EINVAL);
	assert_int_equal(watt_options_set_redfish_url(NULL, "x"), -EINVAL);
	assert_int_equal(watt_options_set_machine(NULL, "x"), -EINVAL);
	assert_int_equal(watt_options_set_meter(NULL, "exec:x"), -EINVAL);
	assert_int_equal(watt_options_set_redfish_auth(NULL, "x"), -EINVAL);
	assert_int_equal(watt_options_set_redfish_tls(NULL, "x"), -EINVAL);
	assert_int_equal(watt_options_set_redfish_login(NULL, "x", "y"), -EINVAL);
	assert_int_equal(watt_options_set_kubelet_url(NULL, "x"), -EINVAL);
	assert_int_equal(watt_options_set_config(NULL, "x"), -EINVAL);
	assert_int_equal(watt_options_add_source(NULL, "synth"), -EINVAL);
	assert_int_equal(watt_options_drop_source(NULL, "synth"), -EINVAL);
	assert_int_equal(watt_options_set_usage(NULL, NULL), -EINVAL);
	assert_int_equal(watt_options_set_slice_ns(NULL, MS), -EINVAL);
	assert_int_equal(watt_options_set_period_ns(NULL, MS), -EINVAL);
	assert_int_equal(watt_options_set_source_period_ns(NULL, "synth", MS), -EINVAL);
	assert_int_equal(watt_options_set_delay_ns(NULL, "*", 1), -EINVAL);
	assert_int_equal(watt_options_set_idle_policy(NULL, WATT_IDLE_SEPARATE), -EINVAL);
	assert_int_equal(watt_options_set_privacy(NULL, WATT_PRIVACY_ALL), -EINVAL);
	assert_int_equal(watt_options_set_owner(NULL, 1), -EINVAL);
	assert_int_equal(watt_options_set_share_key(NULL, NULL, WATT_KEY_NONE), -EINVAL);
	assert_int_equal(watt_options_set_driven(NULL, 1), -EINVAL);
	assert_int_equal(watt_options_set_log(NULL, NULL, NULL), -EINVAL);
	assert_non_null(watt_options_get_problem(NULL));
	assert_null(watt_options_free(NULL));
}

/* A copy has all of it, and lives without the first one. */
static void test_copies(void **state)
{
	struct watt_options *o = new_options(), copy, none;

	assert_int_equal(watt_options_set(o, "sources", "synth"), 0);
	assert_int_equal(watt_options_set(o, "rate", "20,synth=10"), 0);
	assert_int_equal(watt_options_set(o, "share-key", "gpu=none"), 0);
	assert_int_equal(watt_options_set(o, "sensor-delay", "x=5"), 0);
	assert_int_equal(watt_options_set(o, "sysfs-root", "/s"), 0);
	assert_int_equal(watt_options_set(o, "usage", "synth"), 0);
	assert_int_equal(watt_options_init(&copy, o), 0);
	watt_options_free(o);
	assert_rule(&copy.sources, 0, "synth", 1);
	assert_rule(&copy.rates, 0, "synth", 100 * MS);
	assert_rule(&copy.share_keys, 0, "gpu", WATT_KEY_NONE);
	assert_rule(&copy.delays, 0, "x", 5 * MS);
	assert_string_equal(copy.sysfs_root, "/s");
	assert_string_equal(copy.usage, "synth");
	assert_int_equal(copy.period_ns, 50 * MS);
	watt_options_done(&copy);
	assert_int_equal(watt_options_init(&none, NULL), 0);
	assert_int_equal(none.sources.n, 0);
	watt_options_done(&none);
}

/* All names that there are can be set, and say what for. */
static void test_info(void **state)
{
	const struct watt_option_info *info;
	struct watt_options *o = new_options();
	size_t i;

	for (i = 0; (info = watt_options_get_info(i)); i++) {
		assert_true(*info->values && *info->summary);
		assert_int_not_equal(watt_options_set(o, info->name, ""), 0);
		assert_null(strstr(watt_options_get_problem(o), "no option is called"));
	}
#ifdef WATT_HAVE_KUBELET
	assert_int_equal(i, 23);
#else
	assert_int_equal(i, 20);
#endif
	watt_options_free(o);
}

/* ---- by name and by setter ---- */

static void describe_rules(FILE *out, const struct watt_rules *rules)
{
	size_t i;

	for (i = 0; i < rules->n; i++)
		fprintf(out, "%s=%llu,", rules->list[i].name ? rules->list[i].name : "(all)",
			(unsigned long long)rules->list[i].value);
	fputs(";", out);
}

/* All that was said; the caller frees it. */
static char *describe(const struct watt_options *o)
{
	const char *const texts[] = {
		o->machine,     o->sysfs_root,  o->procfs_root,   o->nvml_lib,
		o->state_dir,   o->redfish_url, o->meter,         o->redfish_auth,
		o->redfish_tls, o->kubelet_url, o->kubelet_token, o->kubelet_tls,
		o->config,      o->usage,       o->redfish_user,  o->redfish_password,
		o->prior
	};
	char *text = NULL;
	size_t size, i;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	for (i = 0; i < WATT_ARRAY_SIZE(texts); i++)
		fprintf(out, "%s;", texts[i] ? texts[i] : "(none)");
	fprintf(out, "%d;%llu;%llu;%d;%d;%d;", o->is_precise, (unsigned long long)o->slice_ns,
		(unsigned long long)o->period_ns, o->has_idle_policy, o->idle_policy, o->privacy);
	describe_rules(out, &o->sources);
	describe_rules(out, &o->rates);
	describe_rules(out, &o->share_keys);
	describe_rules(out, &o->delays);
	fclose(out);
	return text;
}

static int choose_sources(struct watt_options *o, const char *text)
{
	return watt_options_add_source(o, "synth") || watt_options_drop_source(o, "estimate");
}

static int choose_slice(struct watt_options *o, const char *text)
{
	return watt_options_set_slice_ns(o, 20 * MS);
}

static int choose_period(struct watt_options *o, const char *text)
{
	return watt_options_set_period_ns(o, 5 * MS);
}

static int choose_rate(struct watt_options *o, const char *text)
{
	return watt_options_set_period_ns(o, 50 * MS) ||
	       watt_options_set_source_period_ns(o, "hwmon", 100 * MS);
}

static int choose_idle_policy(struct watt_options *o, const char *text)
{
	return watt_options_set_idle_policy(o, WATT_IDLE_PROPORTIONAL);
}

static int choose_share_key(struct watt_options *o, const char *text)
{
	return watt_options_set_share_key(o, NULL, WATT_KEY_CPU_TIME) ||
	       watt_options_set_share_key(o, "gpu", WATT_KEY_NONE);
}

static int choose_delay(struct watt_options *o, const char *text)
{
	return watt_options_set_delay_ns(o, "hwmon/*", 20 * MS);
}

static int choose_privacy(struct watt_options *o, const char *text)
{
	return watt_options_set_privacy(o, WATT_PRIVACY_ALL);
}

static int choose_precise(struct watt_options *o, const char *text)
{
	return watt_options_set_precise(o, 1);
}

/* Of each option, what it may be and the setter of its type. */
static const struct {
	const char *name, *text;
	int (*set)(struct watt_options *o, const char *text);
} examples[] = {
	{ "sources", "synth,-estimate", choose_sources },
	{ "usage", "procfs", watt_options_set_usage },
	{ "precise", "true", choose_precise },
	{ "slice", "20ms", choose_slice },
	{ "period", "5ms", choose_period },
	{ "rate", "20,hwmon=10Hz", choose_rate },
	{ "idle-policy", "proportional", choose_idle_policy },
	{ "share-key", "cpu_time,gpu=none", choose_share_key },
	{ "prior", "/p.json", watt_options_set_prior },
	{ "sensor-delay", "hwmon/*=20ms", choose_delay },
	{ "privacy", "all", choose_privacy },
	{ "config", "/c", watt_options_set_config },
	{ "machine", "/m", watt_options_set_machine },
	{ "sysfs-root", "/s", watt_options_set_sysfs_root },
	{ "procfs-root", "/p", watt_options_set_procfs_root },
	{ "nvml-lib", "/n", watt_options_set_nvml_lib },
	{ "redfish-url", "https://bmc", watt_options_set_redfish_url },
	{ "meter", "exec:x", watt_options_set_meter },
	{ "redfish-auth", "/a", watt_options_set_redfish_auth },
	{ "redfish-tls", "insecure", watt_options_set_redfish_tls },
	{ "kubelet-url", "https://node:10250", watt_options_set_kubelet_url },
	{ "kubelet-token", "/t", watt_options_set_kubelet_token },
	{ "kubelet-tls", "insecure", watt_options_set_kubelet_tls },
};

static size_t find_example(const char *name)
{
	size_t k;

	for (k = 0; k < WATT_ARRAY_SIZE(examples); k++)
		if (!strcmp(examples[k].name, name))
			return k;
	fail_msg("no setter is known of '%s'", name);
	return 0;
}

/* Nobody has to write a text for the library to read: each option has a setter of its type. */
static void test_each_has_a_setter(void **state)
{
	const struct watt_option_info *info;
	size_t i;

	for (i = 0; (info = watt_options_get_info(i)); i++) {
		struct watt_options *by_name = new_options(), *by_setter = new_options();
		char *a, *b, *new = describe(by_name);
		size_t k = find_example(info->name);

		assert_int_equal(watt_options_set(by_name, info->name, examples[k].text), 0);
		assert_int_equal(examples[k].set(by_setter, examples[k].text), 0);
		a = describe(by_name);
		b = describe(by_setter);
		assert_string_equal(a, b);
		assert_string_not_equal(a, new);
		free(new);
		free(a);
		free(b);
		watt_options_free(by_name);
		watt_options_free(by_setter);
	}
}

/* Whatever a file says holds where the caller says nothing. */
static void test_each_is_filled(void **state)
{
	const struct watt_option_info *info;
	size_t i;

	for (i = 0; (info = watt_options_get_info(i)); i++) {
		struct watt_options *own = new_options(), *others = new_options();
		const char *text = examples[find_example(info->name)].text;
		char *a, *b;

		assert_int_equal(watt_options_set(others, info->name, text), 0);
		a = describe(others);
		assert_int_equal(watt_options_fill(own, others), 0);
		b = describe(own);
		if (strcmp(a, b))
			fail_msg("%s is forgotten: %s, not %s", info->name, b, a);
		free(a);
		free(b);
		watt_options_free(own);
		watt_options_free(others);
	}
}

/* Every key that the ledger knows can be chosen by its name. */
static void test_all_share_keys(void **state)
{
	struct watt_options *o = new_options();
	size_t i;

	for (i = 0; watt_key_registry[i]; i++) {
		const char *name = watt_share_key_name(watt_key_registry[i]->id);

		assert_int_equal(watt_options_set(o, "share-key", name), 0);
		assert_rule(&o->share_keys, 2 * i, NULL, watt_key_registry[i]->id);
		assert_int_equal(watt_options_set_share_key(o, "d", watt_key_registry[i]->id), 0);
		assert_rule(&o->share_keys, 2 * i + 1, "d", watt_key_registry[i]->id);
		assert_int_equal(watt_options_set(o, "share-key", "?"), -ENOENT);
		assert_non_null(strstr(watt_options_get_problem(o), name));
	}
	watt_options_free(o);
}

/* What is recorded is read again as what it was. */
static void test_rules_as_text(void **state)
{
	struct watt_rules rules = { 0 }, again = { 0 };
	char *text = NULL, *word = NULL;

	assert_int_equal(watt_rules_add(&rules, "a", 12500000), 0);
	assert_int_equal(watt_rules_add(&rules, "b*", 1), 0);
	assert_int_equal(watt_rules_add(&rules, "", 1), -EINVAL);
	assert_int_equal(watt_rules_add(&rules, "a,b", 1), -EINVAL);
	assert_int_equal(watt_rules_print(&rules, &watt_delay_syntax, &text), 0);
	assert_string_equal(text, "a=12.500000,b*=0.000001");
	assert_int_equal(watt_rules_parse(&again, &watt_delay_syntax, text, &word), 0);
	assert_rule(&again, 0, "a", 12500000);
	assert_rule(&again, 1, "b*", 1);
	assert_int_equal(watt_rules_parse(&again, &watt_delay_syntax, "c=1,d=?", &word), -EINVAL);
	assert_string_equal(word, "d=?");
	assert_int_equal(again.n, 2);
	free(word);
	free(text);
	watt_rules_clear(&again);
	watt_rules_clear(&rules);
	assert_int_equal(watt_rules_add(&rules, NULL, WATT_KEY_NONE), 0);
	assert_int_equal(watt_rules_add(&rules, "gpu", WATT_KEY_AUTO), 0);
	assert_int_equal(watt_rules_print(&rules, &watt_share_key_syntax, &text), 0);
	assert_string_equal(text, "none,gpu=auto");
	free(text);
	watt_rules_clear(&rules);
	assert_int_equal(watt_rules_print(&rules, &watt_share_key_syntax, &text), 0);
	assert_null(text);
	assert_int_equal(watt_rules_print(NULL, &watt_share_key_syntax, &text), 0);
	assert_null(text);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_texts_that_are_refused),
		cmocka_unit_test(test_setters),
		cmocka_unit_test(test_setters_that_refuse),
		cmocka_unit_test(test_setters_of_texts),
		cmocka_unit_test(test_setters_at_their_bounds),
		cmocka_unit_test(test_no_options),
		cmocka_unit_test(test_copies),
		cmocka_unit_test(test_info),
		cmocka_unit_test(test_each_has_a_setter),
		cmocka_unit_test(test_each_is_filled),
		cmocka_unit_test(test_all_share_keys),
		cmocka_unit_test(test_rules_as_text),
	};

	return cmocka_run_group_tests_name("options", tests, NULL, NULL);
}

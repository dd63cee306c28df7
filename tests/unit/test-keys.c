/* SPDX-License-Identifier: Apache-2.0 */
/* lib/attrib/keys.c */
#include "unit.h"

#include "attrib/keys.h"
#include "base/util.h"
#include "rules_of.h"

static char said[1024];

static void hear(void *data, enum watt_log_level level, const char *text)
{
	assert_int_equal(level, WATT_LOG_ERROR);
	snprintf(said, sizeof(said), "%s", text);
}

static const struct watt_log listener = { hear, NULL };

static struct watt_tree build(void)
{
	static const struct watt_channel channels[] = {
		{ .source = "t", .domain = "in", .kind = WATT_DOMAIN_TOTAL },
		{ .source = "t", .domain = "package-0", .kind = WATT_DOMAIN_PACKAGE },
		{ .source = "t", .domain = "package-1", .kind = WATT_DOMAIN_PACKAGE },
		{ .source = "t", .domain = "gpu-0", .kind = WATT_DOMAIN_GPU },
	};
	static const struct watt_channel *const list[] = { &channels[0], &channels[1], &channels[2],
							   &channels[3] };
	struct watt_tree tree = { 0 };

	assert_int_equal(watt_tree_build(list, WATT_ARRAY_SIZE(list), &tree), 0);
	return tree;
}

/* "path:key " for all domains whose key is not the automatic one. */
static void assert_changes(const char *text, const char *expected)
{
	struct watt_rules rules = rules_of(text, &watt_share_key_syntax);
	struct watt_tree tree = build();
	char changed[512] = "";
	size_t i;

	said[0] = '\0';
	assert_int_equal(watt_keys_apply(&rules, watt_key_registry, &tree, &listener), 0);
	assert_string_equal(said, "");
	for (i = 0; i < tree.n_domains; i++) {
		const struct watt_domain *d = &tree.domains[i];
		size_t used = strlen(changed);

		if (d->key != watt_tree_key_of_kind(d->kind))
			snprintf(changed + used, sizeof(changed) - used, "%s:%s ", d->path,
				 watt_share_key_name(d->key));
	}
	assert_string_equal(changed, expected);
	watt_rules_clear(&rules);
	watt_tree_done(&tree);
}

static void assert_refused(const char *text, const char *expected)
{
	struct watt_rules rules = rules_of(text, &watt_share_key_syntax);
	struct watt_tree tree = build();

	said[0] = '\0';
	assert_int_equal(watt_keys_apply(&rules, watt_key_registry, &tree, &listener), -ENOENT);
	assert_string_equal(said, expected);
	watt_rules_clear(&rules);
	watt_tree_done(&tree);
}

static void test_names_and_kinds(void **state)
{
	assert_changes(NULL, "");
	/* what nobody is known to cause divides where it turns out that programs do */
	assert_changes("auto",
		       "in:learned package-0:learned package-1:learned in/residual:learned ");
	assert_changes("package-0=none", "package-0:none ");
	assert_changes("package=none", "package-0:none package-1:none ");
	assert_changes("gpu=cpu_time,in/residual=cpu_time", "gpu-0:cpu_time in/residual:cpu_time ");
	/* the last word holds */
	assert_changes("none,package=cpu_time,in=auto", "in:learned gpu-0:none ");
	assert_changes("package=none,package-1=auto", "package-0:none package-1:learned ");
}

/* Nothing is learned from a model that is made of CPU time. */
static void test_models_are_not_learned(void **state)
{
	static const struct watt_channel model = { .source = "t",
						   .domain = "model",
						   .kind = WATT_DOMAIN_PACKAGE,
						   .origin = WATT_ORIGIN_ESTIMATED };
	const struct watt_channel *const list[] = { &model };
	struct watt_rules rules = rules_of("auto", &watt_share_key_syntax);
	struct watt_tree tree = { 0 };

	assert_int_equal(watt_tree_build(list, 1, &tree), 0);
	assert_int_equal(watt_keys_apply(&rules, watt_key_registry, &tree, &listener), 0);
	assert_int_equal(tree.domains[0].key, WATT_KEY_CPU_TIME);
	watt_rules_clear(&rules);
	watt_tree_done(&tree);
}

static void test_keys_of_kinds(void **state)
{
	assert_int_equal(watt_tree_key_of_kind(WATT_DOMAIN_PACKAGE), WATT_KEY_CPU_TIME);
	assert_int_equal(watt_tree_key_of_kind(WATT_DOMAIN_GPU), WATT_KEY_GPU_TIME);
	assert_int_equal(watt_tree_key_of_kind(WATT_DOMAIN_RAIL), WATT_KEY_NONE);
}

static void test_mistakes_are_told(void **state)
{
	assert_refused("dram=none",
		       "no domain here is called 'dram', nor is one of that kind; there are: in, "
		       "package-0, package-1, gpu-0, in/residual");
	assert_refused("package=none,package-7=auto",
		       "no domain here is called 'package-7', nor is one of that kind; there are: "
		       "in, package-0, package-1, gpu-0, in/residual");
}

/* Not every key that has a name is offered by everybody. */
static void test_keys_that_are_not_there(void **state)
{
	static const struct watt_key_ops *const none[] = { NULL };
	struct watt_rules rules = rules_of("package=cpu_time", &watt_share_key_syntax);
	struct watt_tree tree = build();

	said[0] = '\0';
	assert_int_equal(watt_keys_apply(&rules, none, &tree, &listener), -ENOENT);
	assert_string_equal(said, "no share key 'cpu_time' is there; there are: auto");
	watt_rules_clear(&rules);
	watt_tree_done(&tree);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_and_kinds),
		cmocka_unit_test(test_models_are_not_learned),
		cmocka_unit_test(test_keys_of_kinds),
		cmocka_unit_test(test_mistakes_are_told),
		cmocka_unit_test(test_keys_that_are_not_there),
	};

	return cmocka_run_group_tests_name("keys", tests, NULL, NULL);
}

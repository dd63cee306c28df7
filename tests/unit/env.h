/* SPDX-License-Identifier: Apache-2.0 */
/* A source's environment over any two roots. */
#ifndef WATT_TESTS_ENV_H
#define WATT_TESTS_ENV_H

#include "unit.h"

#include "source/config/config.h"
#include "source/source.h"

/* What the source had to say, newest last. */
struct test_env {
	struct watt_env env;
	struct watt_config config;
	unsigned int n_warnings;
	char last[1024];
};

static inline void test_env_log(void *data, enum watt_log_level level, const char *message)
{
	struct test_env *test = data;

	test->n_warnings += level <= WATT_LOG_WARNING;
	snprintf(test->last, sizeof(test->last), "%s", message);
}

static inline void test_env_open(struct test_env *test, const char *procfs, const char *sysfs)
{
	*test = (struct test_env){
		.env = { .sysfs = WATT_ROOT_INIT,
			 .procfs = WATT_ROOT_INIT,
			 .config = &test->config,
			 .log = { test_env_log, test } },
	};
	assert_int_equal(watt_root_open(&test->env.procfs, procfs), 0);
	if (sysfs)
		assert_int_equal(watt_root_open(&test->env.sysfs, sysfs), 0);
}

static inline void test_env_close(struct test_env *test)
{
	watt_root_close(&test->env.procfs);
	watt_root_close(&test->env.sysfs);
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The fake NVML in this process: its script, its clock, its truth; and an environment with it. */
#ifndef WATT_TESTS_FAKE_NVML_UNIT_H
#define WATT_TESTS_FAKE_NVML_UNIT_H

#include <dlfcn.h>

#include "../fake/nvml.h"
#include "base/clock.h"
#include "source/config/config.h"
#include "source/source.h"
#include "unit.h"

struct fake {
	void *library;
	fake_nvml_load_fn load;
	fake_nvml_set_clock_fn set_clock;
	fake_nvml_energy_fn energy_nj;
	fake_nvml_busy_fn busy_ns;
	fake_nvml_users_fn users;
	fake_nvml_calls_fn calls;
	struct watt_env env;
	char *sysfs; /* a scratch directory */
};

static inline void *fake_symbol(const struct fake *fake, const char *name)
{
	void *symbol = dlsym(fake->library, name);

	assert_non_null(symbol);
	return symbol;
}

static inline void fake_init(struct fake *fake, const char *variable, const char *script)
{
	static const struct watt_config config;
	const char *file = getenv(variable);

	assert_non_null(file);
	fake->library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	if (!fake->library)
		fail_msg("%s", dlerror());
	fake->load = (fake_nvml_load_fn)fake_symbol(fake, "fake_nvml_load");
	fake->set_clock = (fake_nvml_set_clock_fn)fake_symbol(fake, "fake_nvml_set_clock");
	fake->energy_nj = (fake_nvml_energy_fn)fake_symbol(fake, "fake_nvml_energy");
	fake->busy_ns = (fake_nvml_busy_fn)fake_symbol(fake, "fake_nvml_busy");
	fake->users = (fake_nvml_users_fn)fake_symbol(fake, "fake_nvml_users");
	fake->calls = (fake_nvml_calls_fn)fake_symbol(fake, "fake_nvml_calls");
	assert_int_equal(fake->load(script), 0);
	fake->sysfs = scratch_new();
	fake->env = (struct watt_env){ .sysfs = WATT_ROOT_INIT,
				       .procfs = WATT_ROOT_INIT,
				       .config = &config,
				       .nvml_lib = file };
	assert_int_equal(watt_root_open(&fake->env.sysfs, fake->sysfs), 0);
	assert_int_equal(watt_root_open(&fake->env.procfs, "/proc"), 0);
}

static inline void fake_done(struct fake *fake)
{
	assert_int_equal(fake->users(), 0); /* whoever comes in goes out again */
	watt_root_close(&fake->env.sysfs);
	watt_root_close(&fake->env.procfs);
	scratch_remove(fake->sysfs);
	dlclose(fake->library);
}

#endif

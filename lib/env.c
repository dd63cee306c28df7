/* SPDX-License-Identifier: Apache-2.0 */
/* Options to environment: the roots, the configuration, where to look. Opens no source. */
#include "env.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/util.h"

int watt_opts_copy(const void *opts, void *ret, size_t size)
{
	const char *bytes = opts;
	size_t given, i;

	if (!opts)
		return -EINVAL;
	memcpy(&given, opts, sizeof(given));
	if (given < sizeof(given))
		return -EINVAL;
	for (i = size; i < given; i++)
		if (bytes[i])
			return -EINVAL;
	memset(ret, 0, size);
	memcpy(ret, opts, WATT_MIN(given, size));
	return 0;
}

static int open_root(struct watt_root *root, const char *path, const char *usual,
		     const struct watt_log *log)
{
	int r;

	r = watt_root_open(root, path ? path : usual);
	if (r < 0)
		watt_log(log, WATT_LOG_ERROR, "cannot open %s: %s", path ? path : usual,
			 strerror(-r));
	return r;
}

static int copy_text(char **ret, const char *text)
{
	*ret = text ? strdup(text) : NULL;
	return text && !*ret ? -ENOMEM : 0;
}

int watt_env_open(const struct watt_session_opts *opts, struct watt_env_owner *owner)
{
	struct watt_env *env = &owner->env;
	int r;

	env->log = (struct watt_log){ opts->log, opts->log_data };
	env->epoch_ns = watt_now_ns();
	r = open_root(&env->sysfs, opts->sysfs_root, "/sys", &env->log);
	if (r == 0)
		r = open_root(&env->procfs, opts->procfs_root, "/proc", &env->log);
	if (r == 0)
		r = watt_config_open(opts->config_path, &env->log, &owner->config);
	if (r == 0)
		r = copy_text(&owner->nvml_lib, opts->nvml_lib);
	if (r == 0)
		r = copy_text(&owner->redfish_url, opts->redfish_url);
	if (r == 0)
		r = copy_text(&owner->kubelet_url, opts->kubelet_url);
	if (r == 0)
		r = copy_text(&owner->idle_policy, opts->idle_policy);
	if (r == 0)
		r = copy_text(&owner->share_keys, opts->share_keys);
	if (r == 0)
		r = copy_text(&owner->delays, opts->delays);
	if (r == 0)
		r = copy_text(&owner->rates, opts->rates);
	env->config = owner->config;
	env->nvml_lib = owner->nvml_lib;
	env->redfish_url = owner->redfish_url;
	env->kubelet_url = owner->kubelet_url;
	return r;
}

static void free_owner(struct watt_env_keeper *keeper)
{
	struct watt_env_owner *owner = watt_container_of(keeper, struct watt_env_owner, keeper);

	watt_env_close(owner);
	free(owner);
}

struct watt_env_owner *watt_env_new(void)
{
	struct watt_env_owner *owner = malloc(sizeof(*owner));

	if (!owner)
		return NULL;
	*owner = (struct watt_env_owner)WATT_ENV_OWNER_INIT;
	watt_refcount_init(&owner->keeper.refs);
	owner->keeper.free = free_owner;
	owner->env.keeper = &owner->keeper;
	return owner;
}

void watt_env_close(struct watt_env_owner *owner)
{
	watt_root_close(&owner->env.sysfs);
	watt_root_close(&owner->env.procfs);
	watt_config_free(owner->config);
	free(owner->nvml_lib);
	free(owner->redfish_url);
	free(owner->kubelet_url);
	free(owner->idle_policy);
	free(owner->share_keys);
	free(owner->delays);
	free(owner->rates);
	*owner = (struct watt_env_owner)WATT_ENV_OWNER_INIT;
}

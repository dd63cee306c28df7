/* SPDX-License-Identifier: Apache-2.0 */
/* Options to environment: the roots, the configuration, where to look. Opens no source. */
#include "env.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/util.h"

static int open_root(struct watt_root *root, const char *path, const char *usual,
		     const struct watt_log *log)
{
	int r;

	r = watt_root_open(root, path ? path : usual);
	if (r < 0)
		watt_log(log, WATT_LOG_ERROR, "cannot open %s: %s", path ? path : usual,
			 strerror(-r));
	else
		root->look_ns = WATT_ROOT_LOOK_NS;
	return r == -ENOTDIR ? -ENOENT : r;
}

/* A captured machine has everything of its own: nothing else may be put in its place. */
static int open_machine(struct watt_env_owner *owner)
{
	const struct watt_options *own = &owner->options;
	const struct watt_log *log = &owner->env.log;

	if (!own->machine)
		return 0;
	if (own->sysfs_root || own->procfs_root) {
		watt_log(log, WATT_LOG_ERROR,
			 "a machine has a sysfs and a procfs of its own: leave out %s, or machine",
			 own->sysfs_root ? "sysfs-root" : "procfs-root");
		return -EINVAL;
	}
	owner->env.is_captured = true;
	return watt_machine_file_open(own->machine, log, &owner->machine);
}

static int open_roots(struct watt_env_owner *owner)
{
	const struct watt_machine_file *machine = owner->machine;
	const struct watt_options *own = &owner->options;
	struct watt_env *env = &owner->env;
	int r;

	r = open_root(&env->sysfs, machine ? watt_machine_file_get_sysfs(machine) : own->sysfs_root,
		      "/sys", &env->log);
	if (r == 0)
		r = open_root(&env->procfs,
			      machine ? watt_machine_file_get_procfs(machine) : own->procfs_root,
			      "/proc", &env->log);
	return r;
}

/* What says which machine and which file these are is not the file's word. */
static bool is_of_caller(const char *name)
{
	static const char *const names[] = { "config", "machine", "sysfs-root", "procfs-root" };
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/* One option of the file; the log has the line. */
static int take_option(struct watt_options *said, const struct watt_config_option *option,
		       const char *file, const struct watt_log *log)
{
	int r;

	if (is_of_caller(option->name)) {
		watt_log(log, WATT_LOG_ERROR, "%s:%d: %s can't be said in a file", file,
			 option->line, option->name);
		return -EINVAL;
	}
	r = watt_options_set(said, option->name, option->value);
	if (r == -ENOENT || r == -EINVAL) {
		watt_log(log, WATT_LOG_ERROR, "%s:%d: %s: %s", file, option->line, option->name,
			 watt_options_get_problem(said));
		r = -EINVAL;
	}
	return r;
}

/* What the file says holds where the caller says nothing. */
static int take_options(struct watt_options *own, const struct watt_config *config,
			const struct watt_log *log)
{
	struct watt_options said;
	size_t i;
	int r = watt_options_init(&said, NULL);

	for (i = 0; i < config->n_options && r == 0; i++)
		r = take_option(&said, &config->options[i], own->config, log);
	if (r == 0)
		r = watt_options_fill(own, &said);
	watt_options_done(&said);
	return r;
}

int watt_env_open(const struct watt_options *options, struct watt_env_owner *owner)
{
	struct watt_options *own = &owner->options;
	struct watt_env *env = &owner->env;
	int r;

	r = watt_options_init(own, options);
	if (r < 0)
		return r;
	env->log = (struct watt_log){ own->log, own->log_data };
	env->epoch_ns = watt_now_ns();
	r = open_machine(owner);
	if (r == 0)
		r = open_roots(owner);
	if (r == 0)
		r = watt_config_open(own->config, &env->log, &owner->config);
	if (r == 0)
		r = take_options(own, owner->config, &env->log);
	env->config = owner->config;
	env->nvml_lib = own->nvml_lib;
	env->state_dir = own->state_dir;
	env->redfish_url = own->redfish_url;
	env->meter = own->meter;
	env->redfish_auth = own->redfish_auth;
	env->redfish_tls = own->redfish_tls;
	env->redfish_user = own->redfish_user;
	env->redfish_password = own->redfish_password;
	env->kubelet_url = own->kubelet_url;
	env->kubelet_token = own->kubelet_token;
	env->kubelet_tls = own->kubelet_tls;
	env->privacy = own->privacy ? own->privacy : WATT_PRIVACY_OWN;
	env->owner_uid = own->has_owner ? own->owner_uid : geteuid();
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
	watt_machine_file_close(owner->machine);
	watt_config_free(owner->config);
	watt_options_done(&owner->options);
	*owner = (struct watt_env_owner)WATT_ENV_OWNER_INIT;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the environment of sources from a session's options, and owns it. */
#ifndef WATT_ENV_H
#define WATT_ENV_H

#include "machine_file.h"
#include "options.h"
#include "source/config/config.h"
#include "source/source.h"

struct watt_env_owner {
	struct watt_env_keeper keeper; /* of one that was made by watt_env_new() */
	struct watt_env env;
	struct watt_options options; /* a copy */
	struct watt_config *config;
	struct watt_machine_file *machine; /* NULL: this one */
};

#define WATT_ENV_OWNER_INIT \
	{ \
		.env = {.sysfs = WATT_ROOT_INIT, .procfs = WATT_ROOT_INIT } \
	}

/*
 * options NULL: as they are new. Logs one line for what is wrong. Its address must not change while
 * it is open.
 */
int watt_env_open(const struct watt_options *options, struct watt_env_owner *owner);
/* Accepts a half-opened one. */
void watt_env_close(struct watt_env_owner *owner);
/* Not open yet; watt_env_unref() of its env closes and frees it. NULL: -ENOMEM. */
struct watt_env_owner *watt_env_new(void);

#endif

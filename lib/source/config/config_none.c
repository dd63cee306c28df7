/* SPDX-License-Identifier: Apache-2.0 */
/* A build without YAML: a configuration file is refused, never ignored. */
#include "source/config/config.h"

#include <errno.h>

int watt_config_parse(const char *text, size_t len, const char *name, const struct watt_log *log,
		      struct watt_config **ret)
{
	watt_log(log, WATT_LOG_ERROR,
		 "%s: this build reads no configuration files; build it with libfyaml", name);
	return -EOPNOTSUPP;
}

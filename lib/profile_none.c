/* SPDX-License-Identifier: Apache-2.0 */
/* Stands in for profile_file.c where there is no jansson. */
#include <errno.h>

#include "base/log.h"
#include "base/profile.h"

int watt_profile_parse(const char *text, size_t len, watt_log_fn fn, void *data,
		       struct watt_profile **ret)
{
	const struct watt_log log = { fn, data };

	(void)text, (void)len, (void)ret;
	watt_log(&log, WATT_LOG_ERROR, "no profile can be read: this was built without jansson");
	return -EOPNOTSUPP;
}

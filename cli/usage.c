/* SPDX-License-Identifier: Apache-2.0 */
#include "usage.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "message.h"
#include "text.h"

const char *usage_text(const struct watt_session *ses, char *buf, size_t size)
{
	const char *name = watt_session_get_usage_name(ses), *why = watt_session_get_usage_why(ses);
	char clean[640];

	if (*why)
		snprintf(buf, size, "%s (not by %s)", name, text_clean(clean, sizeof(clean), why));
	else
		snprintf(buf, size, "%s", name);
	return buf;
}

const char *usage_untold(enum watt_status users_status)
{
	switch (users_status) {
	case WATT_STATUS_FORBIDDEN:
		return "is told by pids of another namespace, and not known here "
		       "(--pid=host, hostPID)";
	case WATT_STATUS_STALE:
		return "is not told any more";
	default:
		return NULL;
	}
}

int usage_check_command(const struct watt_session *ses, char *const *argv)
{
	char clean[128];

	if (!argv || strcmp(watt_session_get_usage_name(ses), "synth") != 0)
		return 0;
	message_error("'%s' would run here, but --usage=synth knows only what the simulated "
		      "machine runs; leave that option out",
		      text_clean(clean, sizeof(clean), argv[0]));
	return -EINVAL;
}

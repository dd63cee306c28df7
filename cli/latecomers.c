/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks a session whom it waits for, and who is broken. Why, and what is absent, is doctor's to tell.
 */
#include "latecomers.h"

#include <stdbool.h>
#include <stdio.h>

static char *list(const struct watt_session *ses, bool is_broken, char *buf, size_t size)
{
	enum watt_status status;
	const char *name;
	size_t i, n = 0;

	buf[0] = '\0';
	for (i = 0; (name = watt_session_get_source(ses, i, &status)) && n < size; i++) {
		if (is_broken && status == WATT_STATUS_BROKEN)
			n += (size_t)snprintf(buf + n, size - n, "%s%s", n ? ", " : "", name);
		else if (!is_broken &&
			 (status == WATT_STATUS_PENDING || status == WATT_STATUS_STALE))
			n += (size_t)snprintf(buf + n, size - n, "%s%s (%s)", n ? ", " : "", name,
					      watt_status_name(status));
	}
	return buf;
}

char *latecomers_list(const struct watt_session *ses, char *buf, size_t size)
{
	return list(ses, false, buf, size);
}

char *latecomers_list_broken(const struct watt_session *ses, char *buf, size_t size)
{
	return list(ses, true, buf, size);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "usage.h"

#include <stdio.h>

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

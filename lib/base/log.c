/* SPDX-License-Identifier: Apache-2.0 */
/* Formats a line and hands it to the session's callback. */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

void watt_log(const struct watt_log *log, enum watt_log_level level, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	if (!log || !log->fn)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	log->fn(log->data, level, text);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Hands text to the session's callback. It must not print, and forgets what nobody hears. */
#ifndef WATT_BASE_LOG_H
#define WATT_BASE_LOG_H

#include <wattribute/options.h>

struct watt_log {
	watt_log_fn fn; /* NULL: nobody listens */
	void *data;
};

/* NULL is allowed. One line, without a newline, at most 1,023 bytes. Thread-safe. */
__attribute__((format(printf, 3, 4))) void
watt_log(const struct watt_log *log, enum watt_log_level level, const char *fmt, ...);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Lends libbpf the session's log while one thread loads an object. It must not print. */
#include "source/host/bpf_log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

/*
 * libbpf has one print function for the whole process. It is ours only while this thread loads;
 * what other threads print meanwhile is dropped.
 */
static _Thread_local const struct watt_log *print_log;

__attribute__((format(printf, 2, 0))) static int print(enum libbpf_print_level level,
						       const char *fmt, va_list ap)
{
	_cleanup_free_ char *text = NULL;
	char *rest, *line;

	if (!print_log || !print_log->fn || level == LIBBPF_DEBUG)
		return 0;
	/* The verifier's log can be long, and its last line says most. */
	if (vasprintf(&text, fmt, ap) < 0) {
		text = NULL;
		return 0;
	}
	rest = text;
	while ((line = strsep(&rest, "\n")))
		if (*line)
			watt_log(print_log, WATT_LOG_DEBUG, "%s", line);
	return 0;
}

libbpf_print_fn_t watt_bpf_log_begin(const struct watt_log *log)
{
	print_log = log;
	return libbpf_set_print(print);
}

void watt_bpf_log_end(libbpf_print_fn_t before)
{
	libbpf_set_print(before);
	print_log = NULL;
}

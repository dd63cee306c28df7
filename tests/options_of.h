/* SPDX-License-Identifier: Apache-2.0 */
/* Options in one expression, for tests and benches of the public interface. */
#ifndef WATT_TESTS_OPTIONS_OF_H
#define WATT_TESTS_OPTIONS_OF_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <wattribute/session.h>

/* Names and values, ended by NULL: options_of("sources", "synth", "slice", "10ms", NULL). */
static inline struct watt_options *options_of(const char *name, ...)
{
	struct watt_options *options = NULL;
	va_list ap;

	if (watt_options_new(&options) < 0)
		abort();
	va_start(ap, name);
	for (; name; name = va_arg(ap, const char *)) {
		if (watt_options_set(options, name, va_arg(ap, const char *)) == 0)
			continue;
		fprintf(stderr, "option %s: %s\n", name, watt_options_get_problem(options));
		abort();
	}
	va_end(ap);
	return options;
}

/* Opens a session and frees the options. As watt_session_open(). */
static inline int open_by(struct watt_options *options, struct watt_session **ret)
{
	int r = watt_session_open(options, ret);

	watt_options_free(options);
	return r;
}

#endif

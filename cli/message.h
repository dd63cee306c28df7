/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the command has to say besides its data: one line each, on standard error, with the name
 * of the command in front. While a full screen is open, lines wait for it to be closed.
 * Thread-safe: the library's log callback comes from any thread.
 */
#ifndef WATT_CLI_MESSAGE_H
#define WATT_CLI_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>

#include <wattribute/session.h>

/* "wattribute stat" from now on in front of each line; the string is kept. */
void message_set_name(const char *name);
/* How much of the library's log is shown: 0 errors and warnings, 1 information, 2 all. */
void message_set_verbosity(int verbosity);
__attribute__((format(printf, 1, 2))) void message_error(const char *format, ...);
__attribute__((format(printf, 1, 2))) void message_note(const char *format, ...);
/* A mistake in the command line: the line, and where help is. Returns the exit status. */
__attribute__((format(printf, 1, 2))) int message_usage(const char *format, ...);
/* Errors shown so far, those of the library included. */
unsigned int message_get_error_count(void);

/* The log callback of sessions. */
void message_log(void *data, enum watt_log_level level, const char *text);

/* Keep lines back from the terminal; the newest is for the status line ("" if there is none). */
void message_defer(void);
void message_get_deferred(char *buf, size_t size);
/* Prints what was deferred. */
void message_release(void);

#endif

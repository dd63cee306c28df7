/* SPDX-License-Identifier: Apache-2.0 */
/* How CPU time is counted, for people. */
#ifndef WATT_CLI_USAGE_H
#define WATT_CLI_USAGE_H

#include <stddef.h>

#include <wattribute/session.h>

#define USAGE_TEXT_SIZE 768

/* "bpf", or "procfs (not by bpf: loading BPF programs is not permitted; run as root)". */
const char *usage_text(const struct watt_session *ses, char *buf, size_t size);

/*
 * Why nobody is known to use a domain who may, as the end of a sentence that begins with "Who uses
 * it"; NULL: it is told who does, or is too early to tell.
 */
const char *usage_untold(enum watt_status users_status);

/* Whether a command's CPU time can be counted at all. 0; -EINVAL: it can't, which was said. */
int usage_check_command(const struct watt_session *ses, char *const *argv);

#endif

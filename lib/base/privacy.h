/* SPDX-License-Identifier: Apache-2.0 */
/* Which command lines are told, and how. Thread-safe. */
#ifndef WATT_BASE_PRIVACY_H
#define WATT_BASE_PRIVACY_H

#include <stdbool.h>

#include <wattribute/entity.h>
#include <wattribute/options.h>

/* Whose uid is not known is nobody of one's own. */
bool watt_privacy_shows(enum watt_privacy privacy, uint32_t owner_uid,
			const struct watt_identity *identity);
/*
 * What may be told of a command line, of arguments as watt_redact() takes them: shorter, or as it
 * was. Returns the new length.
 */
size_t watt_privacy_apply(enum watt_privacy privacy, char *bytes, size_t len);
/*
 * What may be told of the command that is measured, one's own: *ret is the caller's to free; NULL
 * stays NULL. 0 or -ENOMEM.
 */
int watt_privacy_tell_command(enum watt_privacy privacy, const char *command, char **ret);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The text of a profile, before anybody looks into it. */
#ifndef WATT_PROFILE_TEXT_H
#define WATT_PROFILE_TEXT_H

#include "base/log.h"

/* A profile has no more bytes. */
#define WATT_PROFILE_TEXT_MAX ((size_t)16 << 20)

/*
 * Reads a file; NUL-terminated, the caller's. 0; -EFBIG; -ENOMEM; an error of the system. What is
 * wrong is told.
 */
int watt_profile_slurp(const char *path, const struct watt_log *log, char **ret, size_t *ret_len);

#endif

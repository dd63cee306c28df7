/* SPDX-License-Identifier: Apache-2.0 */
/* Names of users, from the text of a passwd file. */
#ifndef WATT_SOURCE_META_PASSWD_H
#define WATT_SOURCE_META_PASSWD_H

#include <stddef.h>
#include <stdint.h>

/*
 * Name of the first line with this uid: 0, -ENOENT, -ENAMETOOLONG (ret untouched). Lines that are
 * no entry (comments, "+::", cut ones) are left out. Thread-safe.
 */
int watt_passwd_find(const char *text, uint32_t uid, char *buf, size_t size);

/*
 * The same of the home in that line, without the '/' it begins with. -ENOENT also where it has
 * none, or one that leads out of the root.
 */
int watt_passwd_find_home(const char *text, uint32_t uid, char *buf, size_t size);

#endif

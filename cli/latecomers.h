/* SPDX-License-Identifier: Apache-2.0 */
/* Power sources that are not open yet, or hang: what every output has to say of a session. */
#ifndef WATT_CLI_LATECOMERS_H
#define WATT_CLI_LATECOMERS_H

#include <stddef.h>

#include <wattribute/session.h>

/* "hwmon (pending), iio (stale)"; "" if there are none. Returns buf. */
char *latecomers_list(const struct watt_session *ses, char *buf, size_t size);
/* "nvml": those that are there and can't be used; "": none. Returns buf. */
char *latecomers_list_broken(const struct watt_session *ses, char *buf, size_t size);

#endif

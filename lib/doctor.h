/* SPDX-License-Identifier: Apache-2.0 */
/* watt_doctor() for those who choose how long it may take. */
#ifndef WATT_DOCTOR_H
#define WATT_DOCTOR_H

#include <wattribute/session.h>

/* As watt_doctor(); who has not answered after limit_ns is broken, and is left behind. */
int watt_doctor_within(const struct watt_options *options, uint64_t limit_ns, struct watt_diag *ret,
		       size_t *ret_n);

#endif

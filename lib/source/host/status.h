/* SPDX-License-Identifier: Apache-2.0 */
/* What a failed read says about a sample. */
#ifndef WATT_SOURCE_HOST_STATUS_H
#define WATT_SOURCE_HOST_STATUS_H

#include <wattribute/diag.h>
#include <wattribute/types.h>

/* r: what a read returned; 0 or more is OK. Thread-safe. */
enum watt_status watt_status_from_errno(int r);
/* r: what an open returned; 0 or more is available. Thread-safe. */
enum watt_availability watt_availability_from_errno(int r);
/* What went wrong with a file or an event, for people: "its number is out of range". Never NULL. */
const char *watt_error_text(int r);

#endif

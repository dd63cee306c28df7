/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kubernetes' notation for amounts: "250m" CPUs, "128Mi" bytes. It must not round down, nor
 * allocate. Thread-safe.
 */
#ifndef WATT_SOURCE_META_QUANTITY_H
#define WATT_SOURCE_META_QUANTITY_H

#include <stddef.h>

#include "base/util.h"

#define WATT_QUANTITY_ONE 1000000000 /* parts of one unit */
/* The greatest one; what is more is this. */
#define WATT_QUANTITY_MAX ((watt_i128)INT64_MAX * WATT_QUANTITY_ONE)
#define WATT_QUANTITY_TEXT_SIZE 40

/*
 * In billionths of the unit; what is finer is rounded away from zero. -EBADMSG: it is none: white
 * space, a suffix that there is not, digits that are missing.
 */
int watt_quantity_parse(const char *text, watt_i128 *ret);
/* "0.25", "134217728": without a suffix, as short as it can be. Returns buf. */
const char *watt_quantity_print(watt_i128 quantity, char *buf, size_t size);

#endif

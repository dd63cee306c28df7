/* SPDX-License-Identifier: Apache-2.0 */
/* What a text from a file must be before anybody prints it. Pure functions. Thread-safe. */
#ifndef WATT_RECORD_TEXT_H
#define WATT_RECORD_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Valid UTF-8 without control characters; "" is. */
bool watt_text_is_printable(const char *text, size_t len);

#endif

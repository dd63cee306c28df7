/* SPDX-License-Identifier: Apache-2.0 */
/* Secrets in command lines, found by how programs are given them. Thread-safe. */
#ifndef WATT_BASE_REDACT_H
#define WATT_BASE_REDACT_H

#include <stddef.h>

/*
 * Puts up to three '*' in the place of each password, token and key that it recognizes. bytes:
 * arguments as procfs has them, each ended by a NUL, or one line with spaces between them. Where
 * an argument begins with what is secret, all the rest of it is. Returns the new length, at most
 * len: nothing grows. Doing it again hides no less. Linear in len.
 */
size_t watt_redact(char *bytes, size_t len);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* All diagnoses of a machine, for who looks at them or has a line to say of them. */
#ifndef WATT_CLI_DIAGS_H
#define WATT_CLI_DIAGS_H

#include <stddef.h>

#include <wattribute/diag.h>
#include <wattribute/session.h>

/* All diagnoses that the library has; the caller frees the array. 0 or a negative errno. */
int diags_get(const struct watt_options *options, struct watt_diag **ret, size_t *ret_n);
/*
 * For a user who is not root: prints in one line which sources root or a capability would add.
 * Prints nothing where nothing is forbidden.
 */
void diags_note_privilege(const struct watt_options *options);

#endif

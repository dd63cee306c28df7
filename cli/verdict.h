/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The conclusion from all diagnoses: can energy be measured here, how well, and what would make
 * it better.
 */
#ifndef WATT_CLI_VERDICT_H
#define WATT_CLI_VERDICT_H

#include <stdbool.h>
#include <stddef.h>

#include <wattribute/diag.h>
#include <wattribute/session.h>

struct verdict {
	bool is_possible; /* some power, measured or estimated, and somebody to share it among */
	bool is_measured; /* at least a part of it is measured */
	char text[1024];  /* one or two sentences */
};

void verdict_draw(const struct watt_diag *diags, size_t n, struct verdict *ret);
/* All diagnoses that the library has; the caller frees the array. */
int diags_get(const struct watt_options *options, struct watt_diag **ret, size_t *ret_n);
/*
 * For a user who is not root: prints in one line which sources root or a capability would add.
 * Prints nothing where nothing is forbidden.
 */
void verdict_note_privilege(const struct watt_options *options);

#endif

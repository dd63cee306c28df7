/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the library until there is room for all that it has to say. */
#include "diags.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "message.h"
#include "xalloc.h"

#define DIAGS_FIRST 32

int diags_get(const struct watt_options *options, struct watt_diag **ret, size_t *ret_n)
{
	struct watt_diag *diags = NULL;
	size_t room = DIAGS_FIRST, n;
	int r;

	for (;;) {
		diags = xrealloc(diags, room, sizeof(*diags));
		n = room;
		diags[0].sz = sizeof(diags[0]);
		r = watt_doctor(options, diags, &n);
		if (r < 0) {
			xfree_pointer(&diags);
			return r;
		}
		if (n <= room)
			break;
		room = n;
	}
	*ret = diags;
	*ret_n = n;
	return 0;
}

void diags_note_privilege(const struct watt_options *options)
{
	auto_free struct watt_diag *diags = NULL;
	char list[256] = "";
	size_t n = 0, i, used = 0;

	if (geteuid() == 0 || diags_get(options, &diags, &n) < 0)
		return;
	for (i = 0; i < n && used < sizeof(list); i++) {
		bool is_partly = diags[i].state == WATT_AVAILABLE && diags[i].error == -EACCES;

		if ((is_partly || diags[i].state == WATT_FORBIDDEN) && !diags[i].is_test)
			used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s%s",
						 used ? ", " : "", is_partly ? "more of " : "",
						 diags[i].source);
	}
	if (used > 0)
		message_note(
			"not root: root would add %s (wattribute doctor says which capability is "
			"enough)",
			list);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as podman's database: what is believed is whole, bounded, and of that id. */
#include "fuzz.h"

#include <string.h>

#include "source/meta/state_file.h"

#define ID "aa"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct watt_answer answer;
	const struct watt_container *c = &answer.container;
	int r = watt_libpod_parse((const char *)data, size, ID, &answer);

	check(r <= 0);
	if (r < 0)
		return 0;
	check(answer.kind == WATT_ASK_CONTAINER && !strcmp(c->id, ID));
	check(c->name || c->pod_name);
	check(!c->name || (c->name[0] && strlen(c->name) <= WATT_STATE_NAME_MAX));
	check(!c->pod_name || (c->pod_uid && strlen(c->pod_uid) == 64));
	check(c->n_labels <= WATT_STATE_LABELS_MAX);
	watt_answer_done(&answer);
	return 0;
}

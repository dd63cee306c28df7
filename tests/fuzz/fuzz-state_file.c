/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as the state of each runtime: what is believed is whole, bounded, and of that id. */
#include "fuzz.h"

#include <string.h>

#include "source/meta/state_file.h"

#define ID "aa"

static void look(int r, struct watt_answer *answer)
{
	const struct watt_container *c = &answer->container;
	uint32_t i;

	check(r <= 0);
	if (r < 0)
		return;
	check(answer->kind == WATT_ASK_CONTAINER && !strcmp(c->id, ID));
	check(c->name || c->pod_name);
	check(!c->name || (c->name[0] && strlen(c->name) <= WATT_STATE_NAME_MAX));
	check(c->n_labels <= WATT_STATE_LABELS_MAX);
	for (i = 0; i < c->n_labels; i++)
		check(strlen(c->labels[i].key) <= WATT_STATE_NAME_MAX &&
		      strlen(c->labels[i].value) <= WATT_STATE_LABEL_MAX);
	watt_answer_done(answer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct watt_answer answer;
	const char *text = (const char *)data;

	look(watt_docker_parse(text, size, ID, &answer), &answer);
	look(watt_storage_parse(text, size, ID, &answer), &answer);
	look(watt_bundle_parse(text, size, ID, &answer), &answer);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a list of pods, cut anywhere, and as amounts: what is believed is whole. */
#include "fuzz.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/pieces.h"
#include "source/meta/kubernetes/pod.h"
#include "source/meta/kubernetes/quantity.h"

static void look_at_amount(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size), plain[WATT_QUANTITY_TEXT_SIZE];
	watt_i128 amount, again;

	if (text && watt_quantity_parse(text, &amount) == 0) {
		check(amount <= WATT_QUANTITY_MAX && amount >= -WATT_QUANTITY_MAX);
		check(watt_quantity_parse(watt_quantity_print(amount, plain, sizeof(plain)),
					  &again) == 0);
		check(amount == again);
	}
	free(text);
}

static int take(void *data, const char *key, const char *text, size_t len)
{
	struct watt_pod_index *index = data;
	static const struct watt_pod_stamp now = { 1, UINT64_MAX };
	struct watt_answer answer;
	struct watt_pod pod;
	char id[WATT_CONTAINER_ID_MAX];
	size_t i, n_new;

	check(key && len <= 4096 && text[0] == '{' && text[len - 1] == '}');
	if (watt_pod_parse(text, len, &pod) < 0)
		return 0;
	check(pod.n > 0 && pod.uid && pod.uid[0]);
	for (i = 1; i < pod.n; i++)
		check(strlen(pod.containers[i].is.id) < sizeof(id));
	id[0] = '\0';
	if (pod.n > 1)
		strcpy(id, pod.containers[1].is.id);
	n_new = watt_pod_index_take(index, &pod, &now);
	check(n_new <= index->containers.n);
	if (id[0] && watt_pod_index_find(index, id, &answer) == 0) {
		check(!strcmp(answer.container.id, id) && answer.container.pod_uid);
		watt_answer_done(&answer);
	}
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum watt_pieces_of of = size && data[size - 1] == '\n' ? WATT_PIECES_STREAM :
								  WATT_PIECES_LIST;
	struct watt_pod_index index;
	struct watt_pieces pieces = { .of = of, .max_len = 4096, .fn = take, .data = &index };
	size_t at = 0, n;

	look_at_amount(data, size);
	if (watt_pod_index_init(&index) < 0)
		return 0;
	for (; at < size; at += n) {
		n = 1 + data[at] % 7;
		n = n < size - at ? n : size - at;
		watt_pieces_feed(&pieces, (const char *)data + at, n);
	}
	check(watt_pieces_end(&pieces) <= 0);
	watt_pieces_done(&pieces);
	watt_pod_index_done(&index);
	return 0;
}

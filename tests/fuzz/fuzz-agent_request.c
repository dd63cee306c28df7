/* SPDX-License-Identifier: Apache-2.0 */
/* What the agent itself reads of a request, and addresses: any text has an answer. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "address.h"
#include "exposition.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	union address addresses[ADDRESSES_MAX], again[ADDRESSES_MAX];
	char *text = strndup((const char *)data, size);
	char error[256] = "", printed[ADDRESS_TEXT_MAX];
	struct bytes labels = { 0 };
	int n, i;

	if (!text)
		return 0;
	check(exposition_choose(text) < EXPOSITION_N);
	exposition_add_label(&labels, "a", text);
	check(!*text || (labels.n >= 4 && !strchr(labels.data, '\n')));
	n = addresses_parse(text, addresses, error, sizeof(error));
	check(n > 0 ? n <= ADDRESSES_MAX : error[0]);
	for (i = 0; i < n; i++) {
		address_print(&addresses[i], printed);
		check(addresses_parse(printed, again, error, sizeof(error)) == 1);
		check(memcmp(&addresses[i], &again[0], sizeof(again[0])) == 0);
	}
	bytes_done(&labels);
	free(text);
	return 0;
}

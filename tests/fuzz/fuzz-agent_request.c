/* SPDX-License-Identifier: Apache-2.0 */
/* What the agent itself reads of requests and answers, and addresses: any text has an answer. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "address.h"
#include "exposition.h"
#include "otlp.h"

/* All else is told as what it is not. */
static bool is_printable(const char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text > '~')
			return false;
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	union address addresses[ADDRESSES_MAX], again[ADDRESSES_MAX];
	char *text = strndup((const char *)data, size);
	char error[256] = "", printed[ADDRESS_TEXT_MAX], name[4], value[64];
	struct bytes labels = { 0 };
	const char *next = text;
	int n, i;

	if (!text)
		return 0;
	check(exposition_choose(text) < EXPOSITION_N);
	exposition_add_label(&labels, "a", text);
	check(!*text || (labels.n >= 4 && !strchr(labels.data, '\n')));
	if (*text && strlen(text) < sizeof(value) && is_printable(text)) {
		check(*exposition_next_label(labels.data, name, sizeof(name), value,
					     sizeof(value)) == '\0');
		check(!strcmp(name, "a") && !strcmp(value, text));
	}
	while (next &&
	       (next = exposition_next_label(next, name, sizeof(name), value, sizeof(value))))
		;
	otlp_rejected_points((const char *)data, size);
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

/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as a line of an upsd. */
#include "fuzz.h"

#include <errno.h>
#include <string.h>

#include "source/power/nut/nut_line.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct watt_nut_line line;
	int64_t value = -1;
	char *text = malloc(size + 1);
	size_t total = 0;
	unsigned int i;
	int r;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	r = watt_nut_line_parse(text, &line);
	check(r == 0 || r == -EBADMSG || r == -EMSGSIZE);
	check(line.n_words <= WATT_NUT_WORDS_MAX);
	for (i = 0; r == 0 && i < line.n_words; i++)
		total += strlen(line.words[i]) + 1;
	check(total <= sizeof(line.text));
	if (r == 0) {
		check(watt_nut_line_error(&line) <= 0);
		r = watt_nut_line_value(&line, "rack", "ups.load", &value);
		check(r == 0 || r == -EBADMSG || r == -ERANGE);
		check((r == 0) == (value >= 0));
	}
	free(text);
	return 0;
}

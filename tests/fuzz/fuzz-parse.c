/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything in base/parse.h on arbitrary text. What parses must print back to the same value.
 */
#include "fuzz.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"

static int count_cpu(unsigned int cpu, void *data)
{
	check(cpu < 65536);
	(*(unsigned int *)data)++;
	return 0;
}

static void try_numbers(const char *text)
{
	uint64_t num = 0, den = 0;
	uint64_t u = 0, again = 0;
	int64_t i = 0, i_again = 0;
	char printed[32];

	if (watt_parse_u64(text, &u) == 0) {
		snprintf(printed, sizeof(printed), "%" PRIu64, u);
		check(watt_parse_u64(printed, &again) == 0 && again == u);
	}
	if (watt_parse_i64(text, &i) == 0) {
		snprintf(printed, sizeof(printed), "%" PRId64, i);
		check(watt_parse_i64(printed, &i_again) == 0 && i_again == i);
	}
	if (watt_parse_hex(text, &u) == 0) {
		snprintf(printed, sizeof(printed), "%" PRIx64, u);
		check(watt_parse_hex(printed, &again) == 0 && again == u);
	}
	if (watt_parse_ratio(text, &num, &den) == 0)
		check(num > 0 && den > 0);
}

static void try_tables(const char *text)
{
	const char *cursor = text;
	unsigned int n_cpus = 0;
	uint64_t value;
	char name[64];

	while (watt_scan_u64(&cursor, &value) == 0)
		check(cursor > text && cursor <= text + strlen(text));
	watt_parse_cpulist(text, count_cpu, &n_cpus);
	check(watt_clean_name(text, name, sizeof(name)) == strlen(name));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text;

	/* A list such as 0-65535 repeated is slow without being wrong. */
	if (size > 256)
		return 0;
	text = strndup((const char *)data, size);
	if (!text)
		return 0;
	try_numbers(text);
	try_tables(text);
	free(text);
	return 0;
}

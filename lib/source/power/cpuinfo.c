/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text of /proc/cpuinfo, one CPU at a time, as far as it tells the microarchitecture.
 * It must not read files, and a line that makes no sense must not end anything.
 */
#include "source/power/cpuinfo.h"

#include <stdbool.h>
#include <string.h>

#include "base/parse.h"
#include "base/util.h"

/* One line, "key<blanks>: value", cut into its two ends. */
struct line {
	char key[32];
	char value[128];
};

/* Copies [from, to) without white space at its ends. */
static void copy_trimmed(char *dst, size_t size, const char *from, const char *to)
{
	size_t n;

	while (from < to && strchr(" \t\r", *from))
		from++;
	while (to > from && strchr(" \t\r", to[-1]))
		to--;
	n = WATT_MIN((size_t)(to - from), size - 1);
	memcpy(dst, from, n);
	dst[n] = '\0';
}

static bool split_line(const char *begin, const char *end, struct line *ret)
{
	const char *colon = memchr(begin, ':', (size_t)(end - begin));

	if (!colon)
		return false;
	copy_trimmed(ret->key, sizeof(ret->key), begin, colon);
	copy_trimmed(ret->value, sizeof(ret->value), colon + 1, end);
	return true;
}

static void take_u32(const char *text, uint32_t *ret)
{
	uint64_t value;

	if (watt_parse_u64(text, &value) == 0 && value <= UINT32_MAX)
		*ret = (uint32_t)value;
}

static void take_hex(const char *text, uint32_t *ret)
{
	uint64_t value;

	if (watt_parse_hex(text, &value) == 0 && value <= UINT32_MAX)
		*ret = (uint32_t)value;
}

/* "cpu family", "model" and "stepping" are decimal, those of Arm hexadecimal. */
static void take_line(const struct line *line, struct watt_cpuinfo *info)
{
	if (!strcmp(line->key, "vendor_id"))
		watt_strlcpy(info->vendor, line->value, sizeof(info->vendor));
	else if (!strcmp(line->key, "cpu family"))
		take_u32(line->value, &info->family);
	else if (!strcmp(line->key, "model"))
		take_u32(line->value, &info->model);
	else if (!strcmp(line->key, "stepping"))
		take_u32(line->value, &info->stepping);
	else if (!strcmp(line->key, "model name"))
		watt_strlcpy(info->name, line->value, sizeof(info->name));
	else if (!strcmp(line->key, "CPU implementer"))
		take_hex(line->value, &info->implementer);
	else if (!strcmp(line->key, "CPU part"))
		take_hex(line->value, &info->part);
}

/* The number of the CPU that begins with this line; false: none does. */
static bool begins_cpu(const struct line *line, uint32_t *ret)
{
	uint64_t cpu;

	if (strcmp(line->key, "processor") || watt_parse_u64(line->value, &cpu) < 0 ||
	    cpu > UINT32_MAX)
		return false;
	*ret = (uint32_t)cpu;
	return true;
}

int watt_cpuinfo_next(const char **cursor, struct watt_cpuinfo *ret)
{
	struct watt_cpuinfo info = { 0 };
	bool has_begun = false;
	const char *p, *end;
	struct line line;
	uint32_t cpu;

	for (p = *cursor; *p; p = *end ? end + 1 : end) {
		end = strchrnul(p, '\n');
		if (!split_line(p, end, &line))
			continue;
		if (!begins_cpu(&line, &cpu)) {
			if (has_begun)
				take_line(&line, &info);
			continue;
		}
		if (has_begun)
			break;
		has_begun = true;
		info.cpu = cpu;
	}
	*cursor = p;
	if (!has_begun)
		return 1;
	*ret = info;
	return 0;
}

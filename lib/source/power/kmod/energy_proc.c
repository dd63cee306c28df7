/* SPDX-License-Identifier: Apache-2.0 */
#include "source/power/kmod/energy_proc.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/parse.h"
#include "base/util.h"

#define PREFIX "rapl_package-"
#define SUFFIX "_uj"

/* A second platform counter has its package in its name, as powercap does it. */
static int parse_psys(const char *package, struct watt_rapl_zone *ret)
{
	const char *number = strchr(package, '-') + 1;
	char name[64];

	if (!strcmp(number, "0"))
		return watt_rapl_zone_parse(NULL, "psys", ret);
	snprintf(name, sizeof(name), "psys-%s", number);
	return watt_rapl_zone_parse(NULL, name, ret);
}

/* "package-0_dram" in two. */
static int parse_zone(char *package, struct watt_rapl_zone *ret)
{
	char *part = strchr(package, '_');
	int r;

	if (part)
		*part++ = '\0';
	if (part && !strcmp(part, "psys"))
		r = parse_psys(package, ret);
	else if (part)
		r = watt_rapl_zone_parse(package, part, ret);
	else
		r = watt_rapl_zone_parse(NULL, package, ret);
	return r < 0 ? -EBADMSG : 0;
}

int watt_energy_rapl_parse(const char *line, struct watt_rapl_zone *ret, uint64_t *ret_uj)
{
	const char *equals = strchr(line, '=');
	struct watt_rapl_zone zone;
	uint64_t energy_uj;
	char package[64];
	size_t len;
	int r;

	if (strncmp(line, PREFIX, strlen(PREFIX)) != 0)
		return -ENOENT;
	line += strlen("rapl_");
	len = equals ? (size_t)(equals - line) : 0;
	if (len <= strlen(SUFFIX) || len >= sizeof(package) ||
	    strncmp(equals - strlen(SUFFIX), SUFFIX, strlen(SUFFIX)) != 0)
		return -EBADMSG;
	watt_strlcpy(package, line, len - strlen(SUFFIX) + 1);
	r = parse_zone(package, &zone);
	if (r == 0)
		r = watt_parse_u64(equals + 1, &energy_uj);
	if (r == 0 && energy_uj > INT64_MAX)
		r = -ERANGE;
	if (r < 0)
		return r;
	*ret = zone;
	*ret_uj = energy_uj;
	return 0;
}

/* "key=" at the beginning of *cursor, and the number behind it. */
static int scan_key(const char **cursor, const char *key, uint64_t *ret)
{
	size_t len = strlen(key);

	if (strncmp(*cursor, key, len) != 0)
		return -EBADMSG;
	*cursor += len;
	return watt_scan_u64(cursor, ret);
}

/* ".457": exactly three digits. */
static int scan_milli(const char **cursor, uint64_t *ret)
{
	const char *point = *cursor;
	int r;

	if (*point != '.')
		return -EBADMSG;
	*cursor = point + 1;
	r = watt_scan_u64(cursor, ret);
	if (r < 0)
		return r;
	return *cursor == point + 4 && point[1] != ' ' ? 0 : -EBADMSG;
}

int watt_energy_record_parse(const char *line, struct watt_energy_record *ret)
{
	const char *cursor = line, *time;
	uint64_t pid, whole_uj, nj, end_ns;
	int r;

	r = scan_key(&cursor, "pid=", &pid);
	if (r == 0)
		r = scan_key(&cursor, " energy=", &whole_uj);
	if (r == 0)
		r = scan_milli(&cursor, &nj);
	if (r < 0)
		return r;
	/* comm comes last and can say anything, this too */
	time = strstr(cursor, " window_time=");
	if (!time)
		return -EBADMSG;
	time++;
	r = scan_key(&time, "window_time=", &end_ns);
	if (r < 0)
		return r;
	if (whole_uj > INT64_MAX / 1000 - 1)
		return -ERANGE;
	ret->energy_nj = whole_uj * 1000 + nj;
	ret->window_end_ns = end_ns;
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Times from the command line. It must not accept what a person did not mean. */
#include "time_arg.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "options.h"
#include "xalloc.h"

#define NS 1000000000ULL
#define MAX_SECONDS (366ULL * 86400)

/* Digits, and as many behind a point as there are nanoseconds. Moves the cursor behind them. */
static int scan_decimal(const char **cursor, uint64_t unit_ns, uint64_t most, uint64_t *ret_ns)
{
	uint64_t whole = 0, ns = 0, digit_ns = unit_ns;
	const char *p = *cursor;

	if (!isdigit((unsigned char)*p))
		return -EINVAL;
	for (; isdigit((unsigned char)*p); p++) {
		whole = whole * 10 + (uint64_t)(*p - '0');
		if (whole > most)
			return -EINVAL;
	}
	if (*p == '.') {
		if (!isdigit((unsigned char)p[1]))
			return -EINVAL;
		for (p++; isdigit((unsigned char)*p); p++) {
			digit_ns /= 10;
			ns += (uint64_t)(*p - '0') * digit_ns;
		}
	}
	*cursor = p;
	*ret_ns = whole * unit_ns + ns;
	return 0;
}

/* "1h2m3.5s": units in the order of their size, each once; a bare number is of seconds. */
static int parse_since(const char *text, uint64_t *ret_ns)
{
	static const struct {
		const char *name;
		uint64_t unit_ns;
	} units[] = {
		{ "h", 3600 * NS }, { "min", 60 * NS },  { "m", 60 * NS },
		{ "s", NS },        { "ms", NS / 1000 }, { "us", NS / 1000000 },
	};
	uint64_t sum_ns = 0, least_ns = UINT64_MAX, part_ns;
	const char *p = text;

	while (*p || p == text) {
		const char *number = p;
		size_t len, i;

		if (scan_decimal(&p, NS, MAX_SECONDS * 1000000, &part_ns) < 0)
			return -EINVAL;
		len = strspn(p, "hminsu");
		if (!len && !*p && number == text)
			return scan_decimal(&number, NS, MAX_SECONDS, ret_ns);
		for (i = 0; i < ARRAY_SIZE(units); i++)
			if (strlen(units[i].name) == len && strncmp(units[i].name, p, len) == 0)
				break;
		if (i == ARRAY_SIZE(units) || units[i].unit_ns >= least_ns)
			return -EINVAL;
		least_ns = units[i].unit_ns;
		if (scan_decimal(&number, least_ns, MAX_SECONDS * NS / least_ns, &part_ns) < 0)
			return -EINVAL;
		sum_ns += part_ns;
		p += len;
	}
	*ret_ns = sum_ns;
	return 0;
}

static int scan_field(const char **cursor, size_t digits, int least, int most, int *ret)
{
	int value = 0;
	size_t i;

	for (i = 0; i < digits; i++) {
		if (!isdigit((unsigned char)(*cursor)[i]))
			return -EINVAL;
		value = value * 10 + ((*cursor)[i] - '0');
	}
	if (value < least || value > most)
		return -EINVAL;
	*cursor += digits;
	*ret = value;
	return 0;
}

static int scan_char(const char **cursor, const char *set)
{
	if (!**cursor || !strchr(set, **cursor))
		return -EINVAL;
	(*cursor)++;
	return 0;
}

/* "13:45", "13:45:00.5" */
static int scan_time(const char **cursor, struct tm *tm, uint64_t *ret_ns)
{
	uint64_t seconds_ns = 0;

	if (scan_field(cursor, 2, 0, 23, &tm->tm_hour) < 0 || scan_char(cursor, ":") < 0 ||
	    scan_field(cursor, 2, 0, 59, &tm->tm_min) < 0)
		return -EINVAL;
	if (scan_char(cursor, ":") == 0 &&
	    (!isdigit((unsigned char)(*cursor)[0]) || !isdigit((unsigned char)(*cursor)[1]) ||
	     scan_decimal(cursor, NS, 60, &seconds_ns) < 0))
		return -EINVAL;
	tm->tm_sec = (int)(seconds_ns / NS);
	*ret_ns = seconds_ns % NS;
	return 0;
}

/* "Z", "+01:00"; nothing: local time. */
static int scan_zone(const char **cursor, bool *ret_has_zone, int *ret_east_s)
{
	int hours, minutes, sign;

	*ret_has_zone = true;
	*ret_east_s = 0;
	if (scan_char(cursor, "Zz") == 0)
		return 0;
	if (!**cursor) {
		*ret_has_zone = false;
		return 0;
	}
	sign = **cursor == '-' ? -1 : 1;
	if (scan_char(cursor, "+-") < 0 || scan_field(cursor, 2, 0, 23, &hours) < 0)
		return -EINVAL;
	scan_char(cursor, ":");
	if (scan_field(cursor, 2, 0, 59, &minutes) < 0)
		return -EINVAL;
	*ret_east_s = sign * (hours * 60 + minutes) * 60;
	return 0;
}

static int parse_date(const char *text, uint64_t *ret_ns)
{
	struct tm tm = { .tm_isdst = -1 };
	bool has_zone;
	uint64_t rest_ns = 0;
	time_t seconds;
	int east_s, day;

	if (scan_field(&text, 4, 1970, 9999, &tm.tm_year) < 0 || scan_char(&text, "-") < 0 ||
	    scan_field(&text, 2, 1, 12, &tm.tm_mon) < 0 || scan_char(&text, "-") < 0 ||
	    scan_field(&text, 2, 1, 31, &tm.tm_mday) < 0 || scan_char(&text, "T ") < 0 ||
	    scan_time(&text, &tm, &rest_ns) < 0 || scan_zone(&text, &has_zone, &east_s) < 0 ||
	    *text)
		return -EINVAL;
	tm.tm_year -= 1900;
	tm.tm_mon--;
	day = tm.tm_mday;
	seconds = has_zone ? timegm(&tm) - east_s : mktime(&tm);
	if (seconds < 0 || tm.tm_mday != day) /* the 31st of February */
		return -EINVAL;
	*ret_ns = (uint64_t)seconds * NS + rest_ns;
	return 0;
}

static int parse_of_day(const char *text, uint64_t *ret_ns)
{
	struct tm tm = { 0 };
	uint64_t rest_ns = 0;

	if (scan_time(&text, &tm, &rest_ns) < 0 || *text)
		return -EINVAL;
	*ret_ns = (uint64_t)(tm.tm_hour * 3600 + tm.tm_min * 60 + tm.tm_sec) * NS + rest_ns;
	return 0;
}

static int parse_epoch(const char *text, uint64_t *ret_ns)
{
	if (scan_char(&text, "@") < 0 || scan_decimal(&text, NS, UINT32_MAX * 2ULL, ret_ns) < 0)
		return -EINVAL;
	return *text ? -EINVAL : 0;
}

int time_arg_parse(const char *text, struct time_arg *ret)
{
	static const struct {
		int (*parse)(const char *text, uint64_t *ret_ns);
		enum time_arg_kind kind;
	} forms[] = {
		{ parse_since, TIME_ARG_SINCE },
		{ parse_date, TIME_ARG_WALL },
		{ parse_of_day, TIME_ARG_OF_DAY },
		{ parse_epoch, TIME_ARG_WALL },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(forms); i++) {
		uint64_t ns;

		if (forms[i].parse(text, &ns) < 0)
			continue;
		*ret = (struct time_arg){ forms[i].kind, ns };
		return 0;
	}
	return -EINVAL;
}

int time_arg_take(const char *option, const char *text, struct time_arg *ret)
{
	if (time_arg_parse(text, ret) < 0)
		return options_bad_value(option, text,
					 "a time since the beginning such as 90s or 1m30s, or one "
					 "of the clock such as 13:45 or 2026-11-21T13:45:00Z");
	return 0;
}

static int64_t of_day_ns(uint64_t ns, uint64_t start_realtime_ns)
{
	time_t start_s = (time_t)(start_realtime_ns / NS);
	int64_t since_ns;
	struct tm tm;

	localtime_r(&start_s, &tm);
	tm.tm_hour = (int)(ns / NS / 3600);
	tm.tm_min = (int)(ns / NS / 60 % 60);
	tm.tm_sec = (int)(ns / NS % 60);
	tm.tm_isdst = -1;
	since_ns = (int64_t)((uint64_t)mktime(&tm) * NS + ns % NS - start_realtime_ns);
	if (since_ns >= -(int64_t)NS) /* a recording begins within its first second */
		return since_ns;
	tm.tm_mday++;
	tm.tm_isdst = -1;
	return (int64_t)((uint64_t)mktime(&tm) * NS + ns % NS - start_realtime_ns);
}

int64_t time_arg_since_ns(const struct time_arg *arg, uint64_t start_realtime_ns)
{
	switch (arg->kind) {
	case TIME_ARG_WALL:
		return (int64_t)(arg->ns - start_realtime_ns);
	case TIME_ARG_OF_DAY:
		return of_day_ns(arg->ns, start_realtime_ns);
	case TIME_ARG_NONE:
	case TIME_ARG_SINCE:
		break;
	}
	return (int64_t)arg->ns;
}

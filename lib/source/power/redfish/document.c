/* SPDX-License-Identifier: Apache-2.0 */
/* Tolerant where BMCs are known to differ, strict everywhere else. */
#include "source/power/redfish/document.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/parse.h"
#include "base/util.h"

/* More than any machine counts in any unit that is asked for. */
#define MAX_NUMBER 1e15
/* Of clocks that were never set. */
#define FIRST_YEAR 2010
#define LAST_YEAR 2200
#define LONGEST_S (366 * 86400.0)

int watt_redfish_parse(const char *text, size_t len, json_t **ret)
{
	json_error_t error;
	json_t *doc;

	if (!text)
		return -EBADMSG;
	doc = json_loadb(text, len, 0, &error);
	if (!doc) {
		switch (json_error_code(&error)) {
		case json_error_out_of_memory:
			return -ENOMEM;
		case json_error_stack_overflow:
			return -EMSGSIZE;
		default:
			return -EBADMSG;
		}
	}
	if (!json_is_object(doc)) {
		json_decref(doc);
		return -EBADMSG;
	}
	*ret = doc;
	return 0;
}

const char *watt_redfish_text(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

const char *watt_redfish_link(const json_t *object, const char *key)
{
	const char *link = watt_redfish_text(json_object_get(object, key), "@odata.id");

	return link && link[0] == '/' ? link : NULL;
}

/* The first message that says more than the error itself. */
static const json_t *first_message(const json_t *error)
{
	const json_t *list = json_object_get(error, "@Message.ExtendedInfo");

	return json_is_array(list) ? json_array_get(list, 0) : list;
}

static bool says(const char *id, const char *word)
{
	return id && strcasestr(id, word);
}

int watt_redfish_find_error(const json_t *doc, char *buf, size_t size)
{
	const json_t *error = json_object_get(doc, "error"), *info;
	const char *id, *text;

	if (!json_is_object(error))
		return 0;
	info = first_message(error);
	id = watt_redfish_text(info, "MessageId");
	if (!id)
		id = watt_redfish_text(error, "code");
	text = watt_redfish_text(info, "Message");
	if (!text)
		text = watt_redfish_text(error, "message");
	snprintf(buf, size, "%s%s%s", id ? id : "an error without a name", text ? ": " : "",
		 text ? text : "");
	if (says(id, "License") || says(id, "InsufficientPrivilege") || says(id, "AccessDenied"))
		return -EACCES;
	if (says(id, "ResourceMissing") || says(id, "ResourceNotFound"))
		return -ENOENT;
	return -EREMOTEIO;
}

static int parse_number(const char *text, double *ret)
{
	char *end;
	size_t i;

	/* strtod() knows more than numbers, and another decimal point in other places */
	for (i = 0; text[i]; i++)
		if (!isdigit((unsigned char)text[i]) && !strchr("+-.eE", text[i]))
			return -EBADMSG;
	if (i == 0 || i > 40)
		return -EBADMSG;
	*ret = strtod(text, &end);
	return *end ? -EBADMSG : 0;
}

int watt_redfish_number(const json_t *value, double *ret)
{
	double number;

	if (!value || json_is_null(value))
		return -ENODATA;
	if (json_is_string(value)) {
		if (!json_string_value(value)[0])
			return -ENODATA;
		if (parse_number(json_string_value(value), &number) < 0)
			return -EBADMSG;
	} else if (json_is_number(value)) {
		number = json_number_value(value);
	} else {
		return -EBADMSG;
	}
	if (!isfinite(number) || fabs(number) > MAX_NUMBER)
		return -EBADMSG;
	*ret = number;
	return 0;
}

/* Digits of a number with a fixed width. */
static int take_digits(const char **at, size_t n, int *ret)
{
	int value = 0;

	while (n-- > 0) {
		if (!isdigit((unsigned char)**at))
			return -EBADMSG;
		value = value * 10 + (*(*at)++ - '0');
	}
	*ret = value;
	return 0;
}

static int take_char(const char **at, const char *any)
{
	return **at && strchr(any, **at) ? (void)(*at)++, 0 : -EBADMSG;
}

/* What follows a decimal point, in ns; beyond nine digits nothing counts. */
static int take_fraction(const char **at, uint64_t *ret_ns)
{
	uint64_t unit_ns = WATT_NSEC_PER_SEC, ns = 0;

	if (**at != '.' && **at != ',')
		return 0;
	(*at)++;
	if (!isdigit((unsigned char)**at))
		return -EBADMSG;
	for (; isdigit((unsigned char)**at); (*at)++) {
		unit_ns /= 10;
		ns += unit_ns * (uint64_t)(**at - '0');
	}
	*ret_ns = ns;
	return 0;
}

static int take_zone(const char **at, int *ret_s)
{
	int sign, hours, minutes;

	if (**at == 'Z' || **at == 'z') {
		(*at)++;
		*ret_s = 0;
		return 0;
	}
	sign = **at == '-' ? -1 : 1;
	if (take_char(at, "+-") < 0 || take_digits(at, 2, &hours) < 0)
		return -EBADMSG;
	if (**at == ':')
		(*at)++;
	if (take_digits(at, 2, &minutes) < 0 || hours > 14 || minutes > 59)
		return -EBADMSG;
	*ret_s = sign * (hours * 3600 + minutes * 60);
	return 0;
}

static int take_clock(const char **at, struct tm *tm)
{
	if (take_digits(at, 4, &tm->tm_year) < 0 || take_char(at, "-") < 0 ||
	    take_digits(at, 2, &tm->tm_mon) < 0 || take_char(at, "-") < 0 ||
	    take_digits(at, 2, &tm->tm_mday) < 0 || take_char(at, "Tt ") < 0 ||
	    take_digits(at, 2, &tm->tm_hour) < 0 || take_char(at, ":") < 0 ||
	    take_digits(at, 2, &tm->tm_min) < 0 || take_char(at, ":") < 0 ||
	    take_digits(at, 2, &tm->tm_sec) < 0)
		return -EBADMSG;
	if (tm->tm_mon < 1 || tm->tm_mon > 12 || tm->tm_mday < 1 || tm->tm_mday > 31 ||
	    tm->tm_hour > 23 || tm->tm_min > 59 || tm->tm_sec > 60)
		return -EBADMSG;
	return 0;
}

int watt_redfish_time(const json_t *value, int64_t *ret_ns)
{
	const char *at = json_string_value(value);
	struct tm tm = { 0 };
	uint64_t fraction_ns = 0;
	int zone_s = 0, r;

	if (!at || !*at)
		return -ENODATA;
	r = take_clock(&at, &tm);
	if (r == 0)
		r = take_fraction(&at, &fraction_ns);
	if (r == 0)
		r = take_zone(&at, &zone_s);
	if (r < 0 || *at)
		return -EBADMSG;
	if (tm.tm_year < FIRST_YEAR)
		return -ENODATA;
	if (tm.tm_year > LAST_YEAR)
		return -EBADMSG;
	tm.tm_year -= 1900;
	tm.tm_mon -= 1;
	*ret_ns =
		((int64_t)timegm(&tm) - zone_s) * (int64_t)WATT_NSEC_PER_SEC + (int64_t)fraction_ns;
	return 0;
}

/* Seconds in a unit of a duration, behind the T or before it; 0: there is no such unit. */
static double seconds_of(char unit, bool is_time)
{
	switch (unit) {
	case 'D':
		return is_time ? 0 : 86400;
	case 'H':
		return is_time ? 3600 : 0;
	case 'M': /* months are of no length */
		return is_time ? 60 : 0;
	case 'S':
		return is_time ? 1 : 0;
	default:
		return 0;
	}
}

int watt_redfish_duration(const json_t *value, uint64_t *ret_ns)
{
	const char *at = json_string_value(value);
	bool is_time = false, any = false;
	double sum_s = 0, unit_s;
	uint64_t num, den;
	size_t len;

	if (!at || !*at)
		return -ENODATA;
	if (*at++ != 'P')
		return -EBADMSG;
	while (*at) {
		char text[24];

		if (*at == 'T' && !is_time) {
			is_time = true;
			at++;
			continue;
		}
		len = strspn(at, "0123456789.");
		if (!len || len >= sizeof(text))
			return -EBADMSG;
		snprintf(text, sizeof(text), "%.*s", (int)len, at);
		unit_s = seconds_of(at[len], is_time);
		num = 0;
		den = 1;
		if (!(unit_s > 0) ||
		    (strspn(at, "0.") < len && watt_parse_ratio(text, &num, &den) < 0))
			return -EBADMSG;
		sum_s += (double)num / (double)den * unit_s;
		at += len + 1;
		any = true;
	}
	if (!any || !(sum_s <= LONGEST_S))
		return -EBADMSG;
	*ret_ns = (uint64_t)(sum_s * 1e9);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads Prometheus' text of metrics, strictly, in both its forms: whatever the formats do not allow
 * is an error with its line. Written after the formats, not after what writes them here.
 */
#ifndef WATT_TESTS_METRICS_TEXT_H
#define WATT_TESTS_METRICS_TEXT_H

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define METRICS_FAMILIES_MAX 256
#define METRICS_SERIES_MAX 65536

struct metrics_series {
	char *text; /* name and labels, as written */
	double value;
	__int128 value_e9; /* exactly, in 1e-9; what has more places is an error where it is asked */
};

struct metrics_text {
	struct metrics_series *series;
	size_t n;
	char families[METRICS_FAMILIES_MAX][128];
	char types[METRICS_FAMILIES_MAX][16];
	size_t n_families;
	bool is_open;
	bool has_eof;
	char error[256];
};

static inline bool metrics_fail(struct metrics_text *mt, size_t line, const char *why)
{
	if (!mt->error[0])
		snprintf(mt->error, sizeof(mt->error), "line %zu: %s", line, why);
	return false;
}

static inline size_t metrics_name_length(const char *p)
{
	size_t n = 0;

	if (!isalpha((unsigned char)*p) && *p != '_' && *p != ':')
		return 0;
	while (isalnum((unsigned char)p[n]) || p[n] == '_' || p[n] == ':')
		n++;
	return n;
}

/* {name="value",...}: its length; 0: not valid. */
static inline size_t metrics_labels_length(const char *begin)
{
	const char *p = begin + 1;

	while (*p != '}') {
		size_t n = metrics_name_length(p);

		if (!n || memchr(p, ':', n) || p[n] != '=' || p[n + 1] != '"')
			return 0;
		for (p += n + 2; *p && *p != '"' && *p != '\n'; p++)
			if (*p == '\\' && (*++p != '\\' && *p != '"' && *p != 'n'))
				return 0;
		if (*p++ != '"')
			return 0;
		if (*p == ',')
			p++;
		else if (*p != '}')
			return 0;
	}
	return (size_t)(p + 1 - begin);
}

static inline bool metrics_value(const char *text, struct metrics_series *series)
{
	const char *p = text + (*text == '-');
	char *end;
	int places = 0;

	series->value = strtod(text, &end);
	if (end == text || *end)
		return false;
	for (; isdigit((unsigned char)*p); p++)
		series->value_e9 = series->value_e9 * 10 + (*p - '0');
	if (*p == '.')
		for (p++; isdigit((unsigned char)*p) && places < 9; p++, places++)
			series->value_e9 = series->value_e9 * 10 + (*p - '0');
	for (; places < 9; places++)
		series->value_e9 *= 10;
	if (*text == '-')
		series->value_e9 = -series->value_e9;
	return true;
}

/* Whether a sample of this name may stand in the family that was announced last. */
static inline bool metrics_is_of_family(const struct metrics_text *mt, const char *name, size_t n)
{
	const char *family, *type;
	size_t len;

	if (!mt->n_families)
		return false;
	family = mt->families[mt->n_families - 1];
	type = mt->types[mt->n_families - 1];
	len = strlen(family);
	if (n < len || strncmp(name, family, len) != 0)
		return false;
	name += len;
	n -= len;
	if (!mt->is_open)
		return n == 0;
	if (!strcmp(type, "counter"))
		return (n == 6 && !strncmp(name, "_total", n)) ||
		       (n == 8 && !strncmp(name, "_created", n));
	if (!strcmp(type, "info"))
		return n == 5 && !strncmp(name, "_info", n);
	return n == 0;
}

static inline bool metrics_sample(struct metrics_text *mt, char *line, size_t number)
{
	struct metrics_series *series = &mt->series[mt->n];
	size_t n = metrics_name_length(line), len = n;

	if (!n)
		return metrics_fail(mt, number, "begins with no name");
	if (!metrics_is_of_family(mt, line, n))
		return metrics_fail(mt, number, "a sample of another family, or of none");
	if (line[n] == '{') {
		len = metrics_labels_length(line + n);
		if (!len)
			return metrics_fail(mt, number, "labels that are none");
		len += n;
	}
	if (line[len] != ' ')
		return metrics_fail(mt, number, "no value");
	line[len] = '\0';
	*series = (struct metrics_series){ 0 };
	if (!metrics_value(line + len + 1, series))
		return metrics_fail(mt, number, "a value that is no number");
	series->text = strdup(line);
	mt->n++;
	return true;
}

/* # HELP, # TYPE and # UNIT of a family stand together, in any order, each at most once. */
static inline bool metrics_comment(struct metrics_text *mt, char *line, size_t number)
{
	char word[8], name[128], rest[512];
	size_t i;

	if (mt->is_open && strcmp(line, "# EOF") == 0) {
		mt->has_eof = true;
		return true;
	}
	if (sscanf(line, "# %7s %127s %511[^\n]", word, name, rest) != 3)
		return metrics_fail(mt, number, "a comment that says nothing");
	for (i = 0; i < mt->n_families; i++)
		if (strcmp(mt->families[i], name) == 0)
			break;
	if (i + 1 < mt->n_families)
		return metrics_fail(mt, number, "a family that was there before");
	if (i == mt->n_families) {
		snprintf(mt->families[i], sizeof(mt->families[i]), "%s", name);
		mt->types[i][0] = '\0';
		mt->n_families++;
	}
	if (strcmp(word, "TYPE") == 0) {
		if (mt->types[i][0])
			return metrics_fail(mt, number, "a second type");
		snprintf(mt->types[i], sizeof(mt->types[i]), "%.15s", rest);
		if (strcmp(rest, "gauge") && strcmp(rest, "counter") &&
		    (strcmp(rest, "info") || !mt->is_open))
			return metrics_fail(mt, number, "a type that is none");
		if (!mt->is_open && !strcmp(rest, "counter") &&
		    (strlen(name) < 6 || strcmp(name + strlen(name) - 6, "_total")))
			return metrics_fail(mt, number, "a counter that is not called _total");
		if (mt->is_open && strlen(name) > 6 && !strcmp(name + strlen(name) - 6, "_total"))
			return metrics_fail(mt, number, "a family that is called _total");
	} else if (strcmp(word, "UNIT") == 0) {
		if (!mt->is_open || strlen(name) <= strlen(rest) ||
		    strcmp(name + strlen(name) - strlen(rest), rest))
			return metrics_fail(mt, number, "a unit that the name does not end with");
	} else if (strcmp(word, "HELP") != 0) {
		return metrics_fail(mt, number, "a comment that is none");
	}
	return true;
}

static inline int metrics_compare(const void *a, const void *b)
{
	const struct metrics_series *x = a, *y = b;

	return strcmp(x->text, y->text);
}

static inline void metrics_free(struct metrics_text *mt)
{
	while (mt->n)
		free(mt->series[--mt->n].text);
	free(mt->series);
	free(mt);
}

/* Reads all; the caller frees it. error[0] says whether it is valid. */
static inline struct metrics_text *metrics_read(const char *text, bool is_open)
{
	struct metrics_text *mt = calloc(1, sizeof(*mt));
	char *copy = strdup(text), *line = copy;
	size_t number = 0, i;

	mt->series = calloc(METRICS_SERIES_MAX, sizeof(*mt->series));
	mt->is_open = is_open;
	while (*line && !mt->error[0]) {
		char *end = strchr(line, '\n');

		number++;
		if (!end) {
			metrics_fail(mt, number, "does not end");
			break;
		}
		*end = '\0';
		if (mt->has_eof)
			metrics_fail(mt, number, "something behind the end");
		else if (*line == '#')
			metrics_comment(mt, line, number);
		else
			metrics_sample(mt, line, number);
		line = end + 1;
	}
	if (is_open && !mt->has_eof)
		metrics_fail(mt, number, "no # EOF");
	free(copy);
	qsort(mt->series, mt->n, sizeof(*mt->series), metrics_compare);
	for (i = 1; i < mt->n; i++)
		if (strcmp(mt->series[i - 1].text, mt->series[i].text) == 0)
			metrics_fail(mt, 0, mt->series[i].text);
	return mt;
}

/* The series of this name and labels, as written; NULL: there is none. */
static inline const struct metrics_series *metrics_find(const struct metrics_text *mt,
							const char *text)
{
	size_t i;

	for (i = 0; i < mt->n; i++)
		if (strcmp(mt->series[i].text, text) == 0)
			return &mt->series[i];
	return NULL;
}

#endif

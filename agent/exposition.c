/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes metrics. Numbers are written by hand where there are ten thousand of them: printf takes
 * most of a scrape's time.
 */
#include "exposition.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"
#include "xalloc.h"

#define NJ_PER_J 1000000000
/* Characters in all names and values of an exemplar, by OpenMetrics; here with what is between. */
#define EXEMPLAR_MOST 128

/* ---- bytes ---- */

static void grow(struct bytes *bytes, size_t n)
{
	size_t cap = bytes->cap ? bytes->cap : 4096;

	while (cap < bytes->n + n + 1)
		cap *= 2;
	if (cap != bytes->cap)
		bytes->data = xrealloc(bytes->data, cap, 1);
	bytes->cap = cap;
}

/* Room for n more bytes, and where they go: what is put there is counted by finish(). */
static char *reserve(struct bytes *bytes, size_t n)
{
	if (bytes->n + n + 1 > bytes->cap)
		grow(bytes, n);
	return bytes->data + bytes->n;
}

static void finish(struct bytes *bytes, char *end)
{
	*end = '\0';
	bytes->n = (size_t)(end - bytes->data);
}

static char *put(char *p, const char *text, size_t n)
{
	memcpy(p, text, n);
	return p + n;
}

void bytes_add(struct bytes *bytes, const char *text, size_t n)
{
	finish(bytes, put(reserve(bytes, n), text, n));
}

void bytes_add_text(struct bytes *bytes, const char *text)
{
	bytes_add(bytes, text, strlen(text));
}

void bytes_format(struct bytes *bytes, const char *format, ...)
{
	char small[512];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(small, sizeof(small), format, args);
	va_end(args);
	if (n < 0)
		return;
	if ((size_t)n < sizeof(small)) {
		bytes_add(bytes, small, (size_t)n);
		return;
	}
	grow(bytes, (size_t)n);
	va_start(args, format);
	vsnprintf(bytes->data + bytes->n, (size_t)n + 1, format, args);
	va_end(args);
	bytes->n += (size_t)n;
}

void bytes_done(struct bytes *bytes)
{
	free(bytes->data);
	*bytes = (struct bytes){ 0 };
}

/* ---- labels ---- */

/*
 * Any bytes can be in a name of the kernel's; the format is UTF-8. There is room for two bytes for
 * each.
 */
static char *put_escaped(char *p, const char *value)
{
	uint32_t character;

	while (*value) {
		size_t n = text_decode(value, &character);

		if (n == 0)
			*p++ = '?';
		else if (*value == '\n')
			p = put(p, "\\n", 2);
		else if (*value == '"' || *value == '\\')
			p = put(p, *value == '"' ? "\\\"" : "\\\\", 2);
		else
			p = put(p, value, n);
		value += n ? n : 1;
	}
	return p;
}

static void add_escaped(struct bytes *labels, const char *value)
{
	finish(labels, put_escaped(reserve(labels, 2 * strlen(value)), value));
}

void exposition_add_label(struct bytes *labels, const char *name, const char *value)
{
	if (!value || !*value)
		return;
	if (labels->n)
		bytes_add_text(labels, ",");
	bytes_add_text(labels, name);
	bytes_add_text(labels, "=\"");
	add_escaped(labels, value);
	bytes_add_text(labels, "\"");
}

/* The value of a label between its quotes, still escaped; NULL: there is none. */
static const char *find_label(const char *labels, const char *name, size_t *ret_n)
{
	size_t name_n = strlen(name);

	while (labels && *labels) {
		size_t equals = strcspn(labels, "=");
		const char *value = labels + equals + 2, *end = value;

		while (*end && *end != '"')
			end += *end == '\\' && end[1] ? 2 : 1;
		*ret_n = (size_t)(end - value);
		if (equals == name_n && strncmp(labels, name, name_n) == 0)
			return value;
		labels = end + (*end == '"');
		labels += *labels == ',';
	}
	return NULL;
}

void exposition_copy_label(struct bytes *to, const char *to_name, const char *labels,
			   const char *name)
{
	size_t n;
	const char *value = find_label(labels, name, &n);

	if (!value)
		return;
	if (to->n)
		bytes_add_text(to, ",");
	bytes_add_text(to, to_name);
	bytes_add_text(to, "=\"");
	bytes_add(to, value, n);
	bytes_add_text(to, "\"");
}

bool exposition_has_label(const char *labels, const char *name)
{
	size_t n;

	return find_label(labels, name, &n) != NULL;
}

const char *exposition_next_label(const char *labels, char *name, size_t name_size, char *value,
				  size_t value_size)
{
	const char *p = strchr(labels, '=');
	size_t n = 0;

	if (!p || p[1] != '"')
		return NULL;
	snprintf(name, name_size, "%.*s", (int)(p - labels), labels);
	for (p += 2; *p && *p != '"'; p++) {
		bool is_escaped = *p == '\\' && p[1];

		p += is_escaped;
		if (n + 1 < value_size)
			value[n++] = is_escaped && *p == 'n' ? '\n' : *p;
	}
	value[n] = '\0';
	p += *p == '"';
	return *p == ',' ? p + 1 : p;
}

/* ---- samples ---- */

static const char *suffix_of(enum exposition_type type)
{
	return type == EXPOSITION_COUNTER ? "_total" : type == EXPOSITION_INFO ? "_info" : "";
}

/* The text form knows no type "info", and calls a counter by its whole name. */
static const char *type_name(const struct exposition *ex)
{
	if (ex->family.type == EXPOSITION_COUNTER)
		return "counter";
	return ex->family.type == EXPOSITION_INFO && ex->format == EXPOSITION_OPENMETRICS ? "info" :
											    "gauge";
}

void exposition_begin(struct exposition *ex, enum exposition_format format, struct bytes *room)
{
	memset(ex, 0, sizeof(*ex));
	ex->format = format;
	if (!room)
		return;
	ex->bytes = *room;
	ex->bytes.n = 0;
	*room = (struct bytes){ 0 };
}

void exposition_family(struct exposition *ex, const struct exposition_family *family)
{
	ex->family = *family;
	ex->name_n = strlen(family->name);
	ex->has_head = false;
}

static void write_head(struct exposition *ex)
{
	const struct exposition_family *family = &ex->family;
	bool is_open = ex->format == EXPOSITION_OPENMETRICS;
	const char *suffix = is_open ? "" : suffix_of(family->type);

	ex->has_head = true;
	bytes_format(&ex->bytes, "# HELP %s%s %s\n", family->name, suffix, family->help);
	bytes_format(&ex->bytes, "# TYPE %s%s %s\n", family->name, suffix, type_name(ex));
	if (is_open && family->unit)
		bytes_format(&ex->bytes, "# UNIT %s %s\n", family->name, family->unit);
}

/* Room for what is around labels and for the longest number. */
#define SAMPLE_ROOM 128
#define NUMBER_ROOM 32

/*
 * name_total{labels,domain="..."} and the space behind. A scrape has ten thousand of them: room for
 * all of a sample is looked for once, and its number and the end of its line are put behind.
 */
static char *begin_sample(struct exposition *ex, const char *suffix, const char *labels,
			  const char *domain)
{
	size_t labels_n = labels ? strlen(labels) : 0, domain_n = domain ? strlen(domain) : 0;
	char *p;

	if (!ex->has_head)
		write_head(ex);
	p = reserve(&ex->bytes, ex->name_n + labels_n + 2 * domain_n + SAMPLE_ROOM);
	p = put(p, ex->family.name, ex->name_n);
	p = put(p, suffix, strlen(suffix));
	if (labels_n || domain)
		*p++ = '{';
	p = put(p, labels ? labels : "", labels_n);
	if (labels_n && domain)
		*p++ = ',';
	if (domain) {
		p = put_escaped(put(p, "domain=\"", 8), domain);
		*p++ = '"';
	}
	if (labels_n || domain)
		*p++ = '}';
	*p++ = ' ';
	ex->samples++;
	return p;
}

static void end_sample(struct exposition *ex, char *p)
{
	*p++ = '\n';
	finish(&ex->bytes, p);
}

static char *put_u64(char *p, uint64_t value)
{
	char digits[20];
	size_t n = sizeof(digits);

	do
		digits[--n] = (char)('0' + value % 10);
	while (value /= 10);
	return put(p, digits + n, sizeof(digits) - n);
}

/* A number of 1e-9 with all its digits, zeros at the end left out. */
static char *put_billionths(char *p, nanojoules value)
{
	char digits[10] = ".000000000";
	uint64_t whole;
	uint32_t part;
	size_t n, i;

	if (value < 0) {
		*p++ = '-';
		value = -value;
	}
	/* 128 bits are divided by a function, 64 by a few instructions. */
	if (value <= UINT64_MAX) {
		whole = (uint64_t)value / NJ_PER_J;
		part = (uint32_t)((uint64_t)value % NJ_PER_J);
	} else {
		whole = (uint64_t)(value / NJ_PER_J);
		part = (uint32_t)(value % NJ_PER_J);
	}
	p = put_u64(p, whole);
	if (!part)
		return p;
	for (i = sizeof(digits) - 1; i >= 1; i--, part /= 10)
		digits[i] = (char)('0' + part % 10);
	for (n = sizeof(digits); digits[n - 1] == '0';)
		n--;
	return put(p, digits, n);
}

void exposition_energy(struct exposition *ex, const char *labels, const char *domain,
		       nanojoules energy_nj)
{
	char *p = begin_sample(ex, suffix_of(ex->family.type), labels, domain);

	end_sample(ex, put_billionths(p, energy_nj));
}

void exposition_time(struct exposition *ex, const char *labels, uint64_t time_ns)
{
	exposition_energy(ex, labels, NULL, time_ns);
}

void exposition_count(struct exposition *ex, const char *labels, uint64_t count)
{
	char *p = begin_sample(ex, suffix_of(ex->family.type), labels, NULL);

	end_sample(ex, put_u64(p, count));
}

void exposition_number(struct exposition *ex, const char *labels, const char *domain, double value)
{
	char *p;

	if (!isfinite(value))
		return;
	p = begin_sample(ex, suffix_of(ex->family.type), labels, domain);
	end_sample(ex, p + snprintf(p, NUMBER_ROOM, "%.9g", value));
}

/* Of UTF-8: bytes that go on with a character are none. */
static size_t count_characters(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

void exposition_exemplar(struct exposition *ex, const char *labels, double value,
			 uint64_t realtime_ns)
{
	if (ex->format != EXPOSITION_OPENMETRICS || !isfinite(value) ||
	    count_characters(labels) > EXEMPLAR_MOST)
		return;
	ex->bytes.n--; /* the end of the sample's line */
	bytes_format(&ex->bytes, " # {%s} %.9g ", labels, value);
	end_sample(ex, put_billionths(reserve(&ex->bytes, SAMPLE_ROOM), realtime_ns));
}

void exposition_created(struct exposition *ex, const char *labels, const char *domain,
			uint64_t realtime_ns)
{
	if (ex->format != EXPOSITION_OPENMETRICS || !realtime_ns)
		return;
	end_sample(ex, put_billionths(begin_sample(ex, "_created", labels, domain), realtime_ns));
}

void exposition_end(struct exposition *ex)
{
	if (ex->format == EXPOSITION_OPENMETRICS)
		bytes_add_text(&ex->bytes, "# EOF\n");
}

void exposition_done(struct exposition *ex)
{
	bytes_done(&ex->bytes);
}

/* ---- which form ---- */

const char *exposition_mime(enum exposition_format format)
{
	return format == EXPOSITION_OPENMETRICS ?
		       "application/openmetrics-text; version=1.0.0; charset=utf-8" :
		       "text/plain; version=0.0.4; charset=utf-8";
}

static size_t skip_blank(const char *text)
{
	return strspn(text, " \t");
}

/* "0", "0.5", "1.000" in thousandths; what is no quality counts as 0: not wanted. */
static unsigned int parse_quality(const char *text, size_t n)
{
	unsigned int value = 0, unit = 1000;
	size_t i;

	for (i = 0; i < n; i++) {
		if (text[i] == '.' && i == 1)
			continue;
		if (text[i] < '0' || text[i] > '9' || unit == 0)
			return 0;
		value += unit * (unsigned int)(text[i] - '0');
		unit /= 10;
	}
	return n && value <= 1000 ? value : 0;
}

static bool is_word(const char *text, size_t n, const char *word)
{
	return strlen(word) == n && strncmp(text, word, n) == 0;
}

/* One media range with its parameters; which form it wants (-1: none of ours) and how much. */
static int parse_range(const char *text, size_t n, unsigned int *ret_quality)
{
	size_t begin = skip_blank(text), len = strcspn(text + begin, "; \t,");
	const char *type = text + begin, *p = type + len, *end = text + n;
	bool is_open = is_word(type, len, "application/openmetrics-text");
	int form = is_open || is_word(type, len, "text/plain") || is_word(type, len, "text/*") ||
				   is_word(type, len, "*/*") ?
			   is_open :
			   -1;

	*ret_quality = 1000;
	while (p < end && (p += skip_blank(p)) < end && *p == ';') {
		p += 1 + skip_blank(p + 1);
		len = strcspn(p, "; \t,");
		if (len > 2 && strncmp(p, "q=", 2) == 0)
			*ret_quality = parse_quality(p + 2, len - 2);
		/* Of OpenMetrics there is one version here; the drafts before it are the same. */
		if (is_open && len > 8 && strncmp(p, "version=", 8) == 0 &&
		    !is_word(p + 8, len - 8, "1.0.0") && !is_word(p + 8, len - 8, "0.0.1"))
			form = -1;
		p += len;
	}
	return form;
}

enum exposition_format exposition_choose(const char *accept)
{
	unsigned int best[EXPOSITION_N] = { 0 }, quality;

	while (accept && *accept) {
		size_t n = strcspn(accept, ",");
		int form = parse_range(accept, n, &quality);

		if (form >= 0 && quality > best[form])
			best[form] = quality;
		accept += n + (accept[n] == ',');
	}
	return best[EXPOSITION_OPENMETRICS] &&
			       best[EXPOSITION_OPENMETRICS] >= best[EXPOSITION_TEXT] ?
		       EXPOSITION_OPENMETRICS :
		       EXPOSITION_TEXT;
}

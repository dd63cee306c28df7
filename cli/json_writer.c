/* SPDX-License-Identifier: Apache-2.0 */
/* Commas, line breaks and indentation of JSON. */
#include "json_writer.h"

#include <inttypes.h>

#include "decimal.h"
#include "escape.h"

static void break_line(struct json_writer *json)
{
	if (json->level > json->line_levels || json->line_levels == 0)
		return;
	fprintf(json->out, "\n%*s", (int)(json->indent * json->level), "");
}

static void lead(struct json_writer *json, const char *key)
{
	if (json->has_items)
		fputs(json->level > json->line_levels && json->line_levels ? ", " : ",", json->out);
	json->has_items = true;
	if (json->level > 0)
		break_line(json);
	if (!key)
		return;
	escape_json(json->out, key);
	fputs(json->line_levels ? ": " : ":", json->out);
}

void json_begin(struct json_writer *json, const char *key, char bracket)
{
	lead(json, key);
	fputc(bracket, json->out);
	json->level++;
	json->has_items = false;
}

void json_end(struct json_writer *json, char bracket)
{
	bool had_items = json->has_items;
	bool is_open = json->level <= json->line_levels;

	json->level--;
	if (had_items && is_open)
		break_line(json);
	fputc(bracket, json->out);
	json->has_items = true;
}

void json_raw(struct json_writer *json, const char *key, const char *text)
{
	lead(json, key);
	fputs(text, json->out);
}

void json_text(struct json_writer *json, const char *key, const char *text)
{
	if (!text) {
		json_put_null(json, key);
		return;
	}
	lead(json, key);
	escape_json(json->out, text);
}

void json_int(struct json_writer *json, const char *key, int64_t value)
{
	json_decimal(json, key, value, 0);
}

void json_uint(struct json_writer *json, const char *key, uint64_t value)
{
	json_udecimal(json, key, value, 0);
}

void json_decimal(struct json_writer *json, const char *key, int64_t value, unsigned int places)
{
	char buf[DECIMAL_SIZE];

	json_raw(json, key, decimal_signed(buf, value, places));
}

void json_udecimal(struct json_writer *json, const char *key, uint64_t value, unsigned int places)
{
	char buf[DECIMAL_SIZE];

	json_raw(json, key, decimal_unsigned(buf, value, places));
}

void json_put_real(struct json_writer *json, const char *key, double value)
{
	char buf[DECIMAL_SIZE];

	json_raw(json, key, decimal_double(buf, value));
}

void json_bool(struct json_writer *json, const char *key, bool value)
{
	json_raw(json, key, value ? "true" : "false");
}

void json_put_null(struct json_writer *json, const char *key)
{
	json_raw(json, key, "null");
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON written as it comes, so that a document may be larger than memory. Keys are those of the
 * program; texts may be anything. A key is NULL inside an array.
 */
#ifndef WATT_CLI_JSON_WRITER_H
#define WATT_CLI_JSON_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json_writer {
	FILE *out;
	unsigned int indent;      /* spaces for each level */
	unsigned int line_levels; /* down to this level each item has its line; 0: no line breaks */
	unsigned int level;
	bool has_items;
};

/* The names of jansson, which the command is linked with too, are not ours to take. */
void json_begin(struct json_writer *json, const char *key, char bracket);
void json_end(struct json_writer *json, char bracket);
/* NULL: null. */
void json_text(struct json_writer *json, const char *key, const char *text);
void json_int(struct json_writer *json, const char *key, int64_t value);
void json_uint(struct json_writer *json, const char *key, uint64_t value);
/* value / 10^places, exactly */
void json_decimal(struct json_writer *json, const char *key, int64_t value, unsigned int places);
void json_udecimal(struct json_writer *json, const char *key, uint64_t value, unsigned int places);
/* Not finite: null. */
void json_put_real(struct json_writer *json, const char *key, double value);
void json_bool(struct json_writer *json, const char *key, bool value);
void json_put_null(struct json_writer *json, const char *key);
/* Text that is JSON already. */
void json_raw(struct json_writer *json, const char *key, const char *text);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What BMCs write, read with the patience that they need: numbers that are texts, nulls, errors
 * that come as success. Whatever is outside the rules is an error, never a guess. Pure.
 */
#ifndef WATT_SOURCE_REDFISH_DOCUMENT_H
#define WATT_SOURCE_REDFISH_DOCUMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

/* An object. -EBADMSG: none, or nothing that is JSON; -EMSGSIZE: too deep; -ENOMEM. */
int watt_redfish_parse(const char *text, size_t len, json_t **ret);
/*
 * Whether the document is an error rather than what was asked for: 0; -EACCES: a licence or a
 * right is missing; -ENOENT: there is no such thing; -EREMOTEIO: any other. The sentence is cut
 * to size.
 */
int watt_redfish_find_error(const json_t *doc, char *buf, size_t size);
/*
 * A number, or a text that is one and nothing else. -ENODATA: there is none, or null; -EBADMSG:
 * it is no number, or none that can be.
 */
int watt_redfish_number(const json_t *value, double *ret);
/* A text; NULL: it is none. */
const char *watt_redfish_text(const json_t *object, const char *key);
/* The address of what a link leads to; NULL: none. */
const char *watt_redfish_link(const json_t *object, const char *key);
/*
 * A time as RFC 3339 writes it, since 1970. -ENODATA: there is none, or one of before 2010, from a
 * clock that was never set; -EBADMSG.
 */
int watt_redfish_time(const json_t *value, int64_t *ret_ns);
/*
 * A duration as ISO 8601 writes it, "PT0.5S" or "P1DT2H3M4S", of at most a year. -ENODATA: there is none;
 * -EBADMSG.
 */
int watt_redfish_duration(const json_t *value, uint64_t *ret_ns);

#endif

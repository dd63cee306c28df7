/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of a report: its numbers as a JSON value, for the document and for the page. */
#ifndef WATT_CLI_REPORT_DOCUMENT_H
#define WATT_CLI_REPORT_DOCUMENT_H

#include <stdint.h>

#include <jansson.h>

#include "report.h"

/* By docs/schema/wattribute-report-1.json. A new reference. */
json_t *report_document(const struct report *report);

/* Sets a member; ends the program where memory is out. */
void report_set(json_t *obj, const char *key, json_t *value);
void report_append(json_t *array, json_t *value);
/* Text from anywhere; NULL gives null. What is not UTF-8 is replaced. */
json_t *report_text_value(const char *text);
/* null where the number is none. */
json_t *report_real(double value);
json_t *report_integer(uint64_t value);
/* key_nj as an integer and key_j as a number; null where the energy is not known. */
void report_set_energy(json_t *obj, const char *key, bool is_known, int64_t energy_nj);

#endif

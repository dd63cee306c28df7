/* SPDX-License-Identifier: Apache-2.0 */
/* The comparison of two recordings as a part of the report's JSON. */
#include <math.h>

#include "report_document.h"

static json_t *side_value(const struct watt_comparison_side *side)
{
	json_t *obj = json_object();

	if (!side->is_there) {
		json_decref(obj);
		return json_null();
	}
	report_set_energy(obj, "energy", true, side->energy_nj);
	report_set(obj, "elapsed_s", json_real((double)side->elapsed_ns / 1e9));
	report_set(obj, "power_w", report_real(side->power_w));
	report_set(obj, "power_ci95_w", report_real(side->power_ci95_w));
	report_set(obj, "windows", json_integer((json_int_t)side->n_windows));
	report_set(obj, "batches",
		   side->n_batches ? json_integer((json_int_t)side->n_batches) : json_null());
	return obj;
}

static json_t *row_value(const struct watt_comparison_row *row)
{
	json_t *obj = json_object();

	report_set(obj, "name", report_text_value(row->name));
	report_set(obj, "before", side_value(row->before));
	report_set(obj, "now", side_value(row->now));
	report_set(obj, "difference_w", report_real(row->difference_w));
	report_set(obj, "difference_ci95_w", report_real(row->difference_ci95_w));
	report_set(obj, "difference_ratio", report_real(row->difference_ratio));
	report_set(obj, "difference_ci95_ratio", report_real(row->difference_ci95_ratio));
	report_set(obj, "is_significant",
		   row->is_known ? json_boolean(row->is_significant) : json_null());
	return obj;
}

static json_t *list_value(const struct report *report, enum watt_comparison_list list)
{
	const struct watt_comparison_row *row;
	json_t *array = json_array();
	size_t i;

	for (i = 0; (row = watt_comparison_get(report->comparison, list, i)); i++)
		report_append(array, row_value(row));
	return array;
}

json_t *report_document_comparison(const struct report *report)
{
	const struct watt_comparison *comparison = report->comparison;
	const struct watt_comparison_row *command;
	json_t *obj;

	if (!report->other)
		return json_null();
	command = watt_comparison_get(comparison, WATT_COMPARISON_COMMAND, 0);
	obj = json_object();
	report_set(obj, "file", report_text_value(report_file_name(report->other->path)));
	report_set(obj, "method", json_string("batch means, Welch t, 95 %"));
	report_set(obj, "total",
		   row_value(watt_comparison_get(comparison, WATT_COMPARISON_TOTAL, 0)));
	report_set(obj, "command",
		   command->now->is_there || command->before->is_there ? row_value(command) :
									 json_null());
	report_set(obj, "domains", list_value(report, WATT_COMPARISON_DOMAINS));
	report_set(obj, "phases", list_value(report, WATT_COMPARISON_PHASES));
	report_set(obj, "entities", list_value(report, WATT_COMPARISON_NAMES));
	report_set(obj, "entities_left_out",
		   report_integer(watt_comparison_get_left_out(comparison)));
	return obj;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The comparison of two recordings as a part of the report's JSON. */
#include <math.h>

#include "report_document.h"

static json_t *side_value(const struct comparison_side *side)
{
	const struct confidence *power = &side->power_w;
	json_t *obj = json_object();

	if (!side->is_there) {
		json_decref(obj);
		return json_null();
	}
	report_set_energy(obj, "energy", true, side->energy_nj);
	report_set(obj, "elapsed_s", json_real((double)side->elapsed_ns / 1e9));
	report_set(obj, "power_w", report_real(power->mean));
	report_set(obj, "power_ci95_w", report_real(power->ci95));
	report_set(obj, "windows", json_integer((json_int_t)power->n));
	report_set(obj, "batches",
		   power->n_batches ? json_integer((json_int_t)power->n_batches) : json_null());
	return obj;
}

static json_t *row_value(const struct comparison_row *row)
{
	const struct confidence_difference *power = &row->power;
	json_t *obj = json_object();

	report_set(obj, "name", report_text_value(row->name));
	report_set(obj, "before", side_value(&row->side[1]));
	report_set(obj, "now", side_value(&row->side[0]));
	report_set(obj, "difference_w", report_real(power->delta));
	report_set(obj, "difference_ci95_w", report_real(power->ci95));
	report_set(obj, "difference_ratio", report_real(power->ratio));
	report_set(obj, "difference_ci95_ratio", report_real(power->ratio_ci95));
	report_set(obj, "is_significant",
		   power->is_known ? json_boolean(power->is_significant) : json_null());
	return obj;
}

static json_t *list_value(const struct comparison_list *list)
{
	json_t *array = json_array();
	size_t i;

	for (i = 0; i < list->n; i++)
		report_append(array, row_value(&list->rows[i]));
	return array;
}

json_t *report_document_comparison(const struct report *report)
{
	const struct comparison *comparison = &report->comparison;
	json_t *obj;

	if (!report->other)
		return json_null();
	obj = json_object();
	report_set(obj, "file", report_text_value(report_file_name(report->other->path)));
	report_set(obj, "method", json_string("batch means, Welch t, 95 %"));
	report_set(obj, "total", row_value(&comparison->total));
	report_set(obj, "command",
		   comparison->command.side[0].is_there || comparison->command.side[1].is_there ?
			   row_value(&comparison->command) :
			   json_null());
	report_set(obj, "domains", list_value(&comparison->domains));
	report_set(obj, "phases", list_value(&comparison->phases));
	report_set(obj, "entities", list_value(&comparison->entities));
	report_set(obj, "entities_left_out", report_integer(comparison->n_left_out));
	return obj;
}

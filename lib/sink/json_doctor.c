/* SPDX-License-Identifier: Apache-2.0 */
/* Diagnoses as JSON, by docs/schema/wattribute-doctor-1.json. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <wattribute/json.h>

#include "base/cleanup.h"
#include "base/sized.h"
#include "base/util.h"
#include "sink/json_value.h"

static void add_diag(struct watt_json *doc, struct watt_json_node array,
		     const struct watt_diag *diag)
{
	struct watt_json_node obj = watt_json_append(doc, array);

	watt_json_text(doc, obj, "source", diag->source);
	watt_json_text(doc, obj, "role", watt_source_role_name(diag->role));
	watt_json_text(doc, obj, "summary", diag->summary);
	watt_json_text(doc, obj, "state", watt_availability_name(diag->state));
	watt_json_int(doc, obj, "error", diag->error);
	watt_json_bool(doc, obj, "is_selected", diag->is_selected);
	watt_json_bool(doc, obj, "is_test", diag->is_test);
	watt_json_text(doc, obj, "origin",
		       diag->role == WATT_ROLE_POWER ? watt_origin_name(diag->origin) : NULL);
	watt_json_int(doc, obj, "channels", diag->n_channels);
	watt_json_ratio(doc, obj, "uncertainty_ratio", diag->uncertainty_ppm);
	watt_json_known_time(doc, obj, "period_s", diag->period_ns);
	watt_json_known_time(doc, obj, "read_cost_s", diag->read_cost_ns);
	watt_json_text(doc, obj, "path", *diag->path ? diag->path : NULL);
	watt_json_text(doc, obj, "why", *diag->why ? diag->why : NULL);
	watt_json_text(doc, obj, "hint", *diag->hint ? diag->hint : NULL);
	watt_json_ratio(doc, obj, "efficiency_ratio", diag->efficiency_ppm);
	watt_json_known_time(doc, obj, "watched_s", diag->watched_ns);
}

int watt_doctor_to_json(const struct watt_diag *diags, size_t n_diags, uint32_t flags, char **ret)
{
	struct watt_verdict verdict = { .sz = sizeof(verdict) };
	_cleanup_free_ struct watt_diag *known = NULL;
	struct watt_json doc;
	struct watt_json_node array;
	size_t i;
	int r;

	if (!ret)
		return -EINVAL;
	r = watt_verdict_draw(diags, n_diags, true, &verdict);
	if (r < 0)
		return r;
	known = watt_sized_copy_all(diags, n_diags, sizeof(*known));
	if (!known)
		return -ENOMEM;
	watt_json_init(&doc, flags, "wattribute-doctor-1");
	watt_json_bool(&doc, doc.root, "is_possible", verdict.is_possible);
	watt_json_bool(&doc, doc.root, "is_measured", verdict.is_measured);
	watt_json_text(&doc, doc.root, "verdict", verdict.text);
	array = watt_json_array(&doc, doc.root, "sources");
	for (i = 0; i < n_diags; i++)
		add_diag(&doc, array, &known[i]);
	return watt_json_done(&doc, ret);
}

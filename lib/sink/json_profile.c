/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles as JSON, by docs/schema/wattribute-profile-1.json and wattribute-profile(5). */
#include <errno.h>

#include <wattribute/profile.h>

#include "sink/json_value.h"

static void add_program(struct watt_json *doc, struct watt_json_node array,
			const struct watt_profile_program *program)
{
	struct watt_json_node obj = watt_json_append(doc, array);

	watt_json_text(doc, obj, "name", program->name);
	watt_json_text(doc, obj, "cgroup", program->cgroup);
	watt_json_bool(doc, obj, "is_executable", program->is_executable);
	watt_json_real(doc, obj, "power_w", program->power_w);
	watt_json_real(doc, obj, "uncertainty_w", program->uncertainty_w);
	watt_json_real(doc, obj, "cpu_s", program->cpu_s);
	watt_json_uint(doc, obj, "n_slices", program->n_slices);
}

static void add_domain(struct watt_json *doc, struct watt_json_node array,
		       const struct watt_profile *profile, size_t index)
{
	const struct watt_profile_domain *domain = watt_profile_get_domain(profile, index);
	struct watt_json_node obj = watt_json_append(doc, array), list;
	size_t i, n = watt_profile_get_program_count(profile, index);

	watt_json_text(doc, obj, "path", domain->path);
	watt_json_text(doc, obj, "kind", watt_domain_kind_name(domain->kind));
	watt_json_text(doc, obj, "key", watt_share_key_name(domain->key));
	watt_json_uint(doc, obj, "n_slices", domain->n_slices);
	watt_json_real(doc, obj, "mean_w", domain->mean_w);
	watt_json_real(doc, obj, "spread_w", domain->spread_w);
	watt_json_real(doc, obj, "readiness_ratio", domain->readiness_ppm / 1e6);
	watt_json_real(doc, obj, "significance_ratio", domain->significance_ratio);
	list = watt_json_array(doc, obj, "curve_ratio");
	for (i = 0; i < WATT_PROFILE_CURVE; i++)
		watt_json_real(doc, list, NULL, domain->curve_ratio[i]);
	list = watt_json_array(doc, obj, "programs");
	for (i = 0; i < n; i++)
		add_program(doc, list, watt_profile_get_program(profile, index, i));
}

int watt_profile_to_json(const struct watt_profile *profile, uint32_t flags, char **ret)
{
	struct watt_json doc;
	struct watt_json_node array;
	size_t i;

	if (!profile || !ret)
		return -EINVAL;
	watt_json_init(&doc, flags, "wattribute-profile-1");
	array = watt_json_array(&doc, doc.root, "domains");
	for (i = 0; i < watt_profile_get_domain_count(profile); i++)
		add_domain(&doc, array, profile, i);
	return watt_json_done(&doc, ret);
}

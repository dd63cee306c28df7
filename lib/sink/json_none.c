/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON functions of a library that was built without JSON. */
#include <errno.h>

#include <wattribute/json.h>

int watt_snapshot_to_json(const struct watt_snapshot *snap, uint32_t flags, char **ret)
{
	return -EOPNOTSUPP;
}

int watt_sources_to_json(const struct watt_session *ses, uint32_t flags, char **ret)
{
	return -EOPNOTSUPP;
}

int watt_doctor_to_json(const struct watt_diag *diags, size_t n_diags, uint32_t flags, char **ret)
{
	return -EOPNOTSUPP;
}

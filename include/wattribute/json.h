/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file json.h
 * @brief The library's nouns as JSON text, for scripts. The schemas are in docs/schema/.
 *
 * Each function allocates a string with malloc(); the caller frees it. Thread-safe on different
 * objects.
 */
#ifndef WATTRIBUTE_JSON_H
#define WATTRIBUTE_JSON_H

#include <wattribute/diag.h>
#include <wattribute/session.h>
#include <wattribute/snapshot.h>

WATT_BEGIN_DECLS

/** Bits of the flags of watt_snapshot_to_json(). */
enum watt_json_flag {
	WATT_JSON_PRETTY = 1u << 0, /**< indented; without it one line */
};

WATT_API int watt_snapshot_to_json(const struct watt_snapshot *snap, uint32_t flags, char **ret);
WATT_API int watt_sources_to_json(const struct watt_session *ses, uint32_t flags, char **ret);
WATT_API int watt_doctor_to_json(const struct watt_diag *diags, size_t n_diags, uint32_t flags,
				 char **ret);

WATT_END_DECLS

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /api/v1/recordings and what is below: to list, begin, fetch and delete recordings. Only for who has
 * shown a password or a certificate: a recording costs, and tells everything.
 *
 * Called by the server's threads.
 */
#ifndef WATT_AGENT_RECORDING_ROUTES_H
#define WATT_AGENT_RECORDING_ROUTES_H

#include <microhttpd.h>
#include <stdbool.h>

#include "recordings.h"

/* What comes with a request. */
struct request_body {
	size_t n; /* more than what fits: it was too much */
	char text[RECORDING_BODY_MAX];
};

bool recording_routes_has(const char *path);
enum MHD_Result recording_routes_answer(struct recordings *recordings, bool is_known_client,
					struct MHD_Connection *connection, const char *path,
					const char *method, const struct request_body *body);

#endif

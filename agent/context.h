/* SPDX-License-Identifier: Apache-2.0 */
/* What channels of context are called in Prometheus and in OpenTelemetry, by quantity. */
#ifndef AGENT_CONTEXT_H
#define AGENT_CONTEXT_H

#include <wattribute/snapshot.h>

struct context_names {
	enum watt_quantity quantity;
	const char *name, *unit, *help;    /* of Prometheus */
	const char *otlp_name, *otlp_unit; /* its own where it has one */
};

/* Each quantity that is context, ended by one without a name. */
extern const struct context_names context_names[];

#endif

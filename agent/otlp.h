/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The metrics as a request to export them by OTLP 1 (OpenTelemetry), in its JSON encoding. Domains
 * are hardware components by OpenTelemetry's semantic conventions: hw.energy in J and hw.power in W,
 * by hw.id, hw.type and hw.parent; the machine is hw.host.energy and hw.host.power. Users are
 * wattribute.process.energy and so on, by the conventions' names of processes, containers and pods.
 *
 * Energies are doubles, as that encoding has no integers of nJ: the parts of a sum add up to the
 * 16 digits of a double.
 */
#ifndef WATT_AGENT_OTLP_H
#define WATT_AGENT_OTLP_H

#include "monitor.h"

/* The caller has the monitor's lock, and frees the text. NULL: nothing was measured yet. */
char *otlp_document(const struct monitor *monitor);
/*
 * How many data points a receiver did not take, by its answer: one with "partialSuccess". 0: it took
 * all, or the answer is none.
 */
uint64_t otlp_rejected_points(const char *answer, size_t n);

#endif

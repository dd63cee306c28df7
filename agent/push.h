/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pushes the metrics to a receiver of OTLP over HTTP, such as a collector of OpenTelemetry, by a
 * thread of its own: a document at each interval goes into the outbox, and from there, oldest first,
 * to the receiver. What it can't take now (429, 502, 503, 504, no connection, no answer) is tried
 * again, after the time that it asks for or after 1 s, 2 s, ... up to a minute; what it refuses is
 * counted and not sent again.
 *
 * https://opentelemetry.io/docs/specs/otlp/#otlphttp
 *
 * One thread opens and closes it.
 */
#ifndef WATT_AGENT_PUSH_H
#define WATT_AGENT_PUSH_H

#include "monitor.h"
#include "settings.h"

struct push;

/*
 * Starts to push, where the settings name a receiver; else *ret is NULL. 0 or a negative errno; the
 * log has the sentence.
 */
int push_open(struct push **ret, struct monitor *monitor, const struct settings *settings);
/* Ends at once; documents in a folder wait for the next run. Accepts NULL. */
void push_close(struct push *push);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The JSON API: what the page shows, and programs ask for. docs/openapi.json describes it. The
 * caller has the monitor's lock. Each returns a text that the caller frees; NULL: no memory.
 */
#ifndef WATT_AGENT_API_H
#define WATT_AGENT_API_H

#include "monitor.h"

/* Watts and joules by domain and by user, sensors, and how good it all is. */
char *api_status(const struct monitor *monitor);
/* Power of the last hour, by domain. */
char *api_history(const struct monitor *monitor);
/* Power of the last hour, by who of a level took it. */
char *api_history_by(const struct monitor *monitor, enum level_kind kind);
/* Everything there is: a snapshot, by the schema wattribute-snapshot-1. */
char *api_snapshot(const struct monitor *monitor);
/* Domains and channels, by the schema wattribute-sources-1. */
char *api_sources(const struct monitor *monitor);

#endif

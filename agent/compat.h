/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is served under the names of other meters, so that dashboards and rules made for them go on
 * working: Kepler 0.11's (docs/user/metrics.md of Kepler), Scaphandre 1.0's (docs_src/references/
 * metrics.md of Scaphandre) and Tycho's, a fork of Kepler 0.9. The energies are those that are served under our own names, and add up
 * as those do; what these meters tell and we don't is left out.
 */
#ifndef WATT_AGENT_COMPAT_H
#define WATT_AGENT_COMPAT_H

#include "exposition.h"

struct monitor;

enum compat {
	COMPAT_KEPLER,
	COMPAT_SCAPHANDRE,
	COMPAT_TYCHO,
	COMPAT_N,
};

void compat_write_kepler(struct exposition *ex, const struct monitor *monitor);
void compat_write_scaphandre(struct exposition *ex, const struct monitor *monitor);
void compat_write_tycho(struct exposition *ex, const struct monitor *monitor);

#endif

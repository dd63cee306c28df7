/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What became of the machine's energy: measured = attributed + idle + unattributed. The attributed
 * part is summed from the rows, not computed as the rest, so that the equation can fail.
 */
#ifndef WATT_CLI_BALANCE_H
#define WATT_CLI_BALANCE_H

#include "view.h"

struct balance {
	bool is_known;           /* there is some energy */
	bool has_power;          /* and it is known for the window */
	bool is_exact;           /* the equation holds to the nJ */
	bool has_baseline;       /* some domain can be shared, so idle matters */
	bool is_baseline_ready;  /* and is known in every such domain */
	enum watt_origin origin; /* the least certain one */
	uint32_t uncertainty_ppm;
	enum watt_idle_policy idle_policy;
	struct watt_energy energy, attributed, idle, unattributed;
	struct watt_energy shared_idle; /* idle energy in attributed */
	double power_w, attributed_w, idle_w, unattributed_w;
	double baseline_w;
	char keys[64]; /* by what it was shared: "cpu_time" */
};

void balance_draw(const struct view *view, struct balance *ret);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What `top` shows of powers and energies: rounded so that its rows add up to its header. */
#ifndef WATT_CLI_TOP_SUMS_H
#define WATT_CLI_TOP_SUMS_H

#include "top_model.h"

/* Of all rows of a model, before any is left out. */
void top_sums_round(struct top_model *model, const struct watt_view *view);
/* Of threads, which make up the process above them. */
void top_sums_round_threads(struct top_model *model);

#endif

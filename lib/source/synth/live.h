/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulated machine that the sources named synth show as if it were this one. Two that are
 * opened with one environment are twins: they do the same at the same instant, and so a power
 * source and a usage source need not share anything.
 */
#ifndef WATT_SOURCE_SYNTH_LIVE_H
#define WATT_SOURCE_SYNTH_LIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "source/source.h"
#include "source/synth/gpu.h"
#include "source/synth/machine.h"

/*
 * As many CPUs and packages as the machine of env; it begins at env->epoch_ns, or now.
 * has_events: someone will sweep it. *ret_epoch_ns may be NULL.
 */
int watt_synth_live_open(const struct watt_env *env, bool has_events,
			 struct watt_synth_machine **ret, uint64_t *ret_epoch_ns);
/* The GPU beside it: all that are opened with one environment are twins too. */
void watt_synth_live_gpu(const struct watt_env *env, struct watt_synth_gpu *ret);

#endif

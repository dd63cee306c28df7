/* SPDX-License-Identifier: GPL-2.0-only */
/* The module's parameters; checked when they are set, so that whoever reads them need not. */
#ifndef WATTRIBUTE_PARAMS_H
#define WATTRIBUTE_PARAMS_H

#include <linux/types.h>

/* What a unit of use is worth, in thousandths of a point. */
struct watt_weights {
	u64 cpu_ns;
	u64 instructions;
	u64 mem_bytes; /* held for a second */
	u64 wakeups;
	u64 disk_read_bytes;
	u64 disk_write_bytes;
	u64 net_rx_packets;
	u64 net_tx_packets;
};

u64 watt_param_sample_ns(void);
u64 watt_param_window_ns(void);
unsigned int watt_param_max_processes(void);
/* Whether they shall be counted. */
bool watt_param_instructions(void);
struct watt_weights watt_param_weights(void);

/* From now on the two periods are checked against each other. -EINVAL: they do not go together. */
int watt_params_start(void);
void watt_params_stop(void);

#endif

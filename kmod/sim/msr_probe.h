/* SPDX-License-Identifier: GPL-2.0-only */
/* Probes at the kernel's functions that read registers. */
#ifndef WATTSIM_MSR_PROBE_H
#define WATTSIM_MSR_PROBE_H

/* 0; -EOPNOTSUPP: this kernel has none of the functions, or can't probe. */
int sim_probes_place(void);
/* When this returns nobody is in what was called instead. */
void sim_probes_remove(void);

#endif

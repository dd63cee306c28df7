/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What simulated meters truly used, at every instant: each change of a meter's power, as the
 * simulator itself tells when it was. Written by the process that makes the changes, read by the
 * one that judges.
 */
#ifndef WATT_TESTS_POWER_LOG_H
#define WATT_TESTS_POWER_LOG_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* From t_ns on, until the next step of the same meter. */
struct power_step {
	char meter[32];
	uint64_t t_ns;
	int64_t energy_nj; /* used by then */
	uint32_t power_uw;
};

struct power_log {
	struct power_step *steps;
	size_t n;
};

/* Adds the meter's newest change to a file. */
void power_log_write(FILE *file, const char *meter);
void power_log_read(const char *path, struct power_log *ret);
void power_log_done(struct power_log *log);

/* Used by t_ns. Before the first step the power was 0. */
int64_t power_log_energy_nj(const struct power_log *log, const char *meter, uint64_t t_ns);
/* By how much the power went up and down in (t0_ns, t1_ns], all together. */
int64_t power_log_change_uw(const struct power_log *log, const char *meter, uint64_t t0_ns,
			    uint64_t t1_ns);

#endif

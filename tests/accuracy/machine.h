/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A machine that moves: a tree of sysfs files whose sensors show a power that is known exactly at
 * every instant, with the quantum, the update period and the wrap of real hardware. What they
 * show and what is true come from the same function, so a meter can be held against the truth.
 * One thread per object.
 */
#ifndef WATT_TESTS_MACHINE_H
#define WATT_TESTS_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

enum machine_sensor {
	MACHINE_PACKAGE_0, /* energy counter that wraps about once a second */
	MACHINE_DRAM_0,    /* the same, with a finer quantum */
	MACHINE_PACKAGE_1, /* energy counter with a range that it never reaches */
	MACHINE_CARD,      /* power of a card, in uW */
	MACHINE_RAIL,      /* voltage and current of a rail, in mV and mA */
	MACHINE_N_SENSORS,
};

/* Power is mean + swing * sin(2 pi t / period); what the sensor makes of it. */
struct machine_model {
	const char *name;
	const char *file; /* the first file it shows, below the tree */
	double mean_w;
	double swing_w;
	double period_s;
	double quantum_j;  /* of a counter; 0: not a counter */
	double error_w;    /* largest error of one reading of power by its rounding */
	uint64_t range_uj; /* largest value of a counter before it goes on at 0 */
};

struct machine;

/* Makes the tree in an empty directory; time 0 of the machine is epoch_ns of CLOCK_MONOTONIC. */
int machine_new(const char *dir, uint64_t epoch_ns, struct machine **ret);
/* Leaves the tree. Accepts NULL. */
void machine_free(struct machine *machine);

/* Rewrites in place what all sensors show, as of t_ns. Each file changes at once, never in part. */
void machine_write(struct machine *machine, uint64_t t_ns);
/* A counter goes on from 0. */
void machine_reset(struct machine *machine, enum machine_sensor sensor, uint64_t t_ns);
void machine_remove(struct machine *machine, enum machine_sensor sensor);
/* The sensor is back; a counter goes on as if it had never been away, unless it was reset. */
void machine_return(struct machine *machine, enum machine_sensor sensor, uint64_t t_ns);

const struct machine_model *machine_get_model(enum machine_sensor sensor);
/* The truth: energy between two instants. */
double machine_energy_j(const struct machine *machine, enum machine_sensor sensor, uint64_t t0_ns,
			uint64_t t1_ns);

#endif

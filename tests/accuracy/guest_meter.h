/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who says what each process used: the library, the command or the kernel module, each in the way
 * in which people use it. Must not know the truth. Any failure ends the program.
 */
#ifndef WATT_TESTS_GUEST_METER_H
#define WATT_TESTS_GUEST_METER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../guest/sim.h"

/* What a meter says of one process, or of all that exited of one name. */
struct meter_row {
	uint32_t pid;      /* 0: of several */
	uint64_t start_ns; /* CLOCK_BOOTTIME; 0: not told */
	bool is_exited;
	char name[64];
	int64_t energy_nj[SIM_PACKAGES_MAX];
};

/* Since the meter began. */
struct meter_account {
	struct meter_row *rows;
	size_t n_rows;
	double idle_uw[SIM_PACKAGES_MAX]; /* idle power learned; NAN: not told, or not known */
};

struct meter {
	const char *name;
	const char *sensor; /* what it measures by: the noun of a script, and the sensor's name */
	/* Tells what was used of each package; false: of all, as of the first. */
	bool has_packages;
	/* What it learns as idle power has in it what it takes itself: in 1e-3 of the load's. */
	double idle_bound;
	void (*begin)(void);
	/* Passes the time. */
	void (*wait)(uint32_t ms);
	/* The account of all up to now. */
	void (*end)(const struct sim_truth *truth, struct meter_account *ret);
	void (*done)(void);
};

extern const struct meter meter_library, meter_command, meter_module;

/* The library by a key that says nothing, the module by weights that have nothing to do with it. */
void meter_mislead(void);

void meter_account_done(struct meter_account *account);

#endif

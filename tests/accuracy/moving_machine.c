/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the moving machine in a directory, so that any meter can be pointed at it, and tells the
 * truth at the end.
 * usage: moving_machine DIR [SECONDS]
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "machine.h"

#define TICK_NS WATT_NSEC_PER_MSEC

static volatile sig_atomic_t is_interrupted;

static void interrupt(int signal_number)
{
	is_interrupted = 1;
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = interrupt };
	uint64_t epoch_ns = watt_now_ns(), end_ns = UINT64_MAX, t_ns, now_ns;
	struct machine *machine;
	int i, r;

	if (argc < 2 || argc > 3) {
		fprintf(stderr, "usage: %s DIR [SECONDS]\n", argv[0]);
		return 2;
	}
	if (argc == 3)
		end_ns = epoch_ns + strtoull(argv[2], NULL, 10) * WATT_NSEC_PER_SEC;
	r = machine_new(argv[1], epoch_ns, &machine);
	if (r < 0) {
		fprintf(stderr, "%s: %s\n", argv[1], strerror(-r));
		return 1;
	}
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	now_ns = epoch_ns;
	for (t_ns = epoch_ns; t_ns < end_ns && !is_interrupted; t_ns += TICK_NS) {
		struct timespec ts = watt_timespec_from_ns(t_ns);

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
		now_ns = watt_now_ns();
		machine_write(machine, now_ns);
	}
	for (i = 0; i < MACHINE_N_SENSORS; i++)
		printf("%-10s %12.6f J in %.6f s\n",
		       machine_get_model((enum machine_sensor)i)->name,
		       machine_energy_j(machine, (enum machine_sensor)i, epoch_ns, now_ns),
		       (double)(now_ns - epoch_ns) / 1e9);
	machine_free(machine);
	return 0;
}

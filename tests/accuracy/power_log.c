/* SPDX-License-Identifier: Apache-2.0 */
/* A line for each step: METER T_NS ENERGY_NJ POWER_UW. */
#include "power_log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../guest/sim.h"

void power_log_write(FILE *file, const char *meter)
{
	struct power_step step = { 0 };

	sim_meter_since(meter, &step.t_ns, &step.energy_nj, &step.power_uw);
	fprintf(file, "%s %" PRIu64 " %" PRId64 " %" PRIu32 "\n", meter, step.t_ns, step.energy_nj,
		step.power_uw);
	fflush(file);
}

void power_log_read(const char *path, struct power_log *ret)
{
	struct power_log log = { 0 };
	struct power_step step;
	FILE *file = fopen(path, "re");

	if (!file) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		exit(1);
	}
	while (fscanf(file, "%31s %" SCNu64 " %" SCNd64 " %" SCNu32, step.meter, &step.t_ns,
		      &step.energy_nj, &step.power_uw) == 4) {
		log.steps = reallocarray(log.steps, log.n + 1, sizeof(*log.steps));
		if (!log.steps)
			abort();
		log.steps[log.n++] = step;
	}
	fclose(file);
	*ret = log;
}

void power_log_done(struct power_log *log)
{
	free(log->steps);
	*log = (struct power_log){ 0 };
}

int64_t power_log_energy_nj(const struct power_log *log, const char *meter, uint64_t t_ns)
{
	const struct power_step *step = NULL;
	size_t i;

	for (i = 0; i < log->n && log->steps[i].t_ns <= t_ns; i++)
		if (!strcmp(log->steps[i].meter, meter))
			step = &log->steps[i];
	if (!step)
		return 0;
	return step->energy_nj +
	       (int64_t)((__int128)step->power_uw * (t_ns - step->t_ns) / 1000000);
}

int64_t power_log_change_uw(const struct power_log *log, const char *meter, uint64_t t0_ns,
			    uint64_t t1_ns)
{
	int64_t power_uw = 0, change_uw = 0;
	size_t i;

	for (i = 0; i < log->n && log->steps[i].t_ns <= t1_ns; i++) {
		if (strcmp(log->steps[i].meter, meter))
			continue;
		if (log->steps[i].t_ns > t0_ns)
			change_uw += llabs((int64_t)log->steps[i].power_uw - power_uw);
		power_uw = log->steps[i].power_uw;
	}
	return change_uw;
}

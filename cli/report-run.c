/* SPDX-License-Identifier: Apache-2.0 */
/* What is computed of a recording once its windows have been read. */
#include <stdlib.h>
#include <string.h>

#include "report.h"

void report_run_finish(struct report_run *run)
{
	run->balance = (struct balance){ 0 };
	if (run->series.n_windows)
		balance_draw(&run->series.last, &run->balance);
	phases_find(&run->phases, &run->series, run->marks, run->n_marks);
}

void report_run_done(struct report_run *run)
{
	phases_done(&run->phases);
	series_done(&run->series);
	free(run->losses);
	run->losses = NULL;
	run->n_losses = 0;
}

double report_time_s(const struct report_run *run, uint64_t t_ns)
{
	return ((double)t_ns - (double)run->series.start_ns) / 1e9;
}

const char *report_file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that names its phases, as a user's would: public headers and the shared library.
 * usage: marker LABEL SECONDS [LABEL SECONDS ...]; each phase works for so many seconds of CPU
 * time ("sleep" sleeps). Prints what each call of watt_mark() returned.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <wattribute/mark.h>

static double cpu_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	int i;

	for (i = 1; i + 1 < argc; i += 2) {
		double seconds = strtod(argv[i + 1], NULL), end_s;
		struct timespec pause = { .tv_sec = (time_t)seconds,
					  .tv_nsec = (long)((seconds - (time_t)seconds) * 1e9) };

		printf("%d\n", watt_mark(argv[i]));
		if (strcmp(argv[i], "sleep") == 0)
			nanosleep(&pause, NULL);
		for (end_s = cpu_s() + seconds; strcmp(argv[i], "sleep") && cpu_s() < end_s;)
			continue;
	}
	printf("%d\n", watt_mark(NULL));
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The least that anybody who reads a file at deadlines has to do, for comparison: sleep until one,
 * read, and pass over those that are past.
 *
 * usage: bare_loop FILE HZ SECONDS    prints the share of deadlines that were met
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define NS 1000000000ull

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * NS + (uint64_t)t.tv_nsec;
}

static void sleep_until(uint64_t t_ns)
{
	struct timespec t = { .tv_sec = (time_t)(t_ns / NS), .tv_nsec = (long)(t_ns % NS) };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) != 0)
		continue;
}

int main(int argc, char **argv)
{
	uint64_t period_ns, begin_ns, end_ns, due = 0, n = 0;
	char buf[64];
	int fd;

	if (argc != 4)
		return 2;
	fd = open(argv[1], O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 1;
	prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
	period_ns = NS / strtoull(argv[2], NULL, 10);
	begin_ns = now_ns();
	end_ns = begin_ns + strtoull(argv[3], NULL, 10) * NS;
	while (begin_ns + due * period_ns < end_ns) {
		sleep_until(begin_ns + due * period_ns);
		if (pread(fd, buf, sizeof(buf), 0) < 0)
			return 1;
		n++;
		due = (now_ns() - begin_ns) / period_ns + 1;
	}
	printf("%.5f\n", (double)n / (double)due);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* One process, from the text of /proc/PID/stat. */
#ifndef WATT_SOURCE_HOST_PIDSTAT_H
#define WATT_SOURCE_HOST_PIDSTAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Times are clock ticks (USER_HZ), as the kernel prints them. */
struct watt_pidstat {
	uint32_t pid;
	uint32_t parent_pid;
	char comm[16]; /* raw, any byte may be in it; zeroes behind. A kworker's is without its work */
	char state;    /* 'R', 'S', 'Z', ... */
	bool is_kthread;
	uint32_t cpu;         /* that it ran on last; 0 where the line does not say */
	uint64_t utime_ticks; /* of all its threads, dead ones included */
	uint64_t stime_ticks;
	uint64_t start_ticks; /* since boot */
};

/*
 * text is the NUL-terminated line. The name ends at the last ')', whatever it contains. 0;
 * -EBADMSG: not such a line; -ERANGE: a number too large. Thread-safe.
 */
int watt_pidstat_parse(const char *text, struct watt_pidstat *ret);

#endif

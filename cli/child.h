/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A command that is started in two steps: first it exists and waits, so that it can be tracked
 * from its first instruction; then it is let go.
 *
 * It gets the signal mask, the ignored signals and the limit of open files that the caller of this
 * program gave to us, whatever we or a library of ours have made of them. It is not ended when we
 * are: a workload outlives its meter, as one that perf or time has started. Only one that still
 * waits ends with us, by its gate.
 */
#ifndef WATT_CLI_CHILD_H
#define WATT_CLI_CHILD_H

#include <sys/resource.h>
#include <sys/types.h>

struct child {
	pid_t pid;
	int pidfd;
	int gate_fd;  /* a byte written here lets it go */
	int error_fd; /* tells why it could not be executed */
};

#define CHILD_INIT \
	{ \
		.pid = -1, .pidfd = -1, .gate_fd = -1, .error_fd = -1 \
	}

/* What the caller gave to us, to be given to children: before anything of it is changed. */
void child_keep_inheritance(void);
/*
 * Forks; marks_address is what the command's environment has as WATTRIBUTE_MARKS (NULL: what ours
 * has). 0 or a negative errno.
 */
int child_start(struct child *child, char *const *argv, const char *marks_address);
/* Lets it go, and returns when the command runs: 0, or the negative errno of its execution. */
int child_release(struct child *child);
/*
 * Reaps it. Returns 1 and its wait status and usage if it has ended, 0 if it still runs.
 * Descendants that were handed to this process are reaped along the way.
 */
int child_reap(struct child *child, int *ret_status, struct rusage *ret_usage);
/* Kills it if it still waits at the gate, and closes everything. */
void child_close(struct child *child);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A command that is started in two steps: first it exists and waits, so that it can be tracked
 * from its first instruction; then it is let go.
 */
#ifndef WATT_CLI_CHILD_H
#define WATT_CLI_CHILD_H

#include <signal.h>
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

/*
 * Forks; mask is the signal mask that the command gets, marks_address what its environment has as
 * WATTRIBUTE_MARKS (NULL: what ours has). 0 or a negative errno.
 */
int child_start(struct child *child, char *const *argv, const char *marks_address,
		const sigset_t *mask);
/* Lets it go, and returns when the command runs: 0, or the negative errno of its execution. */
int child_release(struct child *child);
/*
 * Reaps it. Returns 1 and its wait status and usage if it has ended, 0 if it still runs.
 * Descendants that were handed to this process are reaped along the way.
 */
int child_reap(struct child *child, int *ret_status, struct rusage *ret_usage);
/* Kills it if it still waits at the gate, and closes everything. */
void child_close(struct child *child);

/* The limit of open files that a child gets, rather than ours. */
void child_keep_limit(const struct rlimit *limit);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiting for everything at once: the session, signals, keys, a process that ends, a deadline.
 * Signals are blocked and read from a descriptor, so nothing is ever done in a handler.
 */
#ifndef WATT_CLI_EVENTS_H
#define WATT_CLI_EVENTS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include <wattribute/session.h>

#define EVENTS_NEVER UINT64_MAX

struct events {
	int signal_fd;
	int end_fd;            /* readable while a signal waits that ends a command; never read */
	int input_fd;          /* keys; -1: none */
	int process_fd;        /* pidfd of the process that is waited for; -1: none */
	sigset_t old_mask;     /* what was blocked before */
	int signal;            /* the newest signal */
	bool is_from_terminal; /* it was sent by the terminal, so the whole group got it */
	bool is_ending;        /* one came that ends a command */
	bool wants_marks;
	struct watt_mark mark; /* the newest mark */
};

#define EVENTS_INIT \
	{ \
		.signal_fd = -1, .end_fd = -1, .input_fd = -1, .process_fd = -1 \
	}

/* What happened: bits of the return value of events_wait(). */
enum events_bit {
	EVENTS_DEADLINE = 1 << 0,
	EVENTS_SIGNAL = 1 << 1,
	EVENTS_INPUT = 1 << 2,
	EVENTS_PROCESS = 1 << 3,
	EVENTS_MARK = 1 << 4, /* if they are wanted: one, the next call has the next */
};

/* Blocks the signals that end or change a command, and opens the descriptor. */
int events_open(struct events *ev);
void events_close(struct events *ev);
/*
 * Waits until something happens or CLOCK_MONOTONIC reaches deadline_ns, while the session does
 * its work. Returns enum events_bit, or a negative errno.
 */
int events_wait(struct events *ev, struct watt_session *ses, uint64_t deadline_ns);
/* CLOCK_MONOTONIC in ns. */
uint64_t events_now_ns(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads for the comparison with the kernel's own account: processes that behave in one way for a
 * while, each in a rhythm of its own, and then wait until they are ended. Any failure ends the
 * program. Knows nothing of energy.
 */
#ifndef WATT_TESTS_GUEST_LOAD_H
#define WATT_TESTS_GUEST_LOAD_H

#include <stdint.h>
#include <sys/types.h>

#define LOADS_MAX 16
#define LOAD_NAME "load"
#define LOAD_NAME_BRIEF "brief"

enum load_behaviour {
	LOAD_STAY,    /* on the CPUs of package 0, works and rests */
	LOAD_MIGRATE, /* from package to package, while running */
	LOAD_APART,   /* on the CPUs of package 0 or 1, by its number */
	LOAD_THREADS, /* three threads, free to go anywhere */
	LOAD_BREED,   /* children that live for a few ms, named LOAD_NAME_BRIEF */
	LOAD_NICE,    /* never rests; each nicer than the one before; on package 0 */
	LOAD_DOZE,    /* works for 0.1 to 0.5 ms, and sleeps for longer */
	LOAD_REGROUP, /* from cgroup to cgroup, while running */
};

struct load {
	pid_t pid;
	int go[2];   /* the parent says when */
	int done[2]; /* the child says when */
};

_Noreturn void load_die(const char *what, int error);
uint64_t load_now_ns(void);
void load_rest_ms(uint64_t ms);
int load_n_packages(void);

/* Forks it; it waits for load_go(). i: which of its kind. */
void load_start(struct load *load, enum load_behaviour behaviour, unsigned int i, uint32_t run_ms);
void load_go(struct load *load);
/* Until it has done its work. It lives on. */
void load_await(struct load *load);
void load_end(struct load *load);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Executes a known number of instructions, for the kernel module to count. Runs in the guest.
 *
 * usage: kmod_execute run N T     says "ready" and waits for SIGUSR1; then executes N instructions
 *                                 itself, N in each of T threads that end, and N in a child that
 *                                 ends; says "CHILD USER ALL", what a counter of the kernel's own
 *                                 has of it all but the child, in user mode and in all, and waits
 *        kmod_execute loop N      executes N instructions and ends
 *        kmod_execute hold N      keeps N counters of CPU 0; says "ready", and waits
 *        kmod_execute switch N    goes to a child and back N times on one CPU, and says how many ns
 *                                 each way took
 *        kmod_execute switch-counted N    the same with a counter of each process
 */
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Two instructions each time round. */
static void execute(uint64_t n)
{
	uint64_t rounds = n / 2;

	if (!rounds)
		return;
#ifdef __aarch64__
	__asm__ volatile("1: subs %0, %0, #1\n\tb.ne 1b" : "+r"(rounds) : : "cc");
#elif defined(__x86_64__)
	__asm__ volatile("1: dec %0\n\tjnz 1b" : "+r"(rounds) : : "cc");
#else
	while (rounds--)
		__asm__ volatile("");
#endif
}

static void *run_thread(void *n)
{
	execute((uintptr_t)n);
	return NULL;
}

static int open_event(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	attr->type = PERF_TYPE_HARDWARE;
	attr->size = sizeof(*attr);
	attr->config = PERF_COUNT_HW_INSTRUCTIONS;
	return (int)syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Of this process, those threads included that it has not got yet. */
static int open_counter(int is_user)
{
	struct perf_event_attr attr = {
		.inherit = 1,
		.inherit_thread = 1,
		.exclude_hv = 1,
		.exclude_kernel = is_user ? 1 : 0,
	};

	return open_event(&attr, 0, -1);
}

static unsigned long long read_counter(int fd)
{
	uint64_t count = 0;

	if (read(fd, &count, sizeof(count)) != sizeof(count))
		perror("kmod_execute: counter");
	return count;
}

static int run_threads(uint64_t n, unsigned long n_threads)
{
	pthread_t thread;

	for (; n_threads > 0; n_threads--) {
		if (pthread_create(&thread, NULL, run_thread, (void *)(uintptr_t)n))
			return -1;
		pthread_join(thread, NULL);
	}
	return 0;
}

static pid_t run_child(uint64_t n)
{
	pid_t child = fork();

	if (!child) {
		execute(n);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	return child;
}

static int do_run(uint64_t n, unsigned long n_threads)
{
	int user = open_counter(1), all = open_counter(0), signal;
	sigset_t set;
	pid_t child;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	puts("ready");
	fflush(stdout);
	sigwait(&set, &signal);
	execute(n);
	if (run_threads(n, n_threads))
		return 1;
	child = run_child(n);
	printf("%d %llu %llu\n", child, read_counter(user), read_counter(all));
	fflush(stdout);
	pause();
	return 0;
}

static int do_hold(unsigned long n)
{
	struct perf_event_attr attr = { .pinned = 1 };

	for (; n > 0; n--) {
		if (open_event(&attr, -1, 0) >= 0)
			continue;
		perror("kmod_execute: counter");
		return 1;
	}
	puts("ready");
	fflush(stdout);
	pause();
	return 0;
}

static uint64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static int pass_on(int from, int to)
{
	char byte = 0;

	return read(from, &byte, 1) == 1 && write(to, &byte, 1) == 1 ? 0 : -1;
}

static int do_switch(unsigned long n, int is_counted)
{
	unsigned long i;
	int there[2], back[2];
	cpu_set_t set;
	uint64_t begin_ns;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	if (sched_setaffinity(0, sizeof(set), &set) || pipe(there) || pipe(back)) {
		perror("kmod_execute");
		return 1;
	}
	if (!fork()) {
		if (is_counted && open_counter(0) < 0)
			perror("kmod_execute: counter");
		close(there[1]);
		while (pass_on(there[0], back[1]) == 0)
			;
		_exit(0);
	}
	if (is_counted && open_counter(0) < 0)
		perror("kmod_execute: counter");
	if (write(there[1], "", 1) != 1)
		return 1;
	for (i = 0; i < 100; i++)
		if (pass_on(back[0], there[1]))
			return 1;
	begin_ns = now_ns();
	for (i = 0; i < n; i++)
		if (pass_on(back[0], there[1]))
			return 1;
	printf("%llu\n", (unsigned long long)(now_ns() - begin_ns) / n / 2);
	return 0;
}

int main(int argc, char **argv)
{
	uint64_t n = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;

	if (argc == 4 && !strcmp(argv[1], "run"))
		return do_run(n, strtoul(argv[3], NULL, 10));
	if (argc == 3 && !strcmp(argv[1], "loop")) {
		execute(n);
		return 0;
	}
	if (argc == 3 && !strcmp(argv[1], "hold"))
		return do_hold(n);
	if (argc == 3 && !strcmp(argv[1], "switch"))
		return do_switch(n, 0);
	if (argc == 3 && !strcmp(argv[1], "switch-counted"))
		return do_switch(n, 1);
	fputs("usage: kmod_execute run N T | loop N | hold N | switch N | switch-counted N\n",
	      stderr);
	return 2;
}

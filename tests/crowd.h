/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many tasks that sleep, for tests and benchmarks of what looks at all tasks. Their ids can be far
 * apart, as on a machine that has run for long: each is asked for by the kernel's last id, which
 * needs root; ids of kernel.pid_max and more can't be had.
 */
#ifndef WATT_TESTS_CROWD_H
#define WATT_TESTS_CROWD_H

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Ids below are of those that the machine was started with. */
#define CROWD_FIRST_ID 400u

struct crowd {
	pid_t pids[1000];
	size_t n;
	size_t n_tasks;
	bool is_apart;
	uint64_t seed;
};

static inline unsigned int crowd_id_limit(void)
{
	FILE *file = fopen("/proc/sys/kernel/pid_max", "re");
	unsigned int limit = 32768;

	if (file && fscanf(file, "%u", &limit) != 1)
		limit = 32768;
	if (file)
		fclose(file);
	return limit;
}

/* The next task gets a random id, or the next one that is free; any, if that is not permitted. */
static inline void crowd_choose_id(int fd, unsigned int limit, uint64_t *seed)
{
	char text[16];
	int n;

	/* Its upper half is random enough; rand_r's numbers lie in heaps. */
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	n = snprintf(text, sizeof(text), "%u",
		     (unsigned int)(*seed >> 33) % (limit - CROWD_FIRST_ID) + CROWD_FIRST_ID);
	/* What is written behind the beginning is ignored. */
	if (pwrite(fd, text, (size_t)n, 0) < 0)
		return;
}

static inline void *crowd_sleep(void *data)
{
	for (;;)
		pause();
	return data;
}

/* The same for the next process. */
static inline void crowd_space_out(struct crowd *crowd)
{
	int fd = open("/proc/sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC);

	crowd_choose_id(fd, crowd_id_limit(), &crowd->seed);
	if (fd >= 0)
		close(fd);
}

/* This process becomes n tasks; it says how many they are when all of them are there. */
static inline void crowd_be(unsigned int n, bool is_apart, int said_fd)
{
	unsigned int limit = crowd_id_limit(), made = 1;
	uint64_t seed = (uint64_t)getpid() << 32;
	int id_fd = open("/proc/sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC);
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 16384);
	for (; made < n; made++) {
		if (is_apart)
			crowd_choose_id(id_fd, limit, &seed);
		if (pthread_create(&thread, &attr, crowd_sleep, NULL) != 0)
			break;
	}
	if (write(said_fd, &made, sizeof(made)) != sizeof(made))
		_exit(1);
	crowd_sleep(NULL);
}

/* One more process of n tasks, asleep when this returns. How many it got, or a negative errno. */
static inline int crowd_add(struct crowd *crowd, unsigned int n)
{
	unsigned int made = 0;
	int fds[2];
	pid_t pid;

	if (crowd->n == sizeof(crowd->pids) / sizeof(crowd->pids[0]))
		return -ENOSPC;
	if (pipe(fds) < 0)
		return -errno;
	if (crowd->is_apart)
		crowd_space_out(crowd);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(fds[0]);
		crowd_be(n, crowd->is_apart, fds[1]);
	}
	close(fds[1]);
	if (pid > 0 && read(fds[0], &made, sizeof(made)) != sizeof(made))
		made = 0;
	close(fds[0]);
	if (pid < 0)
		return -EAGAIN;
	crowd->pids[crowd->n++] = pid;
	crowd->n_tasks += made;
	return (int)made;
}

static inline void crowd_kill(struct crowd *crowd)
{
	for (size_t i = 0; i < crowd->n; i++)
		kill(crowd->pids[i], SIGKILL);
	for (size_t i = 0; i < crowd->n; i++)
		waitpid(crowd->pids[i], NULL, 0);
	crowd->n = 0;
	crowd->n_tasks = 0;
}

#endif

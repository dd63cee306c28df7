/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads for the integration tests, each with its truth: when it ends, it prints the CPU seconds
 * that it and all its descendants used by getrusage, those included that nobody waited for.
 */
#include <errno.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double usage_s(int who)
{
	struct rusage usage;

	getrusage(who, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static double clock_s(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Uses CPU time of the calling thread. */
static void burn(double cpu_s)
{
	double end_s = clock_s(CLOCK_THREAD_CPUTIME_ID) + cpu_s;

	while (clock_s(CLOCK_THREAD_CPUTIME_ID) < end_s)
		continue;
}

static void reap_all(void)
{
	while (wait(NULL) > 0 || errno == EINTR)
		continue;
}

/* One thread, always running on one CPU. */
static void hog(int cpu, double cpu_s)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
	burn(cpu_s);
}

static void *run_thread(void *data)
{
	burn(*(double *)data);
	return NULL;
}

static void threads(int n, double cpu_s)
{
	pthread_t thread[64];
	int i;

	for (i = 0; i < n && i < 64; i++)
		pthread_create(&thread[i], NULL, run_thread, &cpu_s);
	for (i = 0; i < n && i < 64; i++)
		pthread_join(thread[i], NULL);
}

struct worker {
	pthread_t thread;
	int number;
	double cpu_s;
	double used_s; /* by its own clock */
};

static pthread_barrier_t all_done, all_told;

static void *run_worker(void *data)
{
	struct worker *worker = data;
	char name[16];

	snprintf(name, sizeof(name), "worker-%d", worker->number);
	pthread_setname_np(pthread_self(), name);
	burn(worker->cpu_s);
	worker->used_s = clock_s(CLOCK_THREAD_CPUTIME_ID);
	pthread_barrier_wait(&all_done);
	pthread_barrier_wait(&all_told);
	return NULL;
}

/* The k-th of n threads works k times as long as the first; each tells what it used. They all live
 * until somebody closes standard input. */
static void workers(int n, double cpu_s)
{
	struct worker worker[64] = { 0 };
	char unused;
	int i;

	n = n < 64 ? n : 64;
	pthread_barrier_init(&all_done, NULL, (unsigned int)n + 1);
	pthread_barrier_init(&all_told, NULL, (unsigned int)n + 1);
	for (i = 0; i < n; i++) {
		worker[i].number = i + 1;
		worker[i].cpu_s = cpu_s * (i + 1);
		pthread_create(&worker[i].thread, NULL, run_worker, &worker[i]);
	}
	pthread_barrier_wait(&all_done);
	for (i = 0; i < n; i++)
		printf("worker-%d %.6f\n", i + 1, worker[i].used_s);
	fflush(stdout);
	while (read(STDIN_FILENO, &unused, 1) > 0)
		continue;
	pthread_barrier_wait(&all_told);
	for (i = 0; i < n; i++)
		pthread_join(worker[i].thread, NULL);
}

/* Children and grandchildren, all waited for. */
static void tree(int n, double cpu_s)
{
	int i;

	for (i = 0; i < n; i++) {
		if (fork() == 0) {
			if (fork() == 0) {
				burn(cpu_s);
				_exit(0);
			}
			burn(cpu_s / 2);
			reap_all();
			_exit(0);
		}
	}
	burn(cpu_s / 4);
	reap_all();
}

/* As many processes as fast as possible, a few at a time. */
static void storm(int n)
{
	int i;

	for (i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			if (i % 4 == 0 && fork() == 0)
				_exit(0);
			_exit(0);
		}
		if (i % 16 == 15)
			reap_all();
	}
	reap_all();
}

/* Leaves its session and its parents behind, as daemons do, and tells what it used. */
static double daemonise(double cpu_s)
{
	double used_s = 0;
	int pipefd[2];

	if (pipe(pipefd) < 0)
		exit(1);
	if (fork() == 0) {
		setsid();
		if (fork() == 0) {
			close(pipefd[0]);
			burn(cpu_s);
			used_s = usage_s(RUSAGE_SELF);
			if (write(pipefd[1], &used_s, sizeof(used_s)) < 0)
				_exit(1);
			_exit(0);
		}
		_exit(0);
	}
	close(pipefd[1]);
	wait(NULL);
	if (read(pipefd[0], &used_s, sizeof(used_s)) != sizeof(used_s))
		exit(1);
	return used_s;
}

/* Processes of one and the same pid, one right after the other. */
static int reuse(int n, double cpu_s)
{
	pid_t wanted = 0;
	int i;

	for (i = 0; i < n; i++) {
		struct clone_args args = { .exit_signal = SIGCHLD };
		pid_t pid;

		if (wanted) {
			args.set_tid = (uint64_t)(uintptr_t)&wanted;
			args.set_tid_size = 1;
		}
		pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));
		if (pid < 0)
			return errno == EEXIST ? 0 : 77;
		if (pid == 0) {
			burn(cpu_s);
			_exit(0);
		}
		wanted = pid;
		waitpid(pid, NULL, 0);
	}
	return 0;
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "";
	int n = argc > 2 ? atoi(argv[2]) : 0, status = 0;
	double cpu_s = argc > 3 ? atof(argv[3]) : 0, elsewhere_s = 0;

	if (strcmp(kind, "hog") == 0)
		hog(n, cpu_s);
	else if (strcmp(kind, "threads") == 0)
		threads(n, cpu_s);
	else if (strcmp(kind, "workers") == 0)
		workers(n, cpu_s);
	else if (strcmp(kind, "tree") == 0)
		tree(n, cpu_s);
	else if (strcmp(kind, "storm") == 0)
		storm(n);
	else if (strcmp(kind, "daemon") == 0)
		elsewhere_s = daemonise(cpu_s);
	else if (strcmp(kind, "reuse") == 0)
		status = reuse(n, cpu_s);
	else
		return 2;
	printf("%.6f\n", usage_s(RUSAGE_SELF) + usage_s(RUSAGE_CHILDREN) + elsewhere_s);
	return status;
}

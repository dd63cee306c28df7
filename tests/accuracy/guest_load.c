/* SPDX-License-Identifier: Apache-2.0 */
/* How each load behaves. What is said in the header holds for all of them. */
#include "guest_load.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CPUS_MAX 64
#define NS_PER_US 1000ULL
#define NS_PER_MS 1000000ULL
#define CGROUP "/sys/fs/cgroup/load-%u"

void load_die(const char *what, int error)
{
	fprintf(stderr, "guest_truth: %s: %s\n", what, strerror(error));
	exit(1);
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

uint64_t load_now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static void rest(uint64_t time_ns)
{
	struct timespec ts = { (time_t)(time_ns / 1000000000), (long)(time_ns % 1000000000) };

	nanosleep(&ts, NULL);
}

void load_rest_ms(uint64_t ms)
{
	rest(ms * NS_PER_MS);
}

static void busy(uint64_t time_ns)
{
	uint64_t end_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) + time_ns;

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns)
		;
}

static int package_of_cpu[CPUS_MAX];
static int n_cpus;

/* In the parent, before its first load. */
static void read_topology(void)
{
	char path[128];
	FILE *file;

	while (n_cpus < CPUS_MAX) {
		snprintf(path, sizeof(path),
			 "/sys/devices/system/cpu/cpu%d/topology/physical_package_id", n_cpus);
		file = fopen(path, "re");
		if (!file)
			return;
		if (fscanf(file, "%d", &package_of_cpu[n_cpus++]) != 1)
			load_die(path, EBADMSG);
		fclose(file);
	}
}

int load_n_packages(void)
{
	int cpu, n = 0;

	read_topology();
	for (cpu = 0; cpu < n_cpus; cpu++)
		n = package_of_cpu[cpu] >= n ? package_of_cpu[cpu] + 1 : n;
	return n;
}

static void go_to_package(int package)
{
	cpu_set_t set;
	int cpu;

	CPU_ZERO(&set);
	for (cpu = 0; cpu < n_cpus; cpu++)
		if (package_of_cpu[cpu] == package)
			CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		load_die("sched_setaffinity", errno);
}

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		load_die(path, errno);
	close(fd);
}

/* One of two. */
static void go_to_cgroup(unsigned int group)
{
	char path[64];

	snprintf(path, sizeof(path), CGROUP, group);
	if (mkdir(path, 0755) && errno != EEXIST)
		load_die(path, errno);
	snprintf(path, sizeof(path), CGROUP "/cgroup.procs", group);
	write_file(path, "0");
}

/* ---- behaviours ---- */

struct shift {
	enum load_behaviour behaviour;
	unsigned int i;
	uint64_t end_ns;
};

/* Works and rests by turns, each load in a rhythm of its own. */
static void work(const struct shift *shift)
{
	unsigned int n, i = shift->i;

	for (n = 0; load_now_ns() < shift->end_ns; n++) {
		if (n % 3 == 0 && shift->behaviour == LOAD_MIGRATE)
			go_to_package((int)(n / 3 + i) % 2);
		if (n % 3 == 0 && shift->behaviour == LOAD_REGROUP)
			go_to_cgroup((n / 3 + i) % 2);
		busy((3 + 2 * i) * NS_PER_MS);
		rest((1 + (i * 5) % 11) * NS_PER_MS);
	}
}

static void *run_thread(void *data)
{
	work(data);
	return NULL;
}

static void run_threads(const struct shift *shift)
{
	struct shift shifts[3];
	pthread_t threads[3];
	unsigned int t;

	for (t = 0; t < 3; t++) {
		shifts[t] = *shift;
		shifts[t].i += t;
		if (pthread_create(&threads[t], NULL, run_thread, &shifts[t]))
			load_die("pthread_create", EAGAIN);
	}
	for (t = 0; t < 3; t++)
		pthread_join(threads[t], NULL);
}

static void breed(const struct shift *shift)
{
	unsigned int n;
	pid_t pid;

	for (n = 0; load_now_ns() < shift->end_ns; n++) {
		pid = fork();
		if (pid == 0) {
			prctl(PR_SET_NAME, LOAD_NAME_BRIEF);
			busy((1 + (n * 7 + shift->i) % 9) * NS_PER_MS);
			_exit(0);
		}
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			load_die("fork", errno);
	}
}

static void toil(const struct shift *shift)
{
	if (nice((int)shift->i * 3) < 0)
		load_die("nice", errno);
	while (load_now_ns() < shift->end_ns)
		;
}

static void doze(const struct shift *shift)
{
	unsigned int n;

	for (n = 0; load_now_ns() < shift->end_ns; n++) {
		busy((100 + (n + shift->i) % 5 * 100) * NS_PER_US);
		rest((500 + shift->i * 300) * NS_PER_US);
	}
}

static void behave(const struct shift *shift)
{
	switch (shift->behaviour) {
	case LOAD_STAY:
	case LOAD_APART:
	case LOAD_MIGRATE:
	case LOAD_REGROUP:
		work(shift);
		return;
	case LOAD_THREADS:
		run_threads(shift);
		return;
	case LOAD_BREED:
		breed(shift);
		return;
	case LOAD_NICE:
		toil(shift);
		return;
	case LOAD_DOZE:
		doze(shift);
		return;
	}
}

/* ---- life and death ---- */

_Noreturn static void live(const struct load *load, struct shift *shift, uint32_t run_ms)
{
	char c;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, LOAD_NAME);
	if (shift->behaviour == LOAD_STAY || shift->behaviour == LOAD_NICE)
		go_to_package(0);
	if (shift->behaviour == LOAD_APART)
		go_to_package((int)(shift->i % 2));
	if (read(load->go[0], &c, 1) != 1)
		_exit(1);
	shift->end_ns = load_now_ns() + run_ms * NS_PER_MS;
	behave(shift);
	if (write(load->done[1], "", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

void load_start(struct load *load, enum load_behaviour behaviour, unsigned int i, uint32_t run_ms)
{
	struct shift shift = { .behaviour = behaviour, .i = i };

	read_topology();
	if (pipe2(load->go, O_CLOEXEC) || pipe2(load->done, O_CLOEXEC))
		load_die("pipe", errno);
	fflush(NULL);
	load->pid = fork();
	if (load->pid < 0)
		load_die("fork", errno);
	if (load->pid == 0)
		live(load, &shift, run_ms);
}

void load_go(struct load *load)
{
	if (write(load->go[1], "", 1) != 1)
		load_die("write", errno);
}

void load_await(struct load *load)
{
	char c;

	if (read(load->done[0], &c, 1) != 1)
		load_die("a load died", EIO);
}

void load_end(struct load *load)
{
	kill(load->pid, SIGKILL);
	waitpid(load->pid, NULL, 0);
	close(load->go[0]);
	close(load->go[1]);
	close(load->done[0]);
	close(load->done[1]);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a mark costs the program that makes it: without the variable, while nobody listens, and
 * with a listener that keeps up; and what it costs the listener to take it.
 */
#include "bench.h"

#include <sys/wait.h>

#include <wattribute/mark.h>

#include "mark/socket.h"

#define QUIET_CALLS 5000000
#define ROUNDS 20
#define TOLD_CALLS WATT_MARKS_PER_S /* more at once are left out */
#define BATCH 8

static struct watt_mark_socket *marks;

/* The mean cost of a call in ns, in a process that has the variable so. */
static double in_child(const char *address, double (*fn)(void))
{
	double ns = 0;
	int fds[2], status;
	pid_t pid;

	if (pipe(fds) < 0 || (pid = fork()) < 0)
		bench_exit(1, "no process: %s", strerror(errno));
	if (pid == 0) {
		if (address)
			setenv("WATTRIBUTE_MARKS", address, 1);
		else
			unsetenv("WATTRIBUTE_MARKS");
		ns = fn();
		_exit(write(fds[1], &ns, sizeof(ns)) != sizeof(ns));
	}
	close(fds[1]);
	if (read(fds[0], &ns, sizeof(ns)) != sizeof(ns) || waitpid(pid, &status, 0) != pid ||
	    status)
		bench_exit(1, "the measured process failed");
	close(fds[0]);
	return ns;
}

static double mark_quietly(void)
{
	uint64_t begin_ns;
	int i, r = 0;

	watt_mark("first");
	begin_ns = bench_thread_cpu_ns();
	for (i = 0; i < QUIET_CALLS; i++)
		r |= watt_mark("load");
	if (r == 0)
		bench_exit(1, "somebody listens");
	return (double)(bench_thread_cpu_ns() - begin_ns) / QUIET_CALLS;
}

static double read_clock(void)
{
	uint64_t begin_ns = bench_thread_cpu_ns(), sum = 0;
	int i;

	for (i = 0; i < QUIET_CALLS; i++)
		sum += watt_now_ns();
	if (sum == 0)
		bench_exit(1, "no clock");
	return (double)(bench_thread_cpu_ns() - begin_ns) / QUIET_CALLS;
}

static double mark_or_take(bool is_taking)
{
	struct watt_mark mark;
	uint64_t spent_ns = 0, begin_ns, middle_ns;
	int i, k;

	for (i = 0; i < TOLD_CALLS / BATCH; i++) {
		begin_ns = watt_now_ns();
		for (k = 0; k < BATCH; k++)
			if (watt_mark("load") < 0)
				bench_exit(1, "a mark is not told");
		middle_ns = watt_now_ns();
		for (k = 0; k < BATCH; k++)
			if (watt_mark_socket_read(marks, &mark) != 0)
				bench_exit(1, "a mark is lost");
		spent_ns += is_taking ? watt_now_ns() - middle_ns : middle_ns - begin_ns;
	}
	return (double)spent_ns / TOLD_CALLS;
}

static double mark_told(void)
{
	return mark_or_take(false);
}

static double mark_taken(void)
{
	return mark_or_take(true);
}

/* The mean of processes that each begin with nothing told. */
static double in_children(const char *address, double (*fn)(void))
{
	double ns = 0;
	int i;

	for (i = 0; i < ROUNDS; i++)
		ns += in_child(address, fn) / ROUNDS;
	return ns;
}

int main(void)
{
	char *root = bench_tree_new(), address[WATT_MARK_ADDRESS_SIZE];
	double clock_ns;
	int r;

	r = watt_mark_socket_open(root, NULL, &marks);
	if (r < 0)
		bench_exit(1, "cannot listen: %s", strerror(-r));
	snprintf(address, sizeof(address), "%s", watt_mark_socket_get_address(marks));
	clock_ns = in_child(NULL, read_clock);
	bench_report("mark: not measured", in_child(NULL, mark_quietly), "ns", BENCH_NO_BAR, 0,
		     "without WATTRIBUTE_MARKS; a clock read takes %.1f ns", clock_ns);
	bench_report("mark: nobody listens", in_child("@wattribute/nobody", mark_quietly), "ns",
		     BENCH_AT_MOST, clock_ns + 20,
		     "with WATTRIBUTE_MARKS; bar: a clock read + 20 ns");
	bench_report("mark: told", in_children(address, mark_told) / 1e3, "us", BENCH_NO_BAR, 0,
		     "the program's part, %d marks", ROUNDS * TOLD_CALLS);
	bench_report("mark: taken", in_children(address, mark_taken) / 1e3, "us", BENCH_NO_BAR, 0,
		     "the listener's part, without the sweep");
	watt_mark_socket_close(marks);
	bench_tree_remove(root);
	return 0;
}

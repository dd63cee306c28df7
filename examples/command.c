/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a command and all its descendants use, in phases that the command itself names by
 * watt_mark() or `wattribute mark`.
 * cc command.c $(pkg-config --cflags --libs libwattribute); ./a.out COMMAND [ARGUMENT...]
 */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <wattribute/wattribute.h>

#define FINISH_MS 3000

static void tell(const struct watt_run *run)
{
	size_t i;

	if (run->is_known)
		printf("%.6f J of the machine's %.6f J in %.3f s\n", (double)run->energy_nj / 1e9,
		       (double)run->machine_nj / 1e9, (double)run->elapsed_ns / 1e9);
	else
		printf("no energy is known, but %.3f s of CPU time\n", (double)run->cpu_ns / 1e9);
	for (i = 0; i < run->n_phases; i++)
		printf("  %.6f J in %s\n", (double)run->phases[i].energy_nj / 1e9,
		       *run->phases[i].label ? run->phases[i].label : "no phase");
}

/* The process waits until it may go, so that nothing of it is missed. */
static pid_t fork_command(char **argv, int *ret_gate)
{
	int gate[2];
	pid_t pid;
	char go;

	if (pipe(gate) < 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		close(gate[1]);
		if (read(gate[0], &go, 1) == 1)
			execvp(argv[0], argv);
		_exit(127);
	}
	close(gate[0]);
	*ret_gate = gate[1];
	return pid;
}

static int measure(struct watt_session *ses, struct watt_stopwatch *watch, pid_t pid, int gate,
		   struct watt_run **ret)
{
	int r = watt_stopwatch_prepare(watch), status = 0;
	struct watt_mark mark;

	if (r == 0)
		r = watt_stopwatch_begin(watch);
	if (r == 0 && write(gate, "g", 1) != 1)
		return -1;
	while (r == 0 && waitpid(pid, &status, WNOHANG) == 0) {
		r = watt_session_wait(ses, 20);
		while (r == 0 && watt_session_next_mark(ses, &mark) == 0)
			r = watt_stopwatch_mark(watch, &mark);
		if (r == 0)
			r = watt_stopwatch_cut(watch);
	}
	if (r == 0)
		r = watt_stopwatch_end(watch);
	watt_session_flush(ses, FINISH_MS); /* the accounts of all that have ended */
	if (r == 0)
		r = watt_stopwatch_finish(watch, FINISH_MS, ret);
	return r;
}

int main(int argc, char **argv)
{
	struct watt_stopwatch_opts opts = { .sz = sizeof(opts) };
	struct watt_stopwatch *watch = NULL;
	struct watt_session *ses = NULL;
	struct watt_run *run = NULL;
	int gate = -1, r = argc < 2 ? -1 : watt_session_open(NULL, &ses);
	pid_t pid = -1;

	if (r == 0)
		r = watt_session_start(ses);
	if (r == 0)
		pid = fork_command(argv + 1, &gate);
	if (r == 0)
		r = pid < 0 ? -1 : watt_session_track(ses, (uint32_t)pid, &opts.tracked_id);
	if (r == 0)
		r = watt_stopwatch_open(ses, &opts, &watch);
	if (r == 0)
		r = measure(ses, watch, pid, gate, &run);
	if (r >= 0)
		tell(run);
	else
		fprintf(stderr, "not measured: %s\n", argc < 2 ? "no command" : strerror(-r));
	watt_run_free(run);
	watt_stopwatch_close(watch);
	watt_session_close(ses);
	return r < 0;
}

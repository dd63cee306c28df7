/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts a command behind a gate. Between fork and exec only what is safe there is called; the
 * command inherits nothing of ours but its standard streams.
 */
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "xalloc.h"

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

#define MARKS "WATTRIBUTE_MARKS="

/* Our environment with the address in it; free the array and its first element. */
static char **make_environment(const char *marks_address)
{
	size_t n = 0, i, k = 0;
	char **copy;

	while (environ[n])
		n++;
	copy = xcalloc(n + 2, sizeof(*copy));
	if (marks_address)
		copy[k++] = xasprintf(MARKS "%s", marks_address);
	for (i = 0; i < n; i++)
		if (!marks_address || strncmp(environ[i], MARKS, strlen(MARKS)) != 0)
			copy[k++] = environ[i];
	return copy;
}

static struct {
	bool is_kept;
	sigset_t mask, ignored;
	struct rlimit files;
} inheritance;

void child_keep_inheritance(void)
{
	struct sigaction action;
	int number;

	sigemptyset(&inheritance.ignored);
	for (number = 1; number <= SIGRTMAX; number++)
		if (sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN)
			sigaddset(&inheritance.ignored, number);
	inheritance.is_kept = sigprocmask(SIG_BLOCK, NULL, &inheritance.mask) == 0 &&
			      getrlimit(RLIMIT_NOFILE, &inheritance.files) == 0;
}

/* A handler ends with the exec; what is ignored stays so, and a library may ignore SIGPIPE. */
static void pass_inheritance_on(void)
{
	struct sigaction action = { .sa_handler = SIG_DFL };
	int number;

	if (!inheritance.is_kept)
		return;
	for (number = 1; number <= SIGRTMAX; number++) {
		action.sa_handler = sigismember(&inheritance.ignored, number) == 1 ? SIG_IGN :
										     SIG_DFL;
		sigaction(number, &action, NULL); /* some can't be set: those are never ignored */
	}
	setrlimit(RLIMIT_NOFILE, &inheritance.files);
	sigprocmask(SIG_SETMASK, &inheritance.mask, NULL);
}

struct start {
	char *const *argv;
	char *const *environment;
};

__attribute__((noreturn)) static void run(const struct start *start, int gate_fd, int error_fd)
{
	char byte;
	int error;
	ssize_t n;

	do
		n = read(gate_fd, &byte, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(127);
	pass_inheritance_on();
	execvpe(start->argv[0], start->argv, start->environment);
	error = errno;
	if (write(error_fd, &error, sizeof(error)) < 0)
		_exit(126);
	_exit(127);
}

static int fork_child(struct child *child, const struct start *start)
{
	int gate[2] = { -1, -1 }, error[2] = { -1, -1 }, r = 0;

	if (pipe2(gate, O_CLOEXEC) < 0 || pipe2(error, O_CLOEXEC) < 0) {
		r = -errno;
		goto err_pipes;
	}
	child->pid = fork();
	if (child->pid < 0) {
		r = -errno;
		goto err_pipes;
	}
	if (child->pid == 0) {
		close(gate[1]);
		run(start, gate[0], error[1]);
	}
	close_fd(&gate[0]);
	close_fd(&error[1]);
	child->gate_fd = gate[1];
	child->error_fd = error[0];
	child->pidfd = (int)syscall(SYS_pidfd_open, child->pid, 0);
	if (child->pidfd < 0) {
		r = -errno;
		child_close(child);
		return r;
	}
	fcntl(child->pidfd, F_SETFD, FD_CLOEXEC);
	return 0;
err_pipes:
	close_fd(&gate[0]);
	close_fd(&gate[1]);
	close_fd(&error[0]);
	close_fd(&error[1]);
	return r;
}

int child_start(struct child *child, char *const *argv, const char *marks_address)
{
	char **environment = make_environment(marks_address);
	struct start start = { .argv = argv, .environment = environment };
	int r = fork_child(child, &start);

	if (marks_address)
		free(environment[0]);
	free(environment);
	return r;
}

int child_release(struct child *child)
{
	int error = 0;
	ssize_t n;

	if (write(child->gate_fd, "g", 1) != 1)
		return -errno;
	close_fd(&child->gate_fd);
	/* The pipe closes by itself when the command is executed. */
	do
		n = read(child->error_fd, &error, sizeof(error));
	while (n < 0 && errno == EINTR);
	close_fd(&child->error_fd);
	return n == sizeof(error) ? -error : 0;
}

int child_reap(struct child *child, int *ret_status, struct rusage *ret_usage)
{
	struct rusage usage;
	int status, has_ended = 0;
	pid_t pid;

	while ((pid = wait4(-1, &status, WNOHANG, &usage)) > 0) {
		if (pid != child->pid)
			continue;
		*ret_status = status;
		*ret_usage = usage;
		has_ended = 1;
		child->pid = -1;
	}
	return has_ended;
}

void child_close(struct child *child)
{
	/* A closed gate ends a child that still waits there. */
	close_fd(&child->gate_fd);
	close_fd(&child->error_fd);
	close_fd(&child->pidfd);
	if (child->pid > 0)
		waitpid(child->pid, NULL, 0);
	child->pid = -1;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* cli/child.c: a command gets what our caller gave to us, whatever became of it here. */
#include "unit.h"

#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "child.h"

#define BIT(number) (1ULL << ((number)-1))

/* What a child says of itself, by the words of /proc/PID/status. */
struct said {
	uint64_t ignored, blocked, files;
};

static uint64_t number_behind(const char *path, const char *word, int base)
{
	char line[256];
	uint64_t number = UINT64_MAX;
	FILE *file = fopen(path, "r");

	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		if (!strncmp(line, word, strlen(word)))
			number = strtoull(line + strlen(word), NULL, base);
	fclose(file);
	assert_true(number != UINT64_MAX);
	return number;
}

/* Runs a command that ends when nobody writes to it, and reads what the kernel says of it. */
static struct said ask_child(void)
{
	char cat[] = "cat", *argv[] = { cat, NULL };
	struct child child = CHILD_INIT;
	int ends[2], input = dup(STDIN_FILENO), status;
	char path[64];
	struct said said;

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_true(dup2(ends[0], STDIN_FILENO) >= 0);
	assert_int_equal(child_start(&child, argv, NULL), 0);
	assert_true(dup2(input, STDIN_FILENO) >= 0);
	assert_int_equal(child_release(&child), 0);
	snprintf(path, sizeof(path), "/proc/%d/status", (int)child.pid);
	said.ignored = number_behind(path, "SigIgn:", 16);
	said.blocked = number_behind(path, "SigBlk:", 16);
	snprintf(path, sizeof(path), "/proc/%d/limits", (int)child.pid);
	said.files = number_behind(path, "Max open files", 10);
	close(ends[0]);
	close(ends[1]);
	close(input);
	assert_int_equal(waitpid(child.pid, &status, 0), child.pid);
	assert_int_equal(status, 0);
	child.pid = -1;
	child_close(&child);
	return said;
}

static void handle(int number)
{
}

static void set_signal(int number, void (*handler)(int))
{
	struct sigaction action = { .sa_handler = handler };

	assert_int_equal(sigaction(number, &action, NULL), 0);
}

static void block(int how, int number)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, number);
	assert_int_equal(sigprocmask(how, &set, NULL), 0);
}

/* Ignores a signal; which one the kernel takes it for: emulators move those of real time. */
static uint64_t ignore_realtime(int number)
{
	uint64_t before, after;

	set_signal(number, SIG_DFL);
	before = number_behind("/proc/self/status", "SigIgn:", 16);
	set_signal(number, SIG_IGN);
	after = number_behind("/proc/self/status", "SigIgn:", 16);
	assert_true(after != before);
	return after & ~before;
}

static void test_inherits_the_callers(void **state)
{
	uint64_t realtime;
	struct rlimit files, fewer;
	struct said said;

	/* the caller's */
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
	fewer = (struct rlimit){ .rlim_cur = 100, .rlim_max = files.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &fewer), 0);
	set_signal(SIGPIPE, SIG_DFL);
	set_signal(SIGHUP, SIG_DFL); /* whoever started the tests may ignore it */
	set_signal(SIGUSR1, SIG_IGN);
	realtime = ignore_realtime(SIGRTMIN + 3);
	block(SIG_BLOCK, SIGUSR2);
	block(SIG_UNBLOCK, SIGTERM);
	child_keep_inheritance();
	/* ours */
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &files), 0);
	set_signal(SIGPIPE, SIG_IGN);
	set_signal(SIGUSR1, handle);
	set_signal(SIGRTMIN + 3, SIG_DFL);
	set_signal(SIGHUP, SIG_IGN);
	block(SIG_UNBLOCK, SIGUSR2);
	block(SIG_BLOCK, SIGTERM);

	said = ask_child();
	assert_int_equal(said.ignored & BIT(SIGPIPE), 0);
	assert_int_equal(said.ignored & BIT(SIGHUP), 0);
	assert_true(said.ignored & BIT(SIGUSR1));
	assert_true(said.ignored & realtime);
	assert_true(said.blocked & BIT(SIGUSR2));
	assert_int_equal(said.blocked & BIT(SIGTERM), 0);
	assert_int_equal(said.files, 100);
}

/* One that was never let go ends when whoever would let it go is no more. */
static void test_ends_at_its_gate(void **state)
{
	char true_[] = "true", *argv[] = { true_, NULL };
	struct child child = CHILD_INIT;
	struct pollfd end;
	int status;

	assert_int_equal(child_start(&child, argv, NULL), 0);
	close(child.gate_fd);
	child.gate_fd = -1;
	end = (struct pollfd){ .fd = child.pidfd, .events = POLLIN };
	assert_int_equal(poll(&end, 1, 30000), 1);
	assert_int_equal(waitpid(child.pid, &status, 0), child.pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 127);
	child.pid = -1;
	child_close(&child);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_inherits_the_callers),
		cmocka_unit_test(test_ends_at_its_gate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

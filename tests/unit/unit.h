/* SPDX-License-Identifier: Apache-2.0 */
/* What every unit test needs: cmocka, fixtures, and trees of files made on the spot. */
#ifndef WATT_TESTS_UNIT_H
#define WATT_TESTS_UNIT_H

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/*
 * Tells LeakSanitizer what is to stay: lines of "leak:FUNCTION", of what was allocated below it.
 * Once in a program, and with the reason.
 */
#define MAY_LEAK(lines) \
	__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void); \
	const char *__lsan_default_suppressions(void) \
	{ \
		return lines; \
	} \
	_Static_assert(1, "ends in a semicolon")

/* Path of a fixture machine's tree: fixture("xeon-2s", "sys"). Static buffer. */
static inline const char *fixture(const char *machine, const char *tree)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s/%s", getenv("WATT_FIXTURES"), machine, tree);
	return path;
}

/* A scratch directory; remove it with scratch_remove(). */
static inline char *scratch_new(void)
{
	char *path = strdup("/tmp/watt-test-XXXXXX");

	assert_non_null(mkdtemp(path));
	return path;
}

static inline void scratch_remove(char *path)
{
	char command[PATH_MAX + 16];

	snprintf(command, sizeof(command), "rm -rf '%s'", path);
	assert_int_equal(system(command), 0);
	free(path);
}

/* Writes len bytes to root/path in place, making its folders. */
static inline void scratch_write_bytes(const char *root, const char *path, const void *data,
				       size_t len)
{
	char full[PATH_MAX];
	char *slash;
	int fd;

	snprintf(full, sizeof(full), "%s/%s", root, path);
	for (slash = strchr(full + strlen(root) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(full, 0755);
		*slash = '/';
	}
	fd = open(full, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, len), (ssize_t)len);
	close(fd);
}

static inline void scratch_write(const char *root, const char *path, const char *text)
{
	scratch_write_bytes(root, path, text, strlen(text));
}

/* A symbolic link; its folder is made. */
static inline void scratch_link(const char *root, const char *path, const char *target)
{
	char full[PATH_MAX];

	scratch_write(root, path, "");
	snprintf(full, sizeof(full), "%s/%s", root, path);
	assert_int_equal(unlink(full), 0);
	assert_int_equal(symlink(target, full), 0);
}

/* Whether pids here are those that a driver has for processes, which knows of no namespace. */
static inline bool has_machine_pids(void)
{
	char name[64] = "";

	return readlink("/proc/self/ns/pid", name, sizeof(name) - 1) < 0 ||
	       !strcmp(name, "pid:[4026531836]");
}

static inline void scratch_unlink(const char *root, const char *path)
{
	char full[PATH_MAX];

	snprintf(full, sizeof(full), "%s/%s", root, path);
	assert_int_equal(unlink(full), 0);
}

/*
 * As fork(). What fails in the child ends it, instead of running the rest of the tests once more; and
 * it does not outlive this program, which would keep whoever reads its output waiting.
 */
static inline pid_t fork_child(void)
{
	pid_t parent = getpid(), pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
		setenv("CMOCKA_TEST_ABORT", "1", 1);
	}
	return pid;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lib/mark/mark.c: telling marks, by the public interface alone but for the listener. Each case runs in
 * a process of its own, as the address is read once.
 */
#include "unit.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <wattribute/mark.h>

#include "base/clock.h"
#include "mark/address.h"
#include "mark/socket.h"

struct rig {
	char *root;
	char directory[64];
	char address[128];
	char gone[136];
	struct watt_mark_socket *marks;
};

static int setup(void **state)
{
	struct rig *rig = calloc(1, sizeof(*rig));

	assert_non_null(rig);
	rig->root = scratch_new();
	snprintf(rig->directory, sizeof(rig->directory), "%s/sockets", rig->root);
	assert_int_equal(watt_mark_socket_open(rig->directory, NULL, &rig->marks), 0);
	*state = rig;
	return 0;
}

static int teardown(void **state)
{
	struct rig *rig = *state;

	watt_mark_socket_close(rig->marks);
	scratch_remove(rig->root);
	free(rig);
	return 0;
}

/* Runs fn in a child with the variable set (NULL: not set); its return value must be 0. */
static void in_child(const char *address, int (*fn)(struct rig *rig), struct rig *rig)
{
	pid_t pid = fork_child();
	int status;

	if (pid == 0) {
		alarm(20); /* "never blocks" must not block the tests */
		if (address)
			setenv("WATTRIBUTE_MARKS", address, 1);
		else
			unsetenv("WATTRIBUTE_MARKS");
		_exit(fn(rig) & 0xff);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static int mark_nobody(struct rig *rig)
{
	int i;

	for (i = 0; i < 3; i++)
		if (watt_mark("load") != -ENOTCONN || watt_mark(NULL) != -ENOTCONN)
			return 1;
	return 0;
}

static void test_nobody_listens(void **state)
{
	static const char *const addresses[] = {
		NULL,          "",  "relative", "@", "/nowhere/marks", "@wattribute/nobody",
		"/etc/passwd", "/",
	};
	char too_long[300];
	size_t i;

	for (i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++)
		in_child(addresses[i], mark_nobody, *state);
	memset(too_long, 'x', sizeof(too_long) - 1);
	too_long[0] = '/';
	too_long[sizeof(too_long) - 1] = '\0';
	in_child(too_long, mark_nobody, *state);
}

static int mark_twice(struct rig *rig)
{
	int fds[2];

	/* errno and descriptors of the program stay as they are */
	fds[0] = dup(STDOUT_FILENO);
	close(fds[0]);
	errno = EDOM;
	if (watt_mark("load") != 0 || watt_mark(NULL) != 0 || errno != EDOM)
		return 1;
	if (watt_mark("new\nline") != -EINVAL || watt_mark("\xff") != -EINVAL)
		return 2;
	fds[1] = dup(STDOUT_FILENO);
	return fds[0] == fds[1] ? 0 : 3;
}

static void expect(struct rig *rig, const char *label)
{
	struct watt_mark mark;

	assert_int_equal(watt_mark_socket_read(rig->marks, &mark), 0);
	assert_string_equal(mark.label, label);
	assert_true(mark.t_ns <= watt_now_ns());
	assert_true(mark.pid != 0 && mark.pid != (uint32_t)getpid());
}

static void test_somebody_listens(void **state)
{
	struct rig *rig = *state;
	struct watt_mark mark;

	in_child(watt_mark_socket_get_address(rig->marks), mark_twice, rig);
	expect(rig, "load");
	expect(rig, "");
	assert_int_equal(watt_mark_socket_read(rig->marks, &mark), 1);
}

static int mark_long(struct rig *rig)
{
	char label[200] = "";
	int i;

	for (i = 0; i < 22; i++)
		strcat(label, "日");
	return watt_mark(label);
}

static void test_long_labels_are_cut(void **state)
{
	struct rig *rig = *state;
	struct watt_mark mark;

	in_child(watt_mark_socket_get_address(rig->marks), mark_long, rig);
	assert_int_equal(watt_mark_socket_read(rig->marks, &mark), 0);
	assert_int_equal(strlen(mark.label), 63);
	in_child(watt_mark_socket_get_address(rig->marks), mark_twice, rig);
}

static int mark_in_fork(struct rig *rig)
{
	int status = 0, r;
	pid_t pid;

	r = watt_mark("parent");
	pid = fork_child();
	if (pid == 0) {
		/* as a daemon would */
		for (r = 3; r < 256; r++)
			close(r);
		_exit(-watt_mark("child"));
	}
	return r || waitpid(pid, &status, 0) != pid || status || watt_mark("parent again");
}

static void test_fork(void **state)
{
	struct rig *rig = *state;
	struct watt_mark marks[3];
	size_t i;

	in_child(watt_mark_socket_get_address(rig->marks), mark_in_fork, rig);
	for (i = 0; i < 3; i++)
		assert_int_equal(watt_mark_socket_read(rig->marks, &marks[i]), 0);
	assert_string_equal(marks[1].label, "child");
	assert_int_not_equal(marks[0].pid, marks[1].pid);
	assert_int_equal(marks[0].pid, marks[2].pid);
}

static int mark_until_full(struct rig *rig)
{
	struct watt_mark mark;
	int sent = 0, r;

	while ((r = watt_mark("many")) == 0)
		sent++;
	if (r != -EAGAIN || watt_mark("many") != -EAGAIN)
		return 1;
	for (; sent > 0; sent--)
		if (watt_mark_socket_read(rig->marks, &mark) != 0)
			return 2;
	return watt_mark("after");
}

static void test_full_queue_is_told(void **state)
{
	struct rig *rig = *state;
	struct watt_mark_socket_counts counts;

	in_child(watt_mark_socket_get_address(rig->marks), mark_until_full, rig);
	expect(rig, "after");
	watt_mark_socket_get_counts(rig->marks, &counts);
	assert_int_equal(counts.lost, 2);
}

/* Nobody listens; then somebody does at the same place. */
static int mark_across_restart(struct rig *rig)
{
	struct timespec pause = { .tv_nsec = 50000000 };
	int r;

	if (watt_mark("early") != -ENOTCONN || rename(rig->gone, rig->address) < 0)
		return 1;
	while ((r = watt_mark("again")) == -ENOTCONN)
		nanosleep(&pause, NULL);
	return -r;
}

static void test_looks_again(void **state)
{
	struct rig *rig = *state;

	snprintf(rig->address, sizeof(rig->address), "%s",
		 watt_mark_socket_get_address(rig->marks));
	snprintf(rig->gone, sizeof(rig->gone), "%s.gone", rig->address);
	assert_int_equal(rename(rig->address, rig->gone), 0);
	in_child(rig->address, mark_across_restart, rig);
	expect(rig, "again");
}

static void *mark_in_thread(void *data)
{
	int i;

	for (i = 0; i < 200; i++)
		if (watt_mark("thread") == -EAGAIN)
			__atomic_add_fetch((int *)data, 1, __ATOMIC_RELAXED);
	return NULL;
}

static int mark_in_threads(struct rig *rig)
{
	struct watt_mark_socket_counts counts;
	struct watt_mark mark;
	pthread_t threads[4];
	int lost = 0, i;
	uint64_t n = 0;

	for (i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, mark_in_thread, &lost);
	for (i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	while (watt_mark_socket_read(rig->marks, &mark) == 0)
		n++;
	if (watt_mark("last") != 0 || watt_mark_socket_read(rig->marks, &mark) != 0)
		return 1;
	watt_mark_socket_get_counts(rig->marks, &counts);
	/* each of the 800 came or is counted */
	return n + (uint64_t)lost != 800 || counts.lost != (uint64_t)lost;
}

static void test_threads(void **state)
{
	struct rig *rig = *state;

	in_child(watt_mark_socket_get_address(rig->marks), mark_in_threads, rig);
}

static void test_send(void **state)
{
	struct rig *rig = *state;
	const char *address = watt_mark_socket_get_address(rig->marks);
	struct watt_mark mark = { .label = "sent", .t_ns = watt_now_ns() }, got;

	assert_int_equal(watt_mark_send(address, &mark), 0);
	assert_int_equal(watt_mark_socket_read(rig->marks, &got), 0);
	assert_int_equal(got.t_ns, mark.t_ns);
	assert_int_equal(got.pid, getpid());
	mark.t_ns = 0;
	assert_int_equal(watt_mark_send(address, &mark), 0);
	assert_int_equal(watt_mark_socket_read(rig->marks, &got), 0);
	assert_true(got.t_ns > 0);
	assert_int_equal(watt_mark_send(NULL, &mark), -EINVAL);
	assert_int_equal(watt_mark_send(address, NULL), -EINVAL);
	assert_int_equal(watt_mark_send("relative", &mark), -EINVAL);
	assert_int_equal(watt_mark_send("/nowhere/marks", &mark), -ENOENT);
	assert_int_equal(watt_mark_send("@wattribute/nobody", &mark), -ECONNREFUSED);
	strcpy(mark.label, "a\tb");
	assert_int_equal(watt_mark_send(address, &mark), -EINVAL);
	memset(mark.label, 'x', sizeof(mark.label));
	assert_int_equal(watt_mark_send(address, &mark), -EINVAL);
	assert_int_equal(watt_mark_socket_read(rig->marks, &got), 1);
}

static void test_list(void **state)
{
	struct watt_mark_listener listeners[64];
	struct watt_mark_socket *marks;
	size_t n = 64, i;
	bool is_listed = false;

	assert_int_equal(watt_mark_list(NULL, NULL), -EINVAL);
	assert_int_equal(watt_mark_list(NULL, &n), -EINVAL);
	assert_int_equal(watt_mark_socket_open(NULL, NULL, &marks), 0);
	assert_int_equal(watt_mark_list(listeners, &n), 0);
	for (i = 0; i < n && i < 64; i++) {
		is_listed = is_listed || (listeners[i].pid == (uint32_t)getpid() &&
					  strcmp(listeners[i].address,
						 watt_mark_socket_get_address(marks)) == 0);
		assert_true(i == 0 || listeners[i - 1].pid <= listeners[i].pid);
	}
	assert_true(is_listed);
	n = 0;
	assert_int_equal(watt_mark_list(NULL, &n), 0);
	assert_true(n >= 1);
	watt_mark_socket_close(marks);
}

/* A socket of ours with the abstract name of a session of `pid`. */
static int take_name(pid_t pid, char *ret_address)
{
	struct sockaddr_un sa;
	socklen_t len;
	int fd;

	snprintf(ret_address, WATT_MARK_ADDRESS_SIZE, WATT_MARKS_ABSTRACT "%d-%016x/marks",
		 (int)pid, (unsigned int)getpid());
	assert_int_equal(watt_mark_parse_address(ret_address, &sa, &len), 0);
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&sa, len), 0);
	return fd;
}

static bool is_listed(const char *address)
{
	struct watt_mark_listener listeners[64];
	size_t n = 64, i;

	assert_int_equal(watt_mark_list(listeners, &n), 0);
	for (i = 0; i < n && i < 64; i++)
		if (!strcmp(listeners[i].address, address))
			return true;
	return false;
}

/* An abstract name is anybody's to take: whose it is says the kernel, not the name. */
static void test_nobody_poses_as_another(void **state)
{
	char own[WATT_MARK_ADDRESS_SIZE], posed[WATT_MARK_ADDRESS_SIZE];
	int own_fd = take_name(getpid(), own), posed_fd, gate[2], status;
	pid_t other;
	char byte;

	assert_int_equal(pipe2(gate, O_CLOEXEC), 0);
	/* before there is a socket in its name, so that the child has no copy of it */
	other = fork_child();
	if (other == 0) {
		close(gate[1]);
		close(own_fd);
		_exit(read(gate[0], &byte, 1) == 0 ? 0 : 1);
	}
	posed_fd = take_name(other, posed);
	assert_true(is_listed(own));
	assert_false(is_listed(posed));
	close(posed_fd);
	close(own_fd);
	close(gate[1]);
	assert_int_equal(waitpid(other, &status, 0), other);
	assert_int_equal(status, 0);
	close(gate[0]);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_nobody_listens, setup, teardown),
		cmocka_unit_test_setup_teardown(test_somebody_listens, setup, teardown),
		cmocka_unit_test_setup_teardown(test_long_labels_are_cut, setup, teardown),
		cmocka_unit_test_setup_teardown(test_fork, setup, teardown),
		cmocka_unit_test_setup_teardown(test_full_queue_is_told, setup, teardown),
		cmocka_unit_test_setup_teardown(test_looks_again, setup, teardown),
		cmocka_unit_test_setup_teardown(test_threads, setup, teardown),
		cmocka_unit_test_setup_teardown(test_send, setup, teardown),
		cmocka_unit_test(test_list),
		cmocka_unit_test(test_nobody_poses_as_another),
	};

	return cmocka_run_group_tests_name("mark", tests, NULL, NULL);
}

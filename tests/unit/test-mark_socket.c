/* SPDX-License-Identifier: Apache-2.0 */
/* lib/mark/socket.c: what a listener takes and what it refuses. */
#include "unit.h"

#include <dirent.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "mark/address.h"
#include "mark/datagram.h"
#include "mark/socket.h"

struct rig {
	char *root;
	char directory[64];
	struct watt_mark_socket *marks;
	int warnings;
	struct watt_log log;
};

static void count_warning(void *data, enum watt_log_level level, const char *text)
{
	struct rig *rig = data;

	rig->warnings += level == WATT_LOG_WARNING;
}

static int setup(void **state)
{
	struct rig *rig = calloc(1, sizeof(*rig));

	assert_non_null(rig);
	rig->root = scratch_new();
	snprintf(rig->directory, sizeof(rig->directory), "%s/sockets", rig->root);
	rig->log = (struct watt_log){ count_warning, rig };
	assert_int_equal(watt_mark_socket_open(rig->directory, &rig->log, &rig->marks), 0);
	*state = rig;
	return 0;
}

static int teardown(void **state)
{
	struct rig *rig = *state;

	assert_null(watt_mark_socket_close(rig->marks));
	scratch_remove(rig->root);
	free(rig);
	return 0;
}

/* Sends bytes as they are; 0 or a negative errno. */
static int send_bytes(const struct rig *rig, const void *data, size_t len)
{
	struct sockaddr_un sa;
	socklen_t sa_len;
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), r;

	assert_int_equal(
		watt_mark_parse_address(watt_mark_socket_get_address(rig->marks), &sa, &sa_len), 0);
	r = sendto(fd, data, len, MSG_DONTWAIT, (struct sockaddr *)&sa, sa_len) < 0 ? -errno : 0;
	close(fd);
	return r;
}

static int send_label(const struct rig *rig, const char *label, uint64_t t_ns)
{
	struct watt_mark_datagram datagram;

	assert_int_equal(watt_mark_encode(label, t_ns, &datagram), 0);
	return send_bytes(rig, &datagram, sizeof(datagram));
}

static bool is_readable(const struct rig *rig)
{
	struct pollfd pfd = { .fd = watt_mark_socket_get_fd(rig->marks), .events = POLLIN };

	return poll(&pfd, 1, 0) == 1;
}

static struct watt_mark_socket_counts counts_of(const struct rig *rig)
{
	struct watt_mark_socket_counts counts;

	watt_mark_socket_get_counts(rig->marks, &counts);
	return counts;
}

static void test_takes_marks_in_order(void **state)
{
	struct rig *rig = *state;
	uint64_t t_ns = watt_now_ns();
	struct watt_mark mark;

	assert_int_equal(watt_mark_socket_read(rig->marks, &mark), 1);
	assert_false(is_readable(rig));
	assert_int_equal(send_label(rig, "load", t_ns), 0);
	assert_int_equal(send_label(rig, "", t_ns + 1), 0);
	assert_true(is_readable(rig));
	assert_int_equal(watt_mark_socket_read(rig->marks, &mark), 0);
	assert_string_equal(mark.label, "load");
	assert_int_equal(mark.t_ns, t_ns);
	assert_int_equal(mark.pid, getpid());
	assert_int_equal(mark.reserved, 0);
	assert_int_equal(watt_mark_socket_read(rig->marks, &mark), 0);
	assert_string_equal(mark.label, "");
	assert_int_equal(mark.t_ns, t_ns + 1);
	assert_int_equal(watt_mark_socket_read(rig->marks, &mark), 1);
	assert_false(is_readable(rig));
	assert_int_equal(rig->warnings, 0);
}

static void test_times_never_go_back(void **state)
{
	struct rig *rig = *state;
	uint64_t t_ns = watt_now_ns();
	struct watt_mark mark;

	assert_int_equal(send_label(rig, "b", t_ns), 0);
	assert_int_equal(send_label(rig, "a", t_ns - 1000), 0);
	assert_int_equal(watt_mark_socket_read(rig->marks, &mark), 0);
	assert_int_equal(watt_mark_socket_read(rig->marks, &mark), 0);
	assert_string_equal(mark.label, "a");
	assert_int_equal(mark.t_ns, t_ns);
	assert_int_equal(counts_of(rig).retimed, 0);
}

static void test_impossible_times(void **state)
{
	static const int64_t offsets_ns[] = { -2000000000, 3600000000000, INT64_MAX };
	struct rig *rig = *state;
	size_t i;

	for (i = 0; i < sizeof(offsets_ns) / sizeof(offsets_ns[0]); i++) {
		uint64_t before_ns = watt_now_ns();
		struct watt_mark mark;

		assert_int_equal(send_label(rig, "x", before_ns + (uint64_t)offsets_ns[i]), 0);
		assert_int_equal(watt_mark_socket_read(rig->marks, &mark), 0);
		assert_true(mark.t_ns >= before_ns && mark.t_ns <= watt_now_ns());
		assert_int_equal(counts_of(rig).retimed, i + 1);
	}
	assert_int_equal(rig->warnings, 1);
}

static void test_refuses_what_is_no_mark(void **state)
{
	struct rig *rig = *state;
	struct watt_mark_datagram good, bad[5];
	char longer[sizeof(good) + 100] = { 0 };
	struct watt_mark mark;
	size_t i;

	assert_int_equal(watt_mark_encode("good", watt_now_ns(), &good), 0);
	for (i = 0; i < 5; i++)
		bad[i] = good;
	bad[0].magic[7]++;
	bad[1].version++;
	memset(bad[2].label, 'x', sizeof(bad[2].label));
	bad[3].label[sizeof(bad[3].label) - 1] = 'x';
	bad[4].label[0] = '\n';
	for (i = 0; i < 5; i++)
		assert_int_equal(send_bytes(rig, &bad[i], sizeof(bad[i])), 0);
	memcpy(longer, &good, sizeof(good));
	assert_int_equal(send_bytes(rig, longer, sizeof(longer)), 0);
	assert_int_equal(send_bytes(rig, longer, sizeof(good) - 1), 0);
	assert_int_equal(send_bytes(rig, longer, 0), 0);
	assert_int_equal(send_bytes(rig, &good, sizeof(good)), 0);
	assert_int_equal(watt_mark_socket_read(rig->marks, &mark), 0);
	assert_string_equal(mark.label, "good");
	assert_int_equal(watt_mark_socket_read(rig->marks, &mark), 1);
	assert_int_equal(counts_of(rig).malformed, 8);
	assert_int_equal(rig->warnings, 1);
}

/* By a way to itself that user-mode emulators don't answer for. */
static bool is_emulated(void)
{
	char exe[256];
	ssize_t n = readlink("/proc/self/task/../exe", exe, sizeof(exe) - 1);

	exe[n > 0 ? n : 0] = '\0';
	return strstr(exe, "qemu");
}

/* Descriptors that come along must not stay open here. */
static void test_takes_no_descriptors(void **state)
{
	struct rig *rig = *state;
	union {
		char room[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { { 0 } };
	struct watt_mark_datagram datagram;
	struct iovec iov = { &datagram, sizeof(datagram) };
	struct sockaddr_un sa;
	struct msghdr msg = { .msg_name = &sa,
			      .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = &control,
			      .msg_controllen = sizeof(control) };
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);
	struct watt_mark mark;
	int fd, probe_fd;

	if (is_emulated()) {
		print_message("the emulator itself keeps descriptors that nobody takes\n");
		skip();
	}
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	assert_int_equal(watt_mark_parse_address(watt_mark_socket_get_address(rig->marks), &sa,
						 &msg.msg_namelen),
			 0);
	assert_int_equal(watt_mark_encode("fd", watt_now_ns(), &datagram), 0);
	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(cmsg), &fd, sizeof(fd));
	assert_int_equal(sendmsg(fd, &msg, 0), sizeof(datagram));
	probe_fd = dup(fd); /* the lowest free number */
	close(probe_fd);
	assert_int_equal(watt_mark_socket_read(rig->marks, &mark), 0);
	assert_string_equal(mark.label, "fd");
	assert_int_equal(dup(fd), probe_fd);
	close(probe_fd);
	close(fd);
}

static void test_full_queue(void **state)
{
	struct rig *rig = *state;
	struct watt_mark_datagram datagram;
	struct watt_mark mark;
	int sent = 0, r = 0, i;

	while (sent < 100000 && (r = send_label(rig, "many", watt_now_ns())) == 0)
		sent++;
	assert_int_equal(r, -EAGAIN);
	assert_true(sent > 0);
	for (i = 0; i < sent; i++)
		assert_int_equal(watt_mark_socket_read(rig->marks, &mark), 0);
	assert_int_equal(watt_mark_socket_read(rig->marks, &mark), 1);
	/* whoever could not tell says it with the next */
	assert_int_equal(watt_mark_encode("after", watt_now_ns(), &datagram), 0);
	datagram.lost = 3;
	assert_int_equal(send_bytes(rig, &datagram, sizeof(datagram)), 0);
	assert_int_equal(watt_mark_socket_read(rig->marks, &mark), 0);
	assert_int_equal(counts_of(rig).lost, 3);
}

/* More than are taken in a second are counted, and none of them is passed on. */
static void test_rate_is_limited(void **state)
{
	struct rig *rig = *state;
	uint64_t begin_ns = watt_now_ns(), passed_ms;
	uint64_t sent = 0, taken = 0, i;
	struct watt_mark mark;

	for (i = 0; i < 5000; i++) {
		sent += send_label(rig, "flood", watt_now_ns()) == 0;
		taken += watt_mark_socket_read(rig->marks, &mark) == 0;
	}
	while (is_readable(rig))
		taken += watt_mark_socket_read(rig->marks, &mark) == 0;
	passed_ms = (watt_now_ns() - begin_ns) / WATT_NSEC_PER_MSEC;
	assert_int_equal(taken + counts_of(rig).excess, sent);
	assert_true(taken >= WATT_MARKS_PER_S);
	assert_true(taken <= WATT_MARKS_PER_S + passed_ms * WATT_MARKS_PER_S / 1000 + 1);
}

/* A flood of refused datagrams must not keep the session from its work. */
static void test_reads_are_bounded(void **state)
{
	struct rig *rig = *state;
	struct watt_mark mark;
	int sent = 0, calls = 0;

	while (sent < 1000 && send_bytes(rig, "flood", 5) == 0)
		sent++;
	while (is_readable(rig)) {
		assert_int_equal(watt_mark_socket_read(rig->marks, &mark), 1);
		calls++;
	}
	assert_int_equal(counts_of(rig).malformed, sent);
	assert_true(calls >= sent / 64);
}

/* 0 if a process of that user may send; else the errno. */
static int send_as(const struct rig *rig, uid_t uid)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		if (setresgid(uid, uid, uid) < 0 || setresuid(uid, uid, uid) < 0)
			_exit(255);
		_exit(-send_label(rig, "other", watt_now_ns()));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) != 255);
	return WEXITSTATUS(status);
}

static void test_root_listens_to_whom_it_told(void **state)
{
	struct rig *rig = *state;
	struct watt_mark mark;

	if (geteuid() != 0) {
		print_message("only root can become another user\n");
		skip();
	}
	assert_int_equal(chmod(rig->root, 0755), 0);
	assert_int_equal(send_as(rig, 12345), 0);
	assert_int_equal(watt_mark_socket_read(rig->marks, &mark), 0);
	assert_string_equal(mark.label, "other");
	assert_true(mark.pid != 0 && mark.pid != (uint32_t)getpid());
}

/* Nobody but root can see the address of root's socket. */
static void test_address_is_secret(void **state)
{
	struct rig *rig = *state;
	const char *dash = strrchr(watt_mark_socket_get_address(rig->marks), '-');
	char line[512], token[17];
	FILE *file = fopen("/proc/net/unix", "re");
	struct stat st;

	assert_non_null(dash);
	assert_non_null(file);
	snprintf(token, sizeof(token), "%s", dash + 1);
	while (fgets(line, sizeof(line), file))
		assert_null(strstr(line, token));
	fclose(file);
	assert_int_equal(stat(rig->directory, &st), 0);
	assert_int_equal(st.st_mode & 0777, geteuid() == 0 ? 0711 : 0700);
}

static void test_users_listen_to_themselves(void **state)
{
	struct rig *rig = *state;
	struct watt_mark_socket *marks = NULL;
	struct watt_mark mark;
	pid_t pid;
	int status, to_parent[2];

	if (geteuid() != 0) {
		print_message("only root can become another user\n");
		skip();
	}
	assert_int_equal(pipe(to_parent), 0);
	pid = fork();
	if (pid == 0) {
		char byte;

		/* an abstract name: the kernel lets everybody send there */
		if (setresuid(12345, 12345, 12345) < 0 ||
		    watt_mark_socket_open(NULL, &rig->log, &marks) < 0)
			_exit(1);
		if (watt_mark_socket_get_address(marks)[0] != '@' ||
		    write(to_parent[1], watt_mark_socket_get_address(marks),
			  WATT_MARK_ADDRESS_SIZE) < 0)
			_exit(2);
		if (poll(&(struct pollfd){ .fd = watt_mark_socket_get_fd(marks), .events = POLLIN },
			 1, 10000) != 1)
			_exit(3);
		/* 54321 comes first and is refused, then root */
		while (watt_mark_socket_read(marks, &mark) != 0)
			if (read(STDIN_FILENO, &byte, 0) < 0)
				_exit(4);
		watt_mark_socket_close(marks);
		_exit(strcmp(mark.label, "root") == 0 && rig->warnings == 1 ? 0 : 5);
	} else {
		char address[WATT_MARK_ADDRESS_SIZE] = "";
		struct watt_mark sent = { .label = "stranger" };
		pid_t stranger;

		assert_true(read(to_parent[0], address, sizeof(address)) > 0);
		stranger = fork();
		if (stranger == 0)
			_exit(setresuid(54321, 54321, 54321) < 0 ||
			      watt_mark_send(address, &sent) < 0);
		assert_int_equal(waitpid(stranger, &status, 0), stranger);
		assert_int_equal(status, 0);
		strcpy(sent.label, "root");
		assert_int_equal(watt_mark_send(address, &sent), 0);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
	}
	close(to_parent[0]);
	close(to_parent[1]);
}

static int count_entries(const char *path)
{
	struct dirent *entry;
	DIR *dir = opendir(path);
	int n = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir)))
		n += entry->d_name[0] != '.';
	closedir(dir);
	return n;
}

static void test_cleans_up(void **state)
{
	struct rig *rig = *state;
	struct watt_mark_socket *second;
	char path[128];
	pid_t pid;
	int status;

	/* two of one process have an address each */
	assert_int_equal(watt_mark_socket_open(rig->directory, &rig->log, &second), 0);
	assert_string_not_equal(watt_mark_socket_get_address(second),
				watt_mark_socket_get_address(rig->marks));
	assert_int_equal(count_entries(rig->directory), 2);
	/* a fork's copy removes nothing */
	pid = fork();
	if (pid == 0) {
		watt_mark_socket_close(second);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(count_entries(rig->directory), 2);
	assert_null(watt_mark_socket_close(second));
	assert_int_equal(count_entries(rig->directory), 1);
	/* a process that is killed leaves its socket to the next */
	pid = fork();
	if (pid == 0)
		_exit(watt_mark_socket_open(rig->directory, &rig->log, &second) < 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(count_entries(rig->directory), 2);
	/* what is not ours stays */
	snprintf(path, sizeof(path), "%s/%d-0123456789abcdeX", rig->directory, (int)pid);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(watt_mark_socket_open(rig->directory, &rig->log, &second), 0);
	assert_int_equal(count_entries(rig->directory), 3);
	assert_null(watt_mark_socket_close(second));
	assert_null(watt_mark_socket_close(NULL));
}

static void test_refuses_bad_folders(void **state)
{
	struct rig *rig = *state;
	struct watt_mark_socket *marks = NULL;
	char path[128], deep[256];

	snprintf(path, sizeof(path), "%s/writable", rig->root);
	assert_int_equal(mkdir(path, 0777), 0);
	assert_int_equal(chmod(path, 0777), 0);
	assert_int_equal(watt_mark_socket_open(path, &rig->log, &marks), -EPERM);
	snprintf(path, sizeof(path), "%s/link", rig->root);
	assert_int_equal(symlink(rig->directory, path), 0);
	assert_true(watt_mark_socket_open(path, &rig->log, &marks) < 0);
	snprintf(path, sizeof(path), "%s/no/where", rig->root);
	assert_int_equal(watt_mark_socket_open(path, &rig->log, &marks), -ENOENT);
	memset(deep, 'x', sizeof(deep) - 1);
	deep[0] = '/';
	deep[sizeof(deep) - 1] = '\0';
	assert_int_equal(watt_mark_socket_open(deep, &rig->log, &marks), -ENAMETOOLONG);
	assert_null(marks);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_takes_marks_in_order, setup, teardown),
		cmocka_unit_test_setup_teardown(test_times_never_go_back, setup, teardown),
		cmocka_unit_test_setup_teardown(test_impossible_times, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refuses_what_is_no_mark, setup, teardown),
		cmocka_unit_test_setup_teardown(test_takes_no_descriptors, setup, teardown),
		cmocka_unit_test_setup_teardown(test_full_queue, setup, teardown),
		cmocka_unit_test_setup_teardown(test_rate_is_limited, setup, teardown),
		cmocka_unit_test_setup_teardown(test_reads_are_bounded, setup, teardown),
		cmocka_unit_test_setup_teardown(test_root_listens_to_whom_it_told, setup, teardown),
		cmocka_unit_test_setup_teardown(test_address_is_secret, setup, teardown),
		cmocka_unit_test_setup_teardown(test_users_listen_to_themselves, setup, teardown),
		cmocka_unit_test_setup_teardown(test_cleans_up, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refuses_bad_folders, setup, teardown),
	};

	return cmocka_run_group_tests_name("marks", tests, NULL, NULL);
}

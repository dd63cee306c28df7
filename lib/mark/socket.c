/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A datagram socket whose queue is the kernel's, so that a sender finds out at once when it is
 * full. The pid and the user of a mark are what the kernel says, never what the datagram does.
 */
#include "mark/socket.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/util.h"
#include "mark/address.h"
#include "mark/datagram.h"

#define PAST_MAX_NS WATT_NSEC_PER_SEC
#define READS_MAX 64
#define MARK_NS (WATT_NSEC_PER_SEC / WATT_MARKS_PER_S)

struct watt_mark_socket {
	const struct watt_log *log;
	int fd;
	int dir_fd;   /* of the folder of sockets; -1: the name is abstract */
	pid_t owner;  /* the process that made it: a fork's copy removes nothing */
	bool is_open; /* the address is the permission */
	uid_t uid;
	char name[32]; /* PID-TOKEN */
	char address[sizeof(((struct sockaddr_un *)NULL)->sun_path)];
	uint64_t newest_ns; /* time of the last mark */
	uint64_t paid_ns;   /* marks that were taken have used up the time until then */
	struct watt_mark_socket_counts counts;
};

/* ---- the place ---- */

/* Opens the folder of sockets, made if need be; nobody else may be able to write into it. */
static int open_directory(const char *path, uid_t uid, int *ret_fd)
{
	_cleanup_close_ int fd = -1;
	mode_t mode = uid == 0 ? 0711 : 0700;
	struct stat st;

	if (mkdir(path, mode) < 0 && errno != EEXIST)
		return -errno;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (st.st_uid != uid || (st.st_mode & (S_IWGRP | S_IWOTH)))
		return -EPERM;
	/* The umask may have taken what others need to reach a socket of which they were told. */
	if ((st.st_mode & 0777) != mode && fchmod(fd, mode) < 0)
		return -errno;
	*ret_fd = fd;
	fd = -1;
	return 0;
}

static void remove_socket(int dir_fd, const char *name)
{
	char path[NAME_MAX + sizeof("/" WATT_MARKS_SOCKET)];

	snprintf(path, sizeof(path), "%s/" WATT_MARKS_SOCKET, name);
	unlinkat(dir_fd, path, 0);
	unlinkat(dir_fd, name, AT_REMOVEDIR);
}

/* A process that was killed leaves its socket behind. */
static void remove_stale(const char *directory, int dir_fd)
{
	_cleanup_closedir_ DIR *dir = opendir(directory);
	char address[512];
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		uint32_t pid = watt_mark_parse_name(entry->d_name);

		/* A pid of another namespace may look dead: then its socket does not. */
		if (pid == 0 || kill((pid_t)pid, 0) == 0 || errno != ESRCH)
			continue;
		snprintf(address, sizeof(address), "%s/%s/" WATT_MARKS_SOCKET, directory,
			 entry->d_name);
		if (watt_mark_probe_address(address) < 0)
			remove_socket(dir_fd, entry->d_name);
	}
}

static int make_name(struct watt_mark_socket *marks)
{
	uint64_t token;

	if (getrandom(&token, sizeof(token), 0) != sizeof(token))
		return -EIO;
	snprintf(marks->name, sizeof(marks->name), "%u-%016" PRIx64, (unsigned int)marks->owner,
		 token);
	return 0;
}

/*
 * Binds by way of the descriptor of the socket's folder: /proc/net/unix shows everybody the path
 * that was bound, and this one says nothing.
 */
static int bind_below(struct watt_mark_socket *marks, int dir_fd)
{
	_cleanup_close_ int own_fd = -1;
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	bool is_root = marks->uid == 0;

	if (mkdirat(dir_fd, marks->name, 0700) < 0)
		return -errno;
	own_fd = openat(dir_fd, marks->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (own_fd < 0)
		return -errno;
	snprintf(sa.sun_path, sizeof(sa.sun_path), "/proc/self/fd/%d/" WATT_MARKS_SOCKET, own_fd);
	if (bind(marks->fd, (struct sockaddr *)&sa, sizeof(sa)) < 0 ||
	    fchmodat(own_fd, WATT_MARKS_SOCKET, is_root ? 0666 : 0600, 0) < 0 ||
	    (is_root && fchmod(own_fd, 0711) < 0))
		return -errno;
	return 0;
}

static int listen_in(struct watt_mark_socket *marks, const char *directory)
{
	_cleanup_close_ int dir_fd = -1;
	struct sockaddr_un sa;
	socklen_t len;
	int r, n;

	n = snprintf(marks->address, sizeof(marks->address), "%s/%s/" WATT_MARKS_SOCKET, directory,
		     marks->name);
	if (n < 0 || (size_t)n >= sizeof(marks->address))
		return -ENAMETOOLONG;
	r = watt_mark_parse_address(marks->address, &sa, &len);
	if (r == 0)
		r = open_directory(directory, marks->uid, &dir_fd);
	if (r < 0)
		return r;
	remove_stale(directory, dir_fd);
	r = bind_below(marks, dir_fd);
	if (r < 0) {
		remove_socket(dir_fd, marks->name);
		return r;
	}
	marks->is_open = marks->uid == 0;
	marks->dir_fd = dir_fd;
	dir_fd = -1;
	return 0;
}

static int listen_abstract(struct watt_mark_socket *marks)
{
	struct sockaddr_un sa;
	socklen_t len;
	int r;

	snprintf(marks->address, sizeof(marks->address),
		 WATT_MARKS_ABSTRACT "%s/" WATT_MARKS_SOCKET, marks->name);
	r = watt_mark_parse_address(marks->address, &sa, &len);
	if (r < 0)
		return r;
	return bind(marks->fd, (struct sockaddr *)&sa, len) < 0 ? -errno : 0;
}

/* ---- the object ---- */

static int marks_open(struct watt_mark_socket *marks, const char *directory)
{
	static const int on = 1;
	char usual[64];
	int r;

	r = make_name(marks);
	if (r < 0)
		return r;
	marks->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	/* Before the socket has a name: no mark may come without its sender. */
	if (marks->fd < 0 || setsockopt(marks->fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) < 0)
		return -errno;
	if (directory)
		return listen_in(marks, directory);
	watt_mark_directory(marks->uid, usual, sizeof(usual));
	return listen_in(marks, usual) == 0 ? 0 : listen_abstract(marks);
}

int watt_mark_socket_open(const char *directory, const struct watt_log *log,
			  struct watt_mark_socket **ret)
{
	struct watt_mark_socket *marks = calloc(1, sizeof(*marks));
	int r;

	if (!marks)
		return -ENOMEM;
	marks->log = log;
	marks->fd = marks->dir_fd = -1;
	marks->owner = getpid();
	marks->uid = geteuid();
	r = marks_open(marks, directory);
	if (r < 0) {
		watt_mark_socket_close(marks);
		return r;
	}
	*ret = marks;
	return 0;
}

struct watt_mark_socket *watt_mark_socket_close(struct watt_mark_socket *marks)
{
	if (!marks)
		return NULL;
	if (marks->counts.lost)
		watt_log(marks->log, WATT_LOG_WARNING,
			 "%" PRIu64
			 " marks were made faster than they could be taken, and are lost",
			 marks->counts.lost);
	if (marks->counts.excess)
		watt_log(marks->log, WATT_LOG_WARNING,
			 "%" PRIu64 " marks are left out: more than %d a second are not taken",
			 marks->counts.excess, WATT_MARKS_PER_S);
	if (marks->dir_fd >= 0) {
		if (getpid() == marks->owner)
			remove_socket(marks->dir_fd, marks->name);
		close(marks->dir_fd);
	}
	if (marks->fd >= 0)
		close(marks->fd);
	free(marks);
	return NULL;
}

const char *watt_mark_socket_get_address(const struct watt_mark_socket *marks)
{
	return marks->address;
}

int watt_mark_socket_get_fd(const struct watt_mark_socket *marks)
{
	return marks->fd;
}

void watt_mark_socket_get_counts(const struct watt_mark_socket *marks,
				 struct watt_mark_socket_counts *ret)
{
	*ret = marks->counts;
}

/* ---- what comes in ---- */

static bool is_allowed(struct watt_mark_socket *marks, const struct ucred *who)
{
	if (who->uid == marks->uid || who->uid == 0 || marks->is_open)
		return true;
	if (marks->counts.refused++ == 0)
		watt_log(marks->log, WATT_LOG_WARNING,
			 "refused a mark of process %d of user %u: only user %u and root may make "
			 "marks here",
			 (int)who->pid, who->uid, marks->uid);
	return false;
}

/*
 * Whether there is room for one more now. By when it is taken, not by when it says it was made:
 * what somebody sends decides nothing.
 */
static bool is_within_rate(struct watt_mark_socket *marks)
{
	uint64_t now_ns = watt_now_ns();
	uint64_t begin_ns = now_ns > WATT_NSEC_PER_SEC ? now_ns - WATT_NSEC_PER_SEC : 0;

	marks->paid_ns = WATT_MAX(marks->paid_ns, begin_ns);
	if (marks->paid_ns + MARK_NS > now_ns) {
		marks->counts.excess++;
		return false;
	}
	marks->paid_ns += MARK_NS;
	return true;
}

static void take(struct watt_mark_socket *marks, const struct watt_mark_datagram *datagram,
		 const struct ucred *who, struct watt_mark *ret)
{
	uint64_t now_ns = watt_now_ns(), t_ns = datagram->t_ns;

	if (t_ns > now_ns || now_ns - t_ns > PAST_MAX_NS) {
		if (marks->counts.retimed++ == 0)
			watt_log(marks->log, WATT_LOG_WARNING,
				 "a mark of process %d has a time that can't be; taken as made now",
				 (int)who->pid);
		t_ns = now_ns;
	}
	t_ns = WATT_MAX(t_ns, marks->newest_ns);
	marks->newest_ns = t_ns;
	marks->counts.lost += datagram->lost;
	*ret = (struct watt_mark){ .t_ns = t_ns, .pid = who->pid > 0 ? (uint32_t)who->pid : 0 };
	memcpy(ret->label, datagram->label, sizeof(ret->label));
}

/* One datagram. 0; 1: it is not for us; -EAGAIN: there is none. */
static int receive(struct watt_mark_socket *marks, struct watt_mark *ret)
{
	union {
		char room[CMSG_SPACE(sizeof(struct ucred))];
		struct cmsghdr align;
	} control;
	struct watt_mark_datagram datagram;
	char data[sizeof(datagram) + 1]; /* what is longer shows */
	struct iovec iov = { data, sizeof(data) };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = &control,
			      .msg_controllen = sizeof(control) };
	struct cmsghdr *cmsg;
	struct ucred who;
	ssize_t n;

	/* There is no room for descriptors: the kernel drops any that somebody sends along. */
	n = recvmsg(marks->fd, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (n < 0)
		return errno == EINTR ? 1 : -EAGAIN;
	cmsg = CMSG_FIRSTHDR(&msg);
	if (!cmsg || cmsg->cmsg_level != SOL_SOCKET || cmsg->cmsg_type != SCM_CREDENTIALS ||
	    cmsg->cmsg_len != CMSG_LEN(sizeof(who)))
		return 1;
	memcpy(&who, CMSG_DATA(cmsg), sizeof(who));
	if (!is_allowed(marks, &who))
		return 1;
	if (watt_mark_decode(data, (size_t)n, &datagram) < 0) {
		if (marks->counts.malformed++ == 0)
			watt_log(marks->log, WATT_LOG_WARNING,
				 "process %d sent something that is no mark", (int)who.pid);
		return 1;
	}
	if (!is_within_rate(marks)) {
		marks->counts.lost += datagram.lost;
		return 1;
	}
	take(marks, &datagram, &who, ret);
	return 0;
}

int watt_mark_socket_read(struct watt_mark_socket *marks, struct watt_mark *ret)
{
	int i, r;

	for (i = 0; i < READS_MAX; i++) {
		r = receive(marks, ret);
		if (r == 0)
			return 0;
		if (r == -EAGAIN)
			return 1;
	}
	return 1;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Sockets and pipes that never block, and a command that ends with us. */
#include "source/power/meter/meter_link.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/tcp.h"
#include "base/util.h"

#define CONNECT_MS 3000
/* However fast it talks: nobody is held by it. */
#define MAX_BYTES_AT_ONCE ((size_t)64 << 10)

bool watt_meter_link_is_place(const char *place)
{
	return (!strncmp(place, "unix:", 5) && place[5]) ||
	       (!strncmp(place, "exec:", 5) && place[5]) ||
	       (!strncmp(place, "tcp:", 4) && strrchr(place, ':') > place + 4 &&
		strrchr(place, ':')[1]);
}

static int open_unix(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd, r;

	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	watt_strlcpy(address.sun_path, path, sizeof(address.sun_path));
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	r = -errno;
	close(fd);
	return r;
}

/*
 * In a group of its own, so that all that it starts ends with it, with no signal blocked, and none
 * ignored: whoever writes to nobody, because he who listened is gone without a word, ends by that.
 */
static int spawn(const char *command, int out, pid_t *ret)
{
	char *argv[] = { (char *)"sh", (char *)"-c", (char *)command, NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t none, pipe;
	int r;

	sigemptyset(&none);
	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
						POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setpgroup(&attr, 0);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &pipe);
	r = -posix_spawn(ret, "/bin/sh", &actions, &attr, argv, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
	return r;
}

static int open_command(const char *command, pid_t *ret_pid)
{
	int fds[2], r;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	r = spawn(command, fds[1], ret_pid);
	close(fds[1]);
	if (r == 0 && fcntl(fds[0], F_SETFL, O_NONBLOCK) < 0)
		r = -errno;
	if (r == 0)
		return fds[0];
	close(fds[0]);
	return r;
}

int watt_meter_link_open(struct watt_meter_link *link, const char *place)
{
	int fd;

	*link = (struct watt_meter_link)WATT_METER_LINK_INIT;
	if (!watt_meter_link_is_place(place))
		return -EINVAL;
	if (place[0] == 'u')
		fd = open_unix(place + 5);
	else if (place[0] == 't')
		fd = watt_tcp_open(place + 4, NULL, CONNECT_MS);
	else
		fd = open_command(place + 5, &link->pid);
	if (fd < 0)
		return fd;
	link->fd = fd;
	return 0;
}

void watt_meter_link_close(struct watt_meter_link *link)
{
	if (link->fd >= 0)
		close(link->fd);
	if (link->pid > 0) {
		kill(-link->pid, SIGKILL);
		waitpid(link->pid, NULL, 0);
	}
	*link = (struct watt_meter_link)WATT_METER_LINK_INIT;
}

int watt_meter_link_wait(const struct watt_meter_link *link, int timeout_ms)
{
	struct pollfd poll_fd = { .fd = link->fd, .events = POLLIN };

	return poll(&poll_fd, 1, timeout_ms) > 0 ? 0 : -ETIMEDOUT;
}

/* Takes in what came; *r is that of the newest line that says something, or that is none. */
static void take_bytes(struct watt_meter_link *link, const char *data, size_t n,
		       struct watt_meter_line *ret, int *r)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (data[i] != '\n') {
			if (link->len + 1 < sizeof(link->text))
				link->text[link->len++] = data[i];
			else
				link->is_skipping = true;
			continue;
		}
		link->text[link->len] = '\0';
		if (link->is_skipping || strlen(link->text) != link->len) {
			*r = -EBADMSG;
		} else {
			int one = watt_meter_line_parse(link->text, ret);

			*r = one == -ENODATA ? *r : one;
		}
		link->len = 0;
		link->is_skipping = false;
	}
}

int watt_meter_link_read(struct watt_meter_link *link, struct watt_meter_line *ret)
{
	struct watt_meter_line line = { 0 };
	char data[4096];
	size_t total = 0;
	int r = -EAGAIN;
	ssize_t n;

	if (link->fd < 0)
		return -EPIPE;
	while (total < MAX_BYTES_AT_ONCE) {
		n = read(link->fd, data, sizeof(data));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		total += (size_t)n;
		take_bytes(link, data, (size_t)n, &line, &r);
	}
	if (r == 0)
		*ret = line;
	if (r != -EAGAIN || total >= MAX_BYTES_AT_ONCE)
		return r;
	return n == 0 || (n < 0 && errno != EAGAIN) ? -EPIPE : -EAGAIN;
}

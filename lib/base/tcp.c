/* SPDX-License-Identifier: Apache-2.0 */
/* Each address of a host in turn, until one answers. */
#include "base/tcp.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/util.h"

static int connect_one(const struct addrinfo *info, int timeout_ms)
{
	struct pollfd poll_fd = { .events = POLLOUT };
	int error = 0, fd;
	socklen_t len = sizeof(error);

	fd = socket(info->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, info->ai_addr, info->ai_addrlen) == 0)
		return fd;
	error = errno;
	if (error == EINPROGRESS) {
		poll_fd.fd = fd;
		error = ETIMEDOUT;
		if (poll(&poll_fd, 1, timeout_ms) > 0)
			getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len);
		if (error == 0)
			return fd;
	}
	close(fd);
	return -error;
}

/* An address of IPv6 has colons of its own: it is in brackets, or there is no port. */
static int split(const char *place, const char *default_port, char *host, size_t size,
		 const char **ret_port)
{
	const char *end, *colon = strrchr(place, ':');
	size_t len;

	if (*place == '[') {
		place++;
		end = strchr(place, ']');
		if (!end || (end[1] && end[1] != ':'))
			return -EINVAL;
		*ret_port = end[1] ? end + 2 : default_port;
	} else {
		end = colon && (!default_port || strchr(place, ':') == colon) ?
			      colon :
			      place + strlen(place);
		*ret_port = *end ? end + 1 : default_port;
	}
	len = (size_t)(end - place);
	if (len == 0 || !*ret_port || !**ret_port)
		return -EINVAL;
	if (len >= size)
		return -ENAMETOOLONG;
	memcpy(host, place, len);
	host[len] = '\0';
	return 0;
}

int watt_tcp_open(const char *place, const char *default_port, int timeout_ms)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *list, *info;
	const char *port;
	char host[256];
	int r = split(place, default_port, host, sizeof(host), &port);

	if (r < 0)
		return r;
	if (getaddrinfo(host, port, &hints, &list) != 0)
		return -EHOSTUNREACH;
	r = -EHOSTUNREACH;
	for (info = list; info && r < 0; info = info->ai_next)
		r = connect_one(info, timeout_ms);
	freeaddrinfo(list);
	return r;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* One question at a time; what it does not answer in time, it will not be asked again. */
#include "source/power/nut/nut_link.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/tcp.h"

/* upsd answers from what it has: at once. */
#define ANSWER_NS (3 * WATT_NSEC_PER_SEC)
#define CONNECT_MS 3000
/* However much it says. */
#define LINES_MAX 1024

int watt_nut_link_open(struct watt_nut_link *link, const char *server)
{
	int fd = watt_tcp_open(server, WATT_NUT_PORT, CONNECT_MS);

	*link = (struct watt_nut_link)WATT_NUT_LINK_INIT;
	if (fd < 0)
		return fd;
	link->fd = fd;
	return 0;
}

void watt_nut_link_close(struct watt_nut_link *link)
{
	if (link->fd >= 0)
		close(link->fd);
	link->fd = -1;
	link->len = 0;
}

static int say(struct watt_nut_link *link, const char *text)
{
	size_t len = strlen(text);

	if (link->fd < 0)
		return -EPIPE;
	/* so little has room, or it has not read for long */
	return send(link->fd, text, len, MSG_NOSIGNAL) == (ssize_t)len ? 0 : -EPIPE;
}

/* More bytes, until the deadline. */
static int hear(struct watt_nut_link *link, uint64_t deadline_ns)
{
	struct pollfd poll_fd = { .fd = link->fd, .events = POLLIN };
	uint64_t now_ns = watt_now_ns();
	ssize_t n;

	if (now_ns >= deadline_ns)
		return -ETIMEDOUT;
	if (poll(&poll_fd, 1, (int)((deadline_ns - now_ns) / WATT_NSEC_PER_MSEC) + 1) <= 0)
		return 0; /* the deadline tells */
	n = read(link->fd, link->data + link->len, sizeof(link->data) - link->len);
	if (n > 0)
		link->len += (size_t)n;
	return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)) ? 0 : -EPIPE;
}

/* The next line; a line that is none is -EBADMSG, and passed over. */
static int take_line(struct watt_nut_link *link, uint64_t deadline_ns, struct watt_nut_line *ret)
{
	char *end;
	size_t n;
	int r;

	while (!(end = memchr(link->data, '\n', link->len))) {
		if (link->len == sizeof(link->data))
			return -EPIPE; /* no line is so long: whoever says this is no upsd */
		r = hear(link, deadline_ns);
		if (r < 0)
			return r;
	}
	*end = '\0';
	n = (size_t)(end - link->data);
	r = strlen(link->data) == n ? watt_nut_line_parse(link->data, ret) : -EBADMSG;
	link->len -= n + 1;
	memmove(link->data, end + 1, link->len);
	return r;
}

/* What was late or none of its answers would be taken for the next one's. */
static int end_with(struct watt_nut_link *link, int r)
{
	if (r == -ETIMEDOUT || r == -EPIPE || r == -EMSGSIZE)
		watt_nut_link_close(link);
	return r;
}

int watt_nut_link_get(struct watt_nut_link *link, const char *ups, const char *name, int64_t *ret)
{
	struct watt_nut_line line;
	char text[256];
	int r;

	snprintf(text, sizeof(text), "GET VAR %.64s %.64s\n", ups, name);
	r = say(link, text);
	if (r == 0)
		r = take_line(link, watt_now_ns() + ANSWER_NS, &line);
	if (r == 0)
		r = watt_nut_line_error(&line);
	if (r == 0)
		r = watt_nut_line_value(&line, ups, name, ret);
	return end_with(link, r);
}

/* 1: that was the last one. */
static int take_listed(const struct watt_nut_line *line, char **names, int *n)
{
	if (line->n_words == 3 && !strcmp(line->words[0], "END"))
		return 1;
	if (line->n_words == 3 && !strcmp(line->words[0], "BEGIN"))
		return 0;
	if (line->n_words < 2 || strcmp(line->words[0], "UPS") != 0)
		return -EBADMSG;
	if (*n == WATT_NUT_UPS_MAX || watt_nut_check_name(line->words[1]) < 0)
		return 0;
	names[*n] = strdup(line->words[1]);
	if (!names[*n])
		return -ENOMEM;
	++*n;
	return 0;
}

int watt_nut_link_list(struct watt_nut_link *link, char *ret_names[WATT_NUT_UPS_MAX])
{
	uint64_t deadline_ns = watt_now_ns() + ANSWER_NS;
	struct watt_nut_line line;
	int i, n = 0, r = say(link, "LIST UPS\n");

	for (i = 0; i < LINES_MAX && r == 0; i++) {
		r = take_line(link, deadline_ns, &line);
		if (r == 0)
			r = watt_nut_line_error(&line);
		if (r == 0)
			r = take_listed(&line, ret_names, &n);
	}
	if (r == 1)
		return n;
	while (n > 0)
		free(ret_names[--n]);
	return end_with(link, r == 0 ? -EPIPE : r);
}

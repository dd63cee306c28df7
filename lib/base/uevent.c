/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads NETLINK_KOBJECT_UEVENT. What other programs send there, udev's messages too, is left out:
 * only the kernel is believed.
 */
#include "base/uevent.h"

#include <errno.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/util.h"

/* The multicast group of the kernel; udev has the second one. */
#define GROUP_KERNEL 1
/* UEVENT_BUFFER_SIZE of the kernel, and what it writes before. */
#define MESSAGE_MAX 8192
/* Read at one go; the rest is still there the next time. */
#define EVENTS_PER_READ 1024

static bool is_action_of_set(const char *action)
{
	static const char *const actions[] = { "add@", "remove@", "bind@", "unbind@", "move@" };
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(actions); i++)
		if (!strncmp(action, actions[i], strlen(actions[i])))
			return true;
	return false;
}

int watt_uevent_parse(const char *message, size_t n, struct watt_uevent *ret)
{
	static const char key[] = "SUBSYSTEM=";
	const char *at = message, *end = message + n, *subsystem = NULL;

	if (!n || message[n - 1] != '\0' || !strchr(message, '@'))
		return -EBADMSG;
	for (at += strlen(at) + 1; at < end; at += strlen(at) + 1)
		if (!strncmp(at, key, sizeof(key) - 1))
			subsystem = at + sizeof(key) - 1;
	if (!subsystem || !*subsystem)
		return -EBADMSG;
	*ret = (struct watt_uevent){ is_action_of_set(message), subsystem };
	return 0;
}

int watt_uevents_open(struct watt_uevents *ret)
{
	struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = GROUP_KERNEL };
	int r;

	ret->fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
			 NETLINK_KOBJECT_UEVENT);
	if (ret->fd < 0)
		return -errno;
	if (bind(ret->fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return 0;
	r = -errno;
	watt_uevents_close(ret);
	return r;
}

void watt_uevents_close(struct watt_uevents *events)
{
	if (events->fd >= 0)
		close(events->fd);
	events->fd = -1;
}

void watt_uevents_read(struct watt_uevents *events, void (*hear)(void *data, const char *subsystem),
		       void *data)
{
	struct sockaddr_nl sender;
	char message[MESSAGE_MAX];
	int left = EVENTS_PER_READ;

	while (events->fd >= 0 && left-- > 0) {
		socklen_t size = sizeof(sender);
		struct watt_uevent event;
		ssize_t n;

		n = recvfrom(events->fd, message, sizeof(message), 0, (struct sockaddr *)&sender,
			     &size);
		if (n < 0 && errno == ENOBUFS)
			hear(data, NULL);
		else if (n < 0)
			return;
		else if (size == sizeof(sender) && sender.nl_pid == 0 &&
			 watt_uevent_parse(message, (size_t)n, &event) == 0 && event.is_of_set)
			hear(data, event.subsystem);
	}
}

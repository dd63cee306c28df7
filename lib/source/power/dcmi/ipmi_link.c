/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One question at a time. The driver asks a BMC that says nothing several times by itself, and tells
 * in the end that it did not answer: that answer, too, belongs to a question that nobody waits for.
 */
#include "source/power/dcmi/ipmi_link.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/ipmi.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"

#define ANSWER_NS (3 * WATT_NSEC_PER_SEC)

/* Completion codes of IPMI 2.0, table 5-2. */
enum completion {
	COMPLETED = 0x00,
	NODE_BUSY = 0xc0,
	INVALID_COMMAND = 0xc1,
	INVALID_FOR_LUN = 0xc2,
	TIMED_OUT = 0xc3,
	NOT_PRESENT = 0xcb,
	INVALID_FIELD = 0xcc,
	CANNOT_RETURN_NOW = 0xce,
	STARTING = 0xd2,
	NO_PRIVILEGE = 0xd4,
	NOT_IN_THIS_STATE = 0xd5,
	DISABLED = 0xd6,
};

int watt_ipmi_link_open(struct watt_ipmi_link *link, const char *path)
{
	*link = (struct watt_ipmi_link)WATT_IPMI_LINK_INIT;
	/* the driver takes questions from whoever may open it, and to read is enough */
	link->fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	return link->fd < 0 ? -errno : 0;
}

void watt_ipmi_link_close(struct watt_ipmi_link *link)
{
	if (link->fd >= 0)
		close(link->fd);
	link->fd = -1;
}

static int error_of(uint8_t completion)
{
	switch (completion) {
	case COMPLETED:
		return 0;
	case INVALID_COMMAND:
	case INVALID_FOR_LUN:
	case INVALID_FIELD:
	case DISABLED:
		return -EOPNOTSUPP;
	case NO_PRIVILEGE:
		return -EACCES;
	case NODE_BUSY:
	case STARTING:
		return -EAGAIN;
	case TIMED_OUT:
		return -ETIMEDOUT;
	case NOT_PRESENT:
	case CANNOT_RETURN_NOW:
	case NOT_IN_THIS_STATE:
		return -ENODATA;
	default:
		return -EREMOTEIO;
	}
}

static int ask(struct watt_ipmi_link *link, const struct watt_ipmi_question *question)
{
	struct ipmi_system_interface_addr bmc = {
		.addr_type = IPMI_SYSTEM_INTERFACE_ADDR_TYPE,
		.channel = IPMI_BMC_CHANNEL,
	};
	uint8_t data[sizeof(question->data)];
	struct ipmi_req request = {
		.addr = (unsigned char *)&bmc,
		.addr_len = sizeof(bmc),
		.msgid = ++link->newest,
		.msg = { .netfn = question->netfn,
			 .cmd = question->command,
			 .data_len = question->len,
			 .data = data },
	};

	memcpy(data, question->data, sizeof(data));
	return ioctl(link->fd, IPMICTL_SEND_COMMAND, &request) < 0 ? -errno : 0;
}

/* 1: it was the answer; 0: it was nothing, or that to another question. */
static int take(struct watt_ipmi_link *link, uint8_t *data, size_t size, size_t *ret_len)
{
	struct ipmi_system_interface_addr from;
	struct ipmi_recv received = {
		.addr = (unsigned char *)&from,
		.addr_len = sizeof(from),
		.msg = { .data = data, .data_len = (unsigned short)size },
	};

	/* one that is too long comes as far as there is room */
	if (ioctl(link->fd, IPMICTL_RECEIVE_MSG_TRUNC, &received) < 0 && errno != EMSGSIZE)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	if (received.recv_type != IPMI_RESPONSE_RECV_TYPE || received.msgid != link->newest)
		return 0;
	*ret_len = received.msg.data_len < size ? received.msg.data_len : size;
	return 1;
}

static int wait_for(struct watt_ipmi_link *link, uint8_t *data, size_t size, size_t *ret_len)
{
	uint64_t now_ns = watt_now_ns(), deadline_ns = now_ns + ANSWER_NS;
	struct pollfd poll_fd = { .fd = link->fd, .events = POLLIN };
	int r = 0;

	while (r == 0 && now_ns < deadline_ns) {
		poll(&poll_fd, 1, (int)((deadline_ns - now_ns) / WATT_NSEC_PER_MSEC) + 1);
		r = take(link, data, size, ret_len);
		now_ns = watt_now_ns();
	}
	return r == 0 ? -ETIMEDOUT : r;
}

int watt_ipmi_link_ask(struct watt_ipmi_link *link, const struct watt_ipmi_question *question,
		       uint8_t ret[WATT_IPMI_ANSWER_MAX])
{
	uint8_t data[1 + WATT_IPMI_ANSWER_MAX];
	size_t len = 0;
	int r = ask(link, question);

	if (r == 0)
		r = wait_for(link, data, sizeof(data), &len);
	if (r < 0) {
		if (r != -ETIMEDOUT)
			watt_ipmi_link_close(link);
		return r;
	}
	if (!len)
		return -EREMOTEIO;
	r = error_of(data[0]);
	if (r < 0)
		return r;
	memcpy(ret, data + 1, len - 1);
	return (int)(len - 1);
}

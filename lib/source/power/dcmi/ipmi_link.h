/* SPDX-License-Identifier: Apache-2.0 */
/* Questions to the machine's own BMC, by the kernel's driver for IPMI. One thread per object. */
#ifndef WATT_SOURCE_POWER_DCMI_IPMI_LINK_H
#define WATT_SOURCE_POWER_DCMI_IPMI_LINK_H

#include <stddef.h>
#include <stdint.h>

/* Of an answer, without its completion code; more is cut off. */
#define WATT_IPMI_ANSWER_MAX 64

struct watt_ipmi_link {
	int fd;      /* -1: it is not open */
	long newest; /* number of the question that was asked last */
};

#define WATT_IPMI_LINK_INIT \
	{ \
		.fd = -1 \
	}

struct watt_ipmi_question {
	uint8_t netfn;
	uint8_t command;
	uint8_t data[8];
	uint8_t len;
};

/* path: "/dev/ipmi0". 0 or -errno of open(). */
int watt_ipmi_link_open(struct watt_ipmi_link *link, const char *path);
/* Accepts one that is not open. */
void watt_ipmi_link_close(struct watt_ipmi_link *link);
/*
 * Asks, and waits for the answer: the number of bytes behind its completion code. -ETIMEDOUT: none
 * came within 3 s; what comes later is thrown away. What the BMC says instead: -EOPNOTSUPP (it
 * knows no such question), -EACCES, -EAGAIN (it is busy), -ENODATA (there is nothing to tell now),
 * -EREMOTEIO (anything else). Other errors are the driver's: the link is of no more use, and closed.
 */
int watt_ipmi_link_ask(struct watt_ipmi_link *link, const struct watt_ipmi_question *question,
		       uint8_t ret[WATT_IPMI_ANSWER_MAX]);

#endif

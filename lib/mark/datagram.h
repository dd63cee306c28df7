/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A mark on its way: what a datagram to a marks socket holds. Documented in watt_mark(3), so that
 * programs in any language can send it: a layout never changes, another one has another version.
 */
#ifndef WATT_MARK_DATAGRAM_H
#define WATT_MARK_DATAGRAM_H

#include <stddef.h>
#include <stdint.h>

#include <wattribute/mark.h>

#define WATT_MARK_MAGIC "WATTMARK"
#define WATT_MARK_VERSION 1u

/* In the byte order of the machine: it never leaves it. */
struct watt_mark_datagram {
	char magic[8]; /* without a NUL */
	uint32_t version;
	uint32_t lost;              /* marks of the sender that no queue had room for */
	uint64_t t_ns;              /* CLOCK_MONOTONIC */
	char label[WATT_MARK_SIZE]; /* UTF-8, printable; filled up with NUL, one at least */
};

_Static_assert(sizeof(struct watt_mark_datagram) == 88, "the layout is a promise");
_Static_assert(offsetof(struct watt_mark_datagram, label) == 24, "the layout is a promise");

/* NULL is "". A label that is too long is cut at a character. 0 or -EINVAL: it can't be printed. */
int watt_mark_encode(const char *label, uint64_t t_ns, struct watt_mark_datagram *ret);
/* Takes len bytes from anybody. 0 or -EBADMSG: they are no mark. */
int watt_mark_decode(const void *data, size_t len, struct watt_mark_datagram *ret);

#endif

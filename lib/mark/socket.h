/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Listens for marks on a socket of its own. Who may tell one: the same user and root, by the
 * kernel's word; where root listens in a folder, also whoever was told the address, which nobody
 * can find out: so a command that root measures may run as another user. Nothing that a sender
 * does can block or end a session. One thread per object.
 */
#ifndef WATT_MARK_SOCKET_H
#define WATT_MARK_SOCKET_H

#include <stdint.h>

#include <wattribute/mark.h>

#include "base/log.h"

/* Marks that are taken in a second, of all senders together: what each costs, others wait for. */
#define WATT_MARKS_PER_S 1000

struct watt_mark_socket;

/* What did not become a mark, or not as it was sent; cumulative. */
struct watt_mark_socket_counts {
	uint64_t refused;   /* of a user who may not */
	uint64_t malformed; /* no mark at all */
	uint64_t lost;      /* as their senders say: the queue was full */
	uint64_t excess;    /* more in a second than are taken: left out */
	uint64_t retimed;   /* from the future or the far past: they count as made at reception */
};

/*
 * Begins to listen. directory: where the socket is made; NULL: the usual place, or where that
 * can't be had, an abstract name. What is left there of processes that are gone is removed.
 * 0 or a negative errno. The log must stay where it is.
 */
int watt_mark_socket_open(const char *directory, const struct watt_log *log,
			  struct watt_mark_socket **ret);
/* Removes the socket. Accepts NULL; returns NULL. */
struct watt_mark_socket *watt_mark_socket_close(struct watt_mark_socket *marks);
/* For WATTRIBUTE_MARKS; owned by marks. */
const char *watt_mark_socket_get_address(const struct watt_mark_socket *marks);
/* Readable when a mark waits. */
int watt_mark_socket_get_fd(const struct watt_mark_socket *marks);
/*
 * The next mark, WATT_MARKS_PER_S a second and as many at once. Their times never go back. 0; 1:
 * there is none now. Looks at a bounded number of datagrams: with many that are refused, 1 may come
 * before the last.
 */
int watt_mark_socket_read(struct watt_mark_socket *marks, struct watt_mark *ret);
void watt_mark_socket_get_counts(const struct watt_mark_socket *marks,
				 struct watt_mark_socket_counts *ret);

#endif

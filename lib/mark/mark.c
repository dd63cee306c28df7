/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells marks. The state of a process is an address and a time before which nobody need be looked
 * for; there is no descriptor that a fork, a thread or a daemon's closing of all could take away.
 * The one place of the library that reads the environment: here it is the interface.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <wattribute/mark.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/util.h"
#include "mark/address.h"
#include "mark/datagram.h"

#define RETRY_NS WATT_NSEC_PER_SEC
#define NEVER_NS UINT64_MAX

static struct {
	pthread_once_t once;
	char address[sizeof(((struct sockaddr_un *)NULL)->sun_path)]; /* "": none */
	_Atomic uint64_t retry_ns; /* nobody listens before this time */
	_Atomic uint32_t lost;     /* marks since the last one that was told */
} sender = { .once = PTHREAD_ONCE_INIT };

static void read_address(void)
{
	const char *address = secure_getenv("WATTRIBUTE_MARKS");
	struct sockaddr_un sa;
	socklen_t len;

	if (address && watt_mark_parse_address(address, &sa, &len) == 0)
		watt_strlcpy(sender.address, address, sizeof(sender.address));
	else
		atomic_store_explicit(&sender.retry_ns, NEVER_NS, memory_order_relaxed);
}

/* There may be a listener; it is this process or its machine that lacks something now. */
static int send_error(void)
{
	switch (errno) {
	case EAGAIN:
	case ENOBUFS:
	case ENOMEM:
	case EMFILE:
	case ENFILE:
		return -EAGAIN;
	default:
		return -errno;
	}
}

static int send_datagram(const char *address, const struct watt_mark_datagram *datagram)
{
	_cleanup_close_ int fd = -1;
	struct sockaddr_un sa;
	socklen_t len;
	int r;

	r = watt_mark_parse_address(address, &sa, &len);
	if (r < 0)
		return r;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return send_error();
	if (sendto(fd, datagram, sizeof(*datagram), MSG_DONTWAIT | MSG_NOSIGNAL,
		   (struct sockaddr *)&sa, len) == sizeof(*datagram))
		return 0;
	return send_error();
}

/* Somebody may listen: tells them, or learns that nobody does. */
static int tell(const char *label, uint64_t now_ns)
{
	struct watt_mark_datagram datagram;
	int r;

	r = watt_mark_encode(label, now_ns, &datagram);
	if (r < 0)
		return r;
	datagram.lost = atomic_exchange_explicit(&sender.lost, 0, memory_order_relaxed);
	r = send_datagram(sender.address, &datagram);
	if (r == 0)
		return 0;
	if (r == -EAGAIN) {
		atomic_fetch_add_explicit(&sender.lost, datagram.lost + 1, memory_order_relaxed);
		return r;
	}
	atomic_store_explicit(&sender.retry_ns, now_ns + RETRY_NS, memory_order_relaxed);
	return -ENOTCONN;
}

int watt_mark(const char *label)
{
	uint64_t retry_ns, now_ns;
	int r, saved_errno;

	pthread_once(&sender.once, read_address);
	retry_ns = atomic_load_explicit(&sender.retry_ns, memory_order_relaxed);
	if (retry_ns == NEVER_NS)
		return -ENOTCONN;
	now_ns = watt_now_ns();
	if (now_ns < retry_ns)
		return -ENOTCONN;
	saved_errno = errno;
	r = tell(label, now_ns);
	errno = saved_errno;
	return r;
}

int watt_mark_send(const char *address, const struct watt_mark *mark)
{
	struct watt_mark_datagram datagram;
	int r;

	if (!address || !mark || strnlen(mark->label, WATT_MARK_SIZE) == WATT_MARK_SIZE)
		return -EINVAL;
	r = watt_mark_encode(mark->label, mark->t_ns ? mark->t_ns : watt_now_ns(), &datagram);
	return r < 0 ? r : send_datagram(address, &datagram);
}

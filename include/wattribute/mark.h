/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file mark.h
 * @brief A mark: a moment with a name, told by the program under test. A phase lasts from one
 * mark to the next.
 *
 *     watt_mark("load");
 *     load();
 *     watt_mark("solve");
 *     solve();
 *     watt_mark("");          // no phase from here on
 */
#ifndef WATTRIBUTE_MARK_H
#define WATTRIBUTE_MARK_H

#include <wattribute/types.h>

WATT_BEGIN_DECLS

/** Bytes of a label with its NUL; a longer one is cut at a character of UTF-8. */
#define WATT_MARK_SIZE 64

/** Bytes of the address of a marks socket with its NUL. */
#define WATT_MARK_ADDRESS_SIZE 108

/** One mark. A plain value; it never grows. */
struct watt_mark {
	uint64_t t_ns; /**< CLOCK_MONOTONIC, taken by who made the mark */
	uint32_t pid;  /**< who made it, in the initial pid namespace; 0: unknown */
	uint32_t reserved;
	char label[WATT_MARK_SIZE]; /**< UTF-8, printable, NUL-terminated; "": a phase ends */
};

/** Somebody who measures and listens for marks. A plain value; it never grows. */
struct watt_mark_listener {
	uint32_t pid; /**< as in /proc */
	uint32_t reserved;
	char address[WATT_MARK_ADDRESS_SIZE]; /**< for watt_mark_send() */
};

/**
 * Tells whoever measures this program that a phase begins now.
 *
 * The measuring command puts the address of its socket into the environment variable
 * WATTRIBUTE_MARKS of the program that it runs; it is read at the first call. Without the
 * variable a call is one load; while nobody listens there it is one clock read, but for one try a
 * second. Nothing is lost but the mark. Never blocks, keeps no descriptor open, needs nothing
 * after fork(). Thread-safe; not for signal handlers.
 *
 * @param label  UTF-8; NULL or "" ends a phase without beginning another.
 * @return 0: told; -ENOTCONN: nobody measures; -EAGAIN: the listener does not keep up and the
 * mark is lost, which the next one tells; -EINVAL: the label is not valid UTF-8 or has control
 * characters (while nobody measures it is not looked at).
 */
WATT_API int watt_mark(const char *label);

/**
 * The same by an address: a marks socket (absolute path, or "@name" for an abstract one), as
 * `wattribute mark` uses it. Thread-safe.
 *
 * @param mark  t_ns 0: now. The pid is what the kernel says of the caller, whatever it holds.
 * @return 0; -ENOENT, -EACCES, -ECONNREFUSED: nobody is there for the caller; -EAGAIN: the
 * listener does not keep up; -EINVAL, -ENAMETOOLONG: the address or the label is not valid.
 */
WATT_API int watt_mark_send(const char *address, const struct watt_mark *mark);

/**
 * Who listens for marks: sessions of the caller's user; for root, those of all users. Ordered by
 * pid. Thread-safe.
 *
 * @param ret    caller's array.
 * @param ret_n  in: its length; out: how many there are (may be more than fit).
 * @return 0, or -EINVAL.
 */
WATT_API int watt_mark_list(struct watt_mark_listener *ret, size_t *ret_n);

WATT_END_DECLS

#endif

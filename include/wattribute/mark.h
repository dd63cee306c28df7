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

/** One mark. A plain value. */
struct watt_mark {
	uint64_t t_ns; /**< CLOCK_MONOTONIC, taken by who made the mark */
	uint32_t pid;  /**< who made it, in the initial pid namespace; 0: unknown */
	uint32_t reserved;
	char label[WATT_MARK_SIZE]; /**< UTF-8, printable, NUL-terminated; "": a phase ends */
};

/**
 * Tells whoever measures this program that a phase begins now.
 *
 * The measuring command puts the address of its socket into the environment variable
 * WATTRIBUTE_MARKS of the program that it runs. Without the variable, or while nobody listens
 * there, a call is one clock read and one store, and nothing is lost but the mark. Never blocks.
 * Thread-safe; not for signal handlers.
 *
 * @param label  UTF-8; NULL or "" ends a phase without beginning another.
 * @return 0: told; -ENOTCONN: nobody measures; -EAGAIN: the listener does not keep up and the
 * mark is lost; -EINVAL: the label is not valid UTF-8 or has control characters.
 */
WATT_API int watt_mark(const char *label);

/**
 * The same by an address: a marks socket (absolute path, or "@name" for an abstract one), as
 * `wattribute mark` uses it. Connects anew at each call.
 *
 * @param mark  t_ns 0: now. The pid is what the kernel says of the caller, whatever it holds.
 * @return as watt_mark(); -ENOENT, -EACCES, -ECONNREFUSED: nobody is there.
 */
WATT_API int watt_mark_send(const char *address, const struct watt_mark *mark);

WATT_END_DECLS

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file cursor.h
 * @brief Cursors: any number of readers of one session, each with windows of its own.
 *
 * A cursor answers "what happened since I last asked": its first window begins when it is opened
 * (with the session, if that is before the first sweep), each later one where its last snapshot
 * ended, so that its windows add up to the nJ. Asking moves only one's own windows. A process that
 * a cursor has shown is in its snapshots once more when it is gone (as long as slow sensors have
 * yet to tell of it), and then among the exited.
 *
 * A session has a window of its own beside, that of watt_session_snapshot(): the snapshots that a
 * recording shows are those.
 *
 * Thread-safe, as sessions are; snapshots at one time wait for each other if they are of the same
 * cursor. A cursor that never asks costs room for where its window began, for each entity that
 * there is, and at most 8,192 processes in all that are gone: when more of them wait to be shown
 * so, the oldest are among the exited for everybody.
 */
#ifndef WATTRIBUTE_CURSOR_H
#define WATTRIBUTE_CURSOR_H

#include <wattribute/session.h>
#include <wattribute/snapshot.h>

WATT_BEGIN_DECLS

struct watt_cursor;

/**
 * A reader of @p ses more, at any time and from any thread. To be closed before the session is.
 * @return 0; -EMFILE: the session has 256 already; -ENOMEM; -EINVAL.
 */
WATT_API int watt_cursor_open(struct watt_session *ses, struct watt_cursor **ret);
/** One reader less, at any time and from any thread; NULL is allowed. Always returns NULL. */
WATT_API struct watt_cursor *watt_cursor_close(struct watt_cursor *cursor);

/**
 * A snapshot of the newest attributed state; its window is this cursor's. While another reader
 * waits in a snapshot_at(), that is the state up to its time.
 * @return 0, the caller owns *ret; -EOVERFLOW, -ENOMEM: as watt_session_snapshot().
 */
WATT_API int watt_cursor_snapshot(struct watt_cursor *cursor, struct watt_snapshot **ret);

/**
 * A snapshot of everything up to the first slice that ends at or after @p t_ns, complete in every
 * domain whose sensor answers: as watt_session_snapshot_at(), with this cursor's window. What
 * another reader has been shown already is not taken back: then the snapshot is of that time.
 *
 * @param t_ns        CLOCK_MONOTONIC; of a recording, in the recorded time.
 * @param timeout_ms  how long to wait for it. Who has asked in vain and does not ask again within
 *                    10 s holds up nobody else any longer.
 * @return 0, the caller owns *ret; -ETIMEDOUT: ask again; -ENODATA: a recording ends before.
 */
WATT_API int watt_cursor_snapshot_at(struct watt_cursor *cursor, uint64_t t_ns, uint32_t timeout_ms,
				     struct watt_snapshot **ret);

WATT_END_DECLS

#endif

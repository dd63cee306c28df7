/* SPDX-License-Identifier: Apache-2.0 */
/* The public face of a reader: a number that its session knows it by. */
#include <wattribute/cursor.h>

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "session.h"

struct watt_cursor {
	struct watt_session *ses;
	uint32_t id;
};

int watt_cursor_open(struct watt_session *ses, struct watt_cursor **ret)
{
	struct watt_cursor *cursor;
	int r;

	if (!ses || !ret)
		return -EINVAL;
	cursor = calloc(1, sizeof(*cursor));
	if (!cursor)
		return -ENOMEM;
	cursor->ses = ses;
	watt_lock_take(ses->lock);
	r = ses->ops->open_cursor(ses, &cursor->id);
	watt_lock_give(ses->lock);
	if (r < 0) {
		free(cursor);
		return r;
	}
	*ret = cursor;
	return 0;
}

struct watt_cursor *watt_cursor_close(struct watt_cursor *cursor)
{
	if (!cursor)
		return NULL;
	watt_lock_take(cursor->ses->lock);
	cursor->ses->ops->close_cursor(cursor->ses, cursor->id);
	watt_lock_give(cursor->ses->lock);
	free(cursor);
	return NULL;
}

int watt_cursor_snapshot(struct watt_cursor *cursor, struct watt_snapshot **ret)
{
	_cleanup_lock_ struct watt_lock *held = watt_lock_take(cursor->ses->lock);

	return cursor->ses->ops->snapshot(cursor->ses, cursor->id, ret);
}

int watt_cursor_snapshot_at(struct watt_cursor *cursor, uint64_t t_ns, uint32_t timeout_ms,
			    struct watt_snapshot **ret)
{
	_cleanup_lock_ struct watt_lock *held = watt_lock_take(cursor->ses->lock);

	return cursor->ses->ops->snapshot_at(cursor->ses, cursor->id, t_ns,
					     timeout_ms * WATT_NSEC_PER_MSEC, ret);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Gives bundles to the thread that reads them, and takes them back. It must not read any itself. */
#include "sample/handover.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/util.h"

struct handover {
	struct watt_task task; /* first */
	enum watt_handover_kind kind;
	struct watt_bundle *bundle; /* NULL: it is the reader's */
};

static void drop_handover(struct watt_task *task)
{
	struct handover *handover = watt_container_of(task, struct handover, task);

	watt_bundle_free(handover->bundle);
	free(handover);
}

static void give(struct watt_reader *reader, struct handover *handover)
{
	if (handover->kind == WATT_HANDOVER_READ) {
		watt_bundle_read_first(handover->bundle);
		watt_bundle_skip(handover->bundle, watt_now_ns());
	}
	watt_reader_add(reader, handover->bundle);
	handover->bundle = NULL;
}

static void run_handover(struct watt_reader *reader, struct watt_task *task)
{
	struct handover *handover = watt_container_of(task, struct handover, task);

	switch (handover->kind) {
	case WATT_HANDOVER_READ:
	case WATT_HANDOVER_KEEP:
		give(reader, handover);
		break;
	case WATT_HANDOVER_TAKE:
		watt_reader_remove(reader, handover->bundle);
		break;
	case WATT_HANDOVER_CLOSE:
		watt_reader_remove(reader, handover->bundle);
		handover->bundle = watt_bundle_free(handover->bundle);
		break;
	}
}

int watt_handover_send(struct watt_reader *reader, struct watt_bundle *bundle,
		       enum watt_handover_kind kind)
{
	struct handover *handover = calloc(1, sizeof(*handover));
	int r;

	if (!handover)
		return -ENOMEM;
	handover->task.run = run_handover;
	handover->task.drop = drop_handover;
	handover->task.what = kind == WATT_HANDOVER_CLOSE ? "closing it" : "reading it";
	handover->kind = kind;
	handover->bundle = bundle;
	r = watt_reader_send(reader, &handover->task);
	if (r < 0)
		free(handover);
	return r;
}

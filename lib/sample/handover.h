/* SPDX-License-Identifier: Apache-2.0 */
/* A handover: the thread of a reader gets a bundle, or gives it up. Inside the stage only. */
#ifndef WATT_SAMPLE_HANDOVER_H
#define WATT_SAMPLE_HANDOVER_H

#include "sample/reader.h"

enum watt_handover_kind {
	WATT_HANDOVER_READ,  /* the thread reads it now, and from now on */
	WATT_HANDOVER_KEEP,  /* as the one before, but for reading it now */
	WATT_HANDOVER_TAKE,  /* the thread gives it up; whoever receives the task closes it */
	WATT_HANDOVER_CLOSE, /* the thread closes it: it can block */
};

/* The bundle is the thread's. 0, -EAGAIN, -ENOMEM. */
int watt_handover_send(struct watt_reader *reader, struct watt_bundle *bundle,
		       enum watt_handover_kind kind);

#endif

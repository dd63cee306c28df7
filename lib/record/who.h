/* SPDX-License-Identifier: Apache-2.0 */
/* Who somebody is, as a chunk tells it: the ops that have names. One thread per object. */
#ifndef WATT_RECORD_WHO_H
#define WATT_RECORD_WHO_H

#include "record/value.h"

/* What the newest op of each kind points to; its texts are the chunk's. */
struct watt_who {
	struct watt_identity identity;
	struct watt_cgroup cgroup;
	struct watt_container container;
	struct watt_label labels[WATT_LABELS_MAX];
};

/* What the op is, whose kind is known. 0 or -EBADMSG. */
int watt_who_next_identity(struct watt_who *who, struct watt_values *values, struct watt_op *ret);
int watt_who_next_cgroup(struct watt_who *who, struct watt_values *values, struct watt_op *ret);
int watt_who_next_user(struct watt_values *values, struct watt_op *ret);
int watt_who_next_container(struct watt_who *who, struct watt_values *values, struct watt_op *ret);

#endif

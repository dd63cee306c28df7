/* SPDX-License-Identifier: Apache-2.0 */
/* In place of the recording file, where the library is built without what it needs. */
#include "record/record.h"

void watt_recorder_put(struct watt_recorder *recorder, const struct watt_op *op)
{
}

void watt_recorder_put_snapshot(struct watt_recorder *recorder, struct watt_snapshot *snap)
{
}

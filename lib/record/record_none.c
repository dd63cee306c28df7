/* SPDX-License-Identifier: Apache-2.0 */
/* In place of the recording file, where the library is built without what it needs. */
#include <errno.h>

#include "record/record.h"

int watt_recorder_new(const char *path, const struct watt_record_opts *opts,
		      const struct watt_setup *setup, const struct watt_machine *machine,
		      const struct watt_domain *const *domains, size_t n_domains,
		      const struct watt_log *log, struct watt_recorder **ret)
{
	watt_log(log, WATT_LOG_ERROR,
		 "this build of the library cannot record: it was made without SQLite or zstd");
	return -EOPNOTSUPP;
}

struct watt_recorder *watt_recorder_close(struct watt_recorder *recorder)
{
	return NULL;
}

bool watt_recorder_needs_all(struct watt_recorder *recorder)
{
	return false;
}

void watt_recorder_get_stats(struct watt_recorder *recorder, struct watt_record_stats *ret)
{
	*ret = (struct watt_record_stats){ 0 };
}

void watt_recorder_put(struct watt_recorder *recorder, const struct watt_op *op)
{
}

void watt_recorder_put_snapshot(struct watt_recorder *recorder, struct watt_snapshot *snap)
{
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The threads of a measured command: what each used, whether or not it still lives. */
#ifndef WATT_CLI_STAT_THREAD_H
#define WATT_CLI_STAT_THREAD_H

#include <wattribute/run.h>
#include <wattribute/view.h>

/* Notes what the threads of a tracked set have used of it by a snapshot. */
void stat_threads_note(struct watt_run *run, const struct watt_view *view, uint64_t tracked_id);
/* With those that were never seen, so that they are all of the run; the greatest energy first. */
void stat_threads_end(struct watt_run *run);
void stat_threads_done(struct watt_run *run);

#endif

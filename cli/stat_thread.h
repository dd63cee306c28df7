/* SPDX-License-Identifier: Apache-2.0 */
/* The threads of a measured command: what each used, whether or not it still lives. */
#ifndef WATT_CLI_STAT_THREAD_H
#define WATT_CLI_STAT_THREAD_H

#include <wattribute/run.h>
#include <wattribute/view.h>

/* Adds what the threads of a tracked set used in the window of a snapshot. */
void stat_threads_add(struct watt_run *run, const struct watt_view *view, uint64_t tracked_id);
/* By energy, the greatest first. */
void stat_threads_sort(struct watt_run *run);
void stat_threads_done(struct watt_run *run);

#endif

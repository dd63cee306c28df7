/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace that is written while a session runs: what was read, as it was read. Ops are told by one
 * thread; another one writes, so that a slow disk holds up nobody.
 */
#ifndef WATT_RECORD_NVMT_WRITER_H
#define WATT_RECORD_NVMT_WRITER_H

#include "record/record.h"

struct watt_nvmt_writer;

/* Makes the file, a journal until it is closed. As watt_recorder_new(). */
int watt_nvmt_writer_new(const char *path, const struct watt_record_opts *opts,
			 const struct watt_setup *setup, const struct watt_machine *machine,
			 const struct watt_domain *const *domains, size_t n_domains,
			 const struct watt_log *log, struct watt_nvmt_writer **ret);
/* Makes a trace of the file. Accepts NULL; returns NULL. */
struct watt_nvmt_writer *watt_nvmt_writer_close(struct watt_nvmt_writer *writer);
void watt_nvmt_writer_put(struct watt_nvmt_writer *writer, const struct watt_op *op);
/* As watt_recorder_grow(). What has no room is left out, and said. */
int watt_nvmt_writer_grow(struct watt_nvmt_writer *writer,
			  const struct watt_channel *const *channels, size_t n_channels,
			  const struct watt_domain *const *domains, size_t n_domains);
void watt_nvmt_writer_get_stats(struct watt_nvmt_writer *writer, struct watt_record_stats *ret);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What libbpf prints while an object is loaded, to the session's log at debug level. */
#ifndef WATT_SOURCE_HOST_BPF_LOG_H
#define WATT_SOURCE_HOST_BPF_LOG_H

#include <bpf/libbpf.h>

#include "source/source.h"

/*
 * From _begin to _end this thread's messages go to log, borrowed. Any number of threads at a time;
 * not nestable in one.
 */
void watt_bpf_log_begin(const struct watt_log *log);
void watt_bpf_log_end(void);

#endif

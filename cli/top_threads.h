/* SPDX-License-Identifier: Apache-2.0 */
/* Threads below the processes that they are of. */
#ifndef WATT_CLI_TOP_THREADS_H
#define WATT_CLI_TOP_THREADS_H

#include "top_model.h"

/*
 * Puts the rows of threads, which are sorted, behind those of their processes, and takes them over.
 * A process that has one alone is that thread: the row of such a thread is dropped, as is that of
 * one whose process is not there.
 */
void top_threads_place(struct top_model *model, struct top_row *threads, size_t n_threads);

#endif

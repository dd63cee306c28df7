/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An NVMT trace, read as if it were a recording: its rails are channels, what its cores did is the
 * CPUs' time, and its sync points are marks. One thread per object at a time.
 */
#ifndef WATT_RECORD_NVMT_H
#define WATT_RECORD_NVMT_H

#include "record/record.h"

struct watt_nvmt;
struct watt_recording;

/* 0: rec has it now; 1: the file is none; -EBADMSG, -ENOMEM, ...: told. */
int watt_nvmt_open(struct watt_recording *rec);
/* Accepts NULL; returns NULL. */
struct watt_nvmt *watt_nvmt_free(struct watt_nvmt *nvmt);
/* As those of recordings. */
int watt_nvmt_next_op(struct watt_recording *rec, struct watt_op *ret);
int watt_nvmt_read_samples(struct watt_recording *rec, struct watt_sample *ret, size_t n);
void watt_nvmt_seek(struct watt_recording *rec, uint64_t t_ns);

#endif

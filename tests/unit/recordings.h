/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings made on the spot, and what reading them has to say. */
#ifndef WATT_TESTS_RECORDINGS_H
#define WATT_TESTS_RECORDINGS_H

#include "ops.h"

/* What was logged, newest last. */
struct heard {
	unsigned int n;
	unsigned int n_errors;
	unsigned int n_warnings;
	char last[1024];
};

static inline void hear(void *data, enum watt_log_level level, const char *text)
{
	struct heard *heard = data;

	heard->n++;
	heard->n_errors += level == WATT_LOG_ERROR;
	heard->n_warnings += level == WATT_LOG_WARNING;
	if (level <= WATT_LOG_WARNING)
		snprintf(heard->last, sizeof(heard->last), "%s", text);
}

static inline char *path_in(const char *folder, const char *name)
{
	char *path;

	assert_true(asprintf(&path, "%s/%s", folder, name) > 0);
	return path;
}

static inline struct watt_recorder *record_to(const char *path, const struct ops_machine *machine,
					      const struct watt_record_opts *opts,
					      struct heard *heard)
{
	const struct watt_log log = { hear, heard };
	struct watt_recorder *recorder;

	assert_int_equal(watt_recorder_new(path, opts, &machine->setup, &machine->machine,
					   machine->domain_list, OPS_CHANNELS, &log, &recorder),
			 0);
	return recorder;
}

/* So many ticks of 50 ms with the seven ops of each. */
static inline void put_ticks(struct watt_recorder *recorder, struct ops *ops, unsigned int ticks)
{
	struct watt_op op;
	unsigned int i;

	for (i = 0; i < OPS_PER_TICK * ticks; i++) {
		ops_next(ops, &op);
		watt_recorder_put(recorder, &op);
	}
}

/* A finished recording of so many ticks. */
static inline void make_recording(const char *path, uint64_t seed, unsigned int ticks)
{
	static struct ops_machine machine;
	static struct ops ops;
	struct heard heard = { 0 };
	struct watt_recorder *recorder;

	ops_machine_init(&machine);
	ops_init(&ops, seed);
	recorder = record_to(path, &machine, NULL, &heard);
	put_ticks(recorder, &ops, ticks);
	watt_recorder_close(recorder);
	assert_int_equal(heard.n, 0);
}

#endif

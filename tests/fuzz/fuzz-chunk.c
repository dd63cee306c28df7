/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A chunk, behind its checksum: the input is what it unpacks to. What can be read can be written
 * again and is the same then.
 */
#include "fuzz.h"

#include <string.h>

#include <zstd.h>

#include "record/chunk.h"

#define N_CHANNELS 8

static struct watt_chunk_reader *reader, *again;
static struct watt_packer *packer;
static struct watt_predict predict;
static struct watt_chunk chunk;

static void init(void)
{
	if (reader)
		return;
	check(watt_chunk_reader_new(N_CHANNELS, &reader) == 0);
	check(watt_chunk_reader_new(N_CHANNELS, &again) == 0);
	check(watt_packer_new(&packer) == 0);
	check(watt_predict_init(&predict, N_CHANNELS) == 0);
}

static void check_text(const char *text)
{
	check(!text || strlen(text) <= WATT_TEXT_MAX);
}

/* What an op of a chunk never holds. */
static void check_op(const struct watt_op *op)
{
	size_t i;

	switch (op->kind) {
	case WATT_OP_SAMPLES:
		for (i = 0; i < op->samples.n; i++) {
			check(op->samples.list[i].channel < N_CHANNELS);
			check(op->samples.list[i].status <= WATT_STATUS_PENDING);
			check(op->samples.list[i].t_before_ns <= op->samples.list[i].t_after_ns);
		}
		break;
	case WATT_OP_USAGE:
		check(op->usage.t_before_ns <= op->usage.t_after_ns);
		for (i = 0; i < op->usage.n_records; i++)
			check(op->usage.records[i].kind <= WATT_USAGE_CGROUP &&
			      !op->usage.records[i].comm[15]);
		for (i = 0; i < op->usage.n_cpus; i++)
			check(op->usage.cpus[i].online <= 1);
		break;
	case WATT_OP_IDENTITY:
		check(!op->identity->comm[15]);
		check_text(op->identity->exe);
		check_text(op->identity->cmdline);
		break;
	case WATT_OP_CGROUP:
		check_text(op->cgroup->path);
		break;
	case WATT_OP_USER:
		check(op->user.name);
		break;
	case WATT_OP_MARK:
		check(memchr(op->mark.label, '\0', sizeof(op->mark.label)));
		break;
	default:
		break;
	}
}

static void check_again(uint32_t n_ops)
{
	struct watt_chunk_fault fault;
	struct watt_op op;
	const void *data;
	size_t size;

	check(watt_packer_pack(packer, &chunk, &data, &size) == 0);
	check(watt_chunk_reader_open(again, data, size, &fault) == 0);
	while (n_ops--)
		check(watt_chunk_reader_next(again, &op, &fault) == 0);
	check(watt_chunk_reader_next(again, &op, &fault) == 1);
}

static void read_samples(const void *packed, size_t size)
{
	struct watt_sample samples[64];
	struct watt_chunk_fault fault;
	int n;

	if (watt_chunk_reader_open(reader, packed, size, &fault) < 0)
		return;
	while ((n = watt_chunk_reader_samples(reader, samples, 64, &fault)) > 0)
		check(samples[n - 1].channel < N_CHANNELS);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t bound = ZSTD_compressBound(size), n;
	struct watt_chunk_fault fault = { 0 };
	struct watt_op op;
	void *packed;
	int r;

	init();
	packed = malloc(bound);
	if (!packed)
		return 0;
	n = ZSTD_compress(packed, bound, data, size, 1);
	check(!ZSTD_isError(n));
	watt_chunk_clear(&chunk);
	watt_predict_clear(&predict);
	r = watt_chunk_reader_open(reader, packed, n, &fault);
	while (r == 0 && (r = watt_chunk_reader_next(reader, &op, &fault)) == 0) {
		check_op(&op);
		check(watt_chunk_put(&chunk, &predict, &op) == 0);
	}
	check(r == 1 || (r == -EBADMSG && fault.what && fault.offset <= size));
	check_again(chunk.n_ops);
	read_samples(packed, n);
	/* and as it is, not compressed: that is refused at once */
	watt_chunk_reader_open(reader, data, size, &fault);
	free(packed);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unpacks a chunk and finds its columns. Every size is checked against what is there before
 * anything is allocated or read. It must not know what columns mean.
 */
#include "record/unpack.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

int watt_unpacker_init(struct watt_unpacker *unpacker)
{
	*unpacker = (struct watt_unpacker){ .zstd = ZSTD_createDCtx() };
	return unpacker->zstd ? 0 : -ENOMEM;
}

void watt_unpacker_done(struct watt_unpacker *unpacker)
{
	ZSTD_freeDCtx(unpacker->zstd);
	free(unpacker->data);
	*unpacker = (struct watt_unpacker){ 0 };
}

static int fault(struct watt_chunk_fault *ret, const char *what, size_t offset)
{
	*ret = (struct watt_chunk_fault){ what, offset };
	return -EBADMSG;
}

static int decompress(struct watt_unpacker *unpacker, const void *data, size_t size,
		      struct watt_chunk_fault *ret_fault)
{
	unsigned long long want = ZSTD_getFrameContentSize(data, size);
	size_t got;

	unpacker->size = 0;
	if (want == ZSTD_CONTENTSIZE_ERROR || want == ZSTD_CONTENTSIZE_UNKNOWN)
		return fault(ret_fault, "it is not compressed by zstd, or does not say its size",
			     0);
	if (want > WATT_CHUNK_MAX)
		return fault(ret_fault, "it says that it is larger than a chunk can be", 0);
	if (want > unpacker->cap) {
		free(unpacker->data);
		unpacker->cap = 0;
		unpacker->data = malloc((size_t)want);
		if (!unpacker->data)
			return -ENOMEM;
		unpacker->cap = (size_t)want;
	}
	got = ZSTD_decompressDCtx(unpacker->zstd, unpacker->data, unpacker->cap, data, size);
	if (ZSTD_isError(got) || got != want)
		return fault(ret_fault, "its bytes do not fit their checksum", 0);
	unpacker->size = got;
	return 0;
}

/* A place in the unpacked bytes. */
struct scan {
	const uint8_t *begin;
	const uint8_t *p;
	const uint8_t *end;
};

static bool take(struct scan *scan, size_t n, const uint8_t **ret)
{
	if (n > (size_t)(scan->end - scan->p))
		return false;
	*ret = scan->p;
	scan->p += n;
	return true;
}

static uint32_t get_u32(const uint8_t *p)
{
	uint32_t value;

	memcpy(&value, p, sizeof(value));
	return le32toh(value);
}

static int find_column(const uint8_t *name, size_t len)
{
	int i;

	for (i = 0; i < WATT_N_COLUMNS; i++)
		if (strlen(watt_column_kinds[i].name) == len &&
		    !memcmp(watt_column_kinds[i].name, name, len))
			return i;
	return -1;
}

static int scan_column(struct watt_unpacker *unpacker, struct scan *scan,
		       struct watt_chunk_fault *ret_fault)
{
	const uint8_t *name_len, *name, *head, *data;
	struct watt_column_cursor *cursor;
	size_t at = (size_t)(scan->p - scan->begin);
	uint32_t n, len;
	int id;

	if (!take(scan, 1, &name_len) || !take(scan, *name_len, &name) || !take(scan, 9, &head))
		return fault(ret_fault, "the head of a column is cut off", at);
	n = get_u32(head + 1);
	len = get_u32(head + 5);
	if (!take(scan, len, &data) || n > len)
		return fault(ret_fault, "a column is longer than the chunk", at);
	id = find_column(name, *name_len);
	if (id < 0)
		return 0;
	cursor = &unpacker->columns[id];
	if (cursor->p)
		return fault(ret_fault, "a column is there twice", at);
	if (head[0] != watt_column_kinds[id].encoding)
		return fault(ret_fault, "a column has another encoding", at);
	*cursor = (struct watt_column_cursor){ data, data + len, n };
	return 0;
}

static int scan_chunk(struct watt_unpacker *unpacker, struct watt_chunk_fault *ret_fault)
{
	struct scan scan = { unpacker->data, unpacker->data, unpacker->data + unpacker->size };
	const uint8_t *head;
	unsigned int i, n;
	int r = 0;

	if (!take(&scan, 8, &head) || memcmp(head, WATT_CHUNK_MAGIC, 4))
		return fault(ret_fault, "it does not begin as a chunk does", 0);
	if ((head[4] | head[5] << 8) != WATT_CHUNK_VERSION)
		return fault(ret_fault, "its version is not known", 4);
	n = head[6] | (unsigned int)head[7] << 8;
	for (i = 0; i < n && r == 0; i++)
		r = scan_column(unpacker, &scan, ret_fault);
	if (r == 0 && scan.p != scan.end)
		return fault(ret_fault, "there is something behind its columns",
			     (size_t)(scan.p - scan.begin));
	return r;
}

int watt_unpacker_open(struct watt_unpacker *unpacker, const void *data, size_t size,
		       struct watt_chunk_fault *ret_fault)
{
	int r;

	memset(unpacker->columns, 0, sizeof(unpacker->columns));
	r = decompress(unpacker, data, size, ret_fault);
	if (r == 0)
		r = scan_chunk(unpacker, ret_fault);
	if (r < 0)
		memset(unpacker->columns, 0, sizeof(unpacker->columns));
	return r;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A chunk as bytes: a head, each column with a head of its own, all of it compressed by zstd with
 * a checksum. Little-endian. It must not know what columns mean.
 */
#include "record/chunk.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

/* Higher ones take nine times as long to save 7 %. */
#define LEVEL 3

struct watt_packer {
	ZSTD_CCtx *zstd;
	uint8_t *data;
	size_t cap;
};

int watt_packer_new(struct watt_packer **ret)
{
	struct watt_packer *packer = calloc(1, sizeof(*packer));

	if (packer)
		packer->zstd = ZSTD_createCCtx();
	if (!packer || !packer->zstd ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(packer->zstd, ZSTD_c_compressionLevel, LEVEL)) ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(packer->zstd, ZSTD_c_checksumFlag, 1))) {
		watt_packer_free(packer);
		return -ENOMEM;
	}
	*ret = packer;
	return 0;
}

struct watt_packer *watt_packer_free(struct watt_packer *packer)
{
	if (!packer)
		return NULL;
	ZSTD_freeCCtx(packer->zstd);
	free(packer->data);
	free(packer);
	return NULL;
}

/* The head of a column: length of the name, name, encoding, values, bytes. */
static size_t column_head(const struct watt_chunk *chunk, size_t i, uint8_t head[64])
{
	const struct watt_column_kind *kind = &watt_column_kinds[i];
	uint32_t n = htole32(chunk->columns[i].n), len = htole32((uint32_t)chunk->columns[i].len);
	size_t name_len = strlen(kind->name);
	uint8_t *p = head;

	*p++ = (uint8_t)name_len;
	memcpy(p, kind->name, name_len);
	p += name_len;
	*p++ = (uint8_t)kind->encoding;
	memcpy(p, &n, sizeof(n));
	memcpy(p + sizeof(n), &len, sizeof(len));
	return (size_t)(p - head) + sizeof(n) + sizeof(len);
}

/* Size of the whole, and how many columns have values. */
static size_t packed_size(const struct watt_chunk *chunk, uint16_t *ret_n)
{
	size_t i, size = sizeof(WATT_CHUNK_MAGIC) - 1 + 4;
	uint8_t head[64];

	*ret_n = 0;
	for (i = 0; i < WATT_N_COLUMNS; i++)
		if (chunk->columns[i].n) {
			size += column_head(chunk, i, head) + chunk->columns[i].len;
			++*ret_n;
		}
	return size;
}

static int feed(struct watt_packer *packer, ZSTD_outBuffer *out, const void *data, size_t size)
{
	ZSTD_inBuffer in = { data, size, 0 };

	while (in.pos < in.size)
		if (out->pos == out->size ||
		    ZSTD_isError(ZSTD_compressStream2(packer->zstd, out, &in, ZSTD_e_continue)))
			return -ENOMEM;
	return 0;
}

static int feed_chunk(struct watt_packer *packer, ZSTD_outBuffer *out,
		      const struct watt_chunk *chunk, uint16_t n_columns)
{
	uint8_t head[64] = WATT_CHUNK_MAGIC;
	size_t i;
	int r;

	head[4] = WATT_CHUNK_VERSION;
	head[5] = 0;
	head[6] = (uint8_t)n_columns;
	head[7] = (uint8_t)(n_columns >> 8);
	r = feed(packer, out, head, 8);
	for (i = 0; i < WATT_N_COLUMNS && r == 0; i++) {
		const struct watt_column *column = &chunk->columns[i];

		if (!column->n)
			continue;
		r = feed(packer, out, head, column_head(chunk, i, head));
		if (r == 0)
			r = feed(packer, out, column->data, column->len);
	}
	return r;
}

int watt_packer_pack(struct watt_packer *packer, const struct watt_chunk *chunk, const void **ret,
		     size_t *ret_size)
{
	uint16_t n_columns;
	size_t size = packed_size(chunk, &n_columns), bound = ZSTD_compressBound(size), left;
	ZSTD_inBuffer nothing = { NULL, 0, 0 };
	ZSTD_outBuffer out;
	int r;

	if (size > WATT_CHUNK_MAX)
		return -E2BIG;
	if (bound > packer->cap) {
		free(packer->data);
		packer->cap = 0;
		packer->data = malloc(bound);
		if (!packer->data)
			return -ENOMEM;
		packer->cap = bound;
	}
	out = (ZSTD_outBuffer){ packer->data, packer->cap, 0 };
	ZSTD_CCtx_reset(packer->zstd, ZSTD_reset_session_only);
	ZSTD_CCtx_setPledgedSrcSize(packer->zstd, size);
	r = feed_chunk(packer, &out, chunk, n_columns);
	if (r < 0)
		return r;
	left = ZSTD_compressStream2(packer->zstd, &out, &nothing, ZSTD_e_end);
	if (ZSTD_isError(left) || left)
		return -ENOMEM;
	*ret = packer->data;
	*ret_size = out.pos;
	return 0;
}

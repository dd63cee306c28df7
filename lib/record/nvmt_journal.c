/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a trace of its journal: once through it for each section, for these lie one behind the other
 * in a trace. It must not believe what it reads.
 */
#include "record/nvmt_journal.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/util.h"

#define AT_RESERVED (WATT_NVMT_HEADER_SIZE - 64)
#define BUFFER_SIZE ((size_t)1 << 16)

size_t watt_nvmt_sample_size(unsigned int section)
{
	static const size_t sizes[] = { WATT_NVMT_FAST_SIZE, WATT_NVMT_MEDIUM_SIZE,
					WATT_NVMT_SLOW_SIZE, WATT_NVMT_SYNC_SIZE };

	return section < WATT_ARRAY_SIZE(sizes) ? sizes[section] : 0;
}

void watt_nvmt_journal_mark(uint8_t header[WATT_NVMT_HEADER_SIZE])
{
	memcpy(header + AT_RESERVED, WATT_NVMT_JOURNAL, sizeof(WATT_NVMT_JOURNAL));
}

bool watt_nvmt_journal_is(const uint8_t header[WATT_NVMT_HEADER_SIZE])
{
	return memcmp(header + AT_RESERVED, WATT_NVMT_JOURNAL, sizeof(WATT_NVMT_JOURNAL)) == 0;
}

/* ---- reading ---- */

struct reader {
	int fd;
	off_t next; /* in the file */
	size_t at, n;
	uint8_t buffer[BUFFER_SIZE];
};

/* So many bytes, as long as nothing else is read; NULL: there are not so many. */
static const uint8_t *get(struct reader *reader, size_t size)
{
	ssize_t n;

	if (reader->n - reader->at < size) {
		memmove(reader->buffer, reader->buffer + reader->at, reader->n - reader->at);
		reader->n -= reader->at;
		reader->at = 0;
		while (reader->n < size) {
			n = pread(reader->fd, reader->buffer + reader->n, BUFFER_SIZE - reader->n,
				  reader->next);
			if (n <= 0)
				return NULL;
			reader->n += (size_t)n;
			reader->next += n;
		}
	}
	reader->at += size;
	return reader->buffer + reader->at - size;
}

/* The next sample and its section; NULL: the end, or nothing that can be. */
static const uint8_t *next_sample(struct reader *reader, unsigned int *ret_section)
{
	const uint8_t *section = get(reader, 1);

	if (!section || !watt_nvmt_sample_size(*section))
		return NULL;
	*ret_section = *section;
	return get(reader, watt_nvmt_sample_size(*ret_section));
}

/* ---- writing ---- */

struct writer {
	int fd;
	off_t next;
	size_t n;
	uint8_t buffer[BUFFER_SIZE];
};

static int flush(struct writer *writer)
{
	size_t at = 0;
	ssize_t n;

	while (at < writer->n) {
		n = pwrite(writer->fd, writer->buffer + at, writer->n - at, writer->next);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		at += (size_t)n;
		writer->next += n;
	}
	writer->n = 0;
	return 0;
}

static int put(struct writer *writer, const uint8_t *data, size_t size)
{
	int r = writer->n + size > BUFFER_SIZE ? flush(writer) : 0;

	if (r < 0)
		return r;
	memcpy(writer->buffer + writer->n, data, size);
	writer->n += size;
	return 0;
}

/* ---- the trace ---- */

struct section {
	uint64_t n;
	double first_s, last_s;
};

static void count(struct section *section, const uint8_t *sample)
{
	double time_s = watt_nvmt_get_double(sample);

	if (!section->n++)
		section->first_s = time_s;
	section->last_s = time_s;
}

static int copy_section(int journal_fd, struct writer *writer, unsigned int wanted,
			struct section *ret)
{
	_cleanup_free_ struct reader *reader = malloc(sizeof(*reader));
	const uint8_t *sample;
	unsigned int section;
	int r = 0;

	if (!reader)
		return -ENOMEM;
	reader->fd = journal_fd;
	reader->next = WATT_NVMT_HEADER_SIZE;
	reader->at = reader->n = 0;
	while (r == 0 && (sample = next_sample(reader, &section))) {
		if (section != wanted)
			continue;
		count(ret, sample);
		r = put(writer, sample, watt_nvmt_sample_size(section));
	}
	return r;
}

/* How often there was one, in whole Hz; what the header says where too few tell. */
static uint32_t rate_hz(const struct section *section, uint32_t said_hz)
{
	double time_s = section->last_s - section->first_s, hz;

	if (section->n < 3 || !(time_s > 0) || !isfinite(time_s))
		return WATT_MAX(said_hz, 1u);
	hz = round((double)(section->n - 1) / time_s);
	return hz >= 1 && hz < 1e9 ? (uint32_t)hz : 1;
}

static int finish(int journal_fd, const uint8_t header[WATT_NVMT_HEADER_SIZE],
		  struct writer *writer)
{
	struct section sections[WATT_NVMT_SECTIONS] = { 0 };
	uint8_t made[WATT_NVMT_HEADER_SIZE];
	unsigned int i;
	int r;

	memcpy(made, header, sizeof(made));
	memset(made + AT_RESERVED, 0, WATT_NVMT_HEADER_SIZE - AT_RESERVED);
	r = put(writer, made, sizeof(made));
	for (i = 0; i < WATT_NVMT_SECTIONS && r == 0; i++)
		r = copy_section(journal_fd, writer, i, &sections[i]);
	if (r == 0)
		r = flush(writer);
	for (i = 0; i < WATT_NVMT_SECTIONS; i++) {
		uint8_t *hz = made + WATT_NVMT_AT_HZ + 4 * i;

		watt_nvmt_put_u64(made + WATT_NVMT_AT_COUNTS + 8 * i, sections[i].n);
		if (i < WATT_NVMT_SYNC)
			watt_nvmt_put_u32(hz, rate_hz(&sections[i], watt_nvmt_get_u32(hz)));
	}
	if (r == 0 && pwrite(writer->fd, made, sizeof(made), 0) != (ssize_t)sizeof(made))
		r = -EIO;
	return r;
}

int watt_nvmt_journal_finish(int journal_fd, const uint8_t header[WATT_NVMT_HEADER_SIZE],
			     int trace_fd)
{
	_cleanup_free_ struct writer *writer = malloc(sizeof(*writer));

	if (!writer)
		return -ENOMEM;
	writer->fd = trace_fd;
	writer->next = 0;
	writer->n = 0;
	return finish(journal_fd, header, writer);
}

int watt_nvmt_journal_open(int journal_fd, const uint8_t header[WATT_NVMT_HEADER_SIZE])
{
	_cleanup_fclose_ FILE *file = tmpfile();
	int fd, r;

	if (!file)
		return -errno;
	r = watt_nvmt_journal_finish(journal_fd, header, fileno(file));
	if (r < 0)
		return r;
	fd = fcntl(fileno(file), F_DUPFD_CLOEXEC, 0);
	return fd < 0 ? -errno : fd;
}

/* ---- a copy ---- */

int watt_nvmt_copy(int trace_fd, const uint64_t counts[WATT_NVMT_SECTIONS], int fd)
{
	uint8_t buffer[16384];
	uint64_t left = 0;
	off_t offset = WATT_NVMT_HEADER_SIZE;
	ssize_t n;
	unsigned int i;
	int r;

	if (pread(trace_fd, buffer, WATT_NVMT_HEADER_SIZE, 0) != WATT_NVMT_HEADER_SIZE)
		return -EIO;
	for (i = 0; i < WATT_NVMT_SECTIONS; i++) {
		watt_nvmt_put_u64(buffer + WATT_NVMT_AT_COUNTS + 8 * i, counts[i]);
		left += counts[i] * watt_nvmt_sample_size(i);
	}
	r = watt_write_all(fd, buffer, WATT_NVMT_HEADER_SIZE);
	while (left && r == 0) {
		n = pread(trace_fd, buffer, (size_t)WATT_MIN(left, (uint64_t)sizeof(buffer)),
			  offset);
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		r = watt_write_all(fd, buffer, (size_t)n);
		offset += n;
		left -= (uint64_t)n;
	}
	return r;
}

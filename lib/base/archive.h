/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Archives of small files, tar with or without zstd or gzip, by libarchive, which is loaded when
 * it is needed. What is read may come from anybody: nothing is unpacked outside its folder,
 * through a link or beyond the limits. One thread per object.
 */
#ifndef WATT_BASE_ARCHIVE_H
#define WATT_BASE_ARCHIVE_H

#include <stddef.h>
#include <stdint.h>

/* What may be in one: more is refused. */
struct watt_archive_limits {
	uint64_t max_entries;
	uint64_t max_bytes; /* of everything, as it comes from the decompressor */
	uint64_t max_file_bytes;
};

#define WATT_ARCHIVE_PROBLEM_SIZE 512
/* Folders inside each other. */
#define WATT_ARCHIVE_MAX_DEPTH 48

/* May a link with this target be at this path of an archive: does it lead to something inside? */
int watt_archive_check_link(const char *path, const char *target);
/* Has a path no "..", no empty name, and is it relative? A "./" in front is allowed. */
int watt_archive_check_path(const char *path);
/* The path without any "./" in front. */
const char *watt_archive_skip_here(const char *path);

/*
 * Unpacks files, folders and symbolic links into the open folder. 0; -EINVAL: something in it is
 * refused, or it is no archive; -E2BIG: beyond the limits; -EOPNOTSUPP: there is no libarchive;
 * another error of the system. problem says what was wrong, as a sentence without an end. What had
 * been unpacked before stays.
 */
int watt_archive_unpack(const char *path, const struct watt_archive_limits *limits, int dir_fd,
			char problem[WATT_ARCHIVE_PROBLEM_SIZE]);
/* The same of an archive in memory. */
int watt_archive_unpack_memory(const void *data, size_t size,
			       const struct watt_archive_limits *limits, int dir_fd,
			       char problem[WATT_ARCHIVE_PROBLEM_SIZE]);

struct watt_archive_writer;

/* Writes to fd, which stays the caller's. How it is packed is told by the end of the file's name:
 * .zst, .gz, or neither. 0, -EOPNOTSUPP, -ENOMEM, -EIO. */
int watt_archive_writer_open(int fd, const char *name, struct watt_archive_writer **ret);
int watt_archive_writer_add(struct watt_archive_writer *writer, const char *path, const void *data,
			    size_t size);
int watt_archive_writer_link(struct watt_archive_writer *writer, const char *path,
			     const char *target);
/* 0: everything is written. */
int watt_archive_writer_finish(struct watt_archive_writer *writer);
/* NULL is allowed; returns NULL. */
struct watt_archive_writer *watt_archive_writer_free(struct watt_archive_writer *writer);

#endif

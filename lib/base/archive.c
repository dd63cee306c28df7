/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Archives by libarchive. It only parses and packs; what is made on the disk is made here, one
 * folder after the other and never through a link.
 */
#include "base/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/dl.h"
#include "base/util.h"

#define BLOCK_SIZE 65536

/* What is used of libarchive. */
struct archive_api {
	struct archive *(*read_new)(void);
	int (*read_free)(struct archive *);
	int (*read_tar)(struct archive *);
	int (*read_zstd)(struct archive *);
	int (*read_gzip)(struct archive *);
	int (*open_filename)(struct archive *, const char *, size_t);
	int (*open_memory)(struct archive *, const void *, size_t);
	int (*next_header)(struct archive *, struct archive_entry **);
	la_ssize_t (*read_data)(struct archive *, void *, size_t);
	la_int64_t (*filter_bytes)(struct archive *, int);
	const char *(*error_string)(struct archive *);
	struct archive *(*write_new)(void);
	int (*write_free)(struct archive *);
	int (*write_close)(struct archive *);
	int (*write_pax)(struct archive *);
	int (*write_zstd)(struct archive *);
	int (*write_gzip)(struct archive *);
	int (*write_open_fd)(struct archive *, int);
	int (*write_header)(struct archive *, struct archive_entry *);
	la_ssize_t (*write_data)(struct archive *, const void *, size_t);
	struct archive_entry *(*entry_new)(void);
	void (*entry_free)(struct archive_entry *);
	const char *(*entry_pathname)(struct archive_entry *);
	const char *(*entry_symlink)(struct archive_entry *);
	const char *(*entry_hardlink)(struct archive_entry *);
	__LA_MODE_T (*entry_filetype)(struct archive_entry *);
	void (*set_pathname)(struct archive_entry *, const char *);
	void (*set_symlink)(struct archive_entry *, const char *);
	void (*set_filetype)(struct archive_entry *, unsigned int);
	void (*set_perm)(struct archive_entry *, __LA_MODE_T);
	void (*set_size)(struct archive_entry *, la_int64_t);
};

#define SYMBOL(member, name) WATT_DL_SYMBOL(struct archive_api, member, "archive_" name)

static int load(struct archive_api *api)
{
	static const struct watt_dl_symbol symbols[] = {
		SYMBOL(read_new, "read_new"),
		SYMBOL(read_free, "read_free"),
		SYMBOL(read_tar, "read_support_format_tar"),
		SYMBOL(read_zstd, "read_support_filter_zstd"),
		SYMBOL(read_gzip, "read_support_filter_gzip"),
		SYMBOL(open_filename, "read_open_filename"),
		SYMBOL(open_memory, "read_open_memory"),
		SYMBOL(next_header, "read_next_header"),
		SYMBOL(read_data, "read_data"),
		SYMBOL(filter_bytes, "filter_bytes"),
		SYMBOL(error_string, "error_string"),
		SYMBOL(write_new, "write_new"),
		SYMBOL(write_free, "write_free"),
		SYMBOL(write_close, "write_close"),
		SYMBOL(write_pax, "write_set_format_pax_restricted"),
		SYMBOL(write_zstd, "write_add_filter_zstd"),
		SYMBOL(write_gzip, "write_add_filter_gzip"),
		SYMBOL(write_open_fd, "write_open_fd"),
		SYMBOL(write_header, "write_header"),
		SYMBOL(write_data, "write_data"),
		SYMBOL(entry_new, "entry_new"),
		SYMBOL(entry_free, "entry_free"),
		SYMBOL(entry_pathname, "entry_pathname"),
		SYMBOL(entry_symlink, "entry_symlink"),
		SYMBOL(entry_hardlink, "entry_hardlink"),
		SYMBOL(entry_filetype, "entry_filetype"),
		SYMBOL(set_pathname, "entry_set_pathname"),
		SYMBOL(set_symlink, "entry_set_symlink"),
		SYMBOL(set_filetype, "entry_set_filetype"),
		SYMBOL(set_perm, "entry_set_perm"),
		SYMBOL(set_size, "entry_set_size"),
	};
	/* never unloaded: its own libraries leave handlers behind */
	void *library = dlopen("libarchive.so.13", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);

	if (!library)
		return -EOPNOTSUPP;
	if (watt_dl_bind(library, symbols, WATT_ARRAY_SIZE(symbols), api) !=
	    WATT_ARRAY_SIZE(symbols))
		return -EOPNOTSUPP;
	return 0;
}

/* ---- reading ---- */

struct reader {
	struct archive_api api;
	struct archive *archive;
	const struct watt_archive_limits *limits;
	int dir_fd;
	uint64_t n_entries;
	char *problem;
	char block[BLOCK_SIZE];
};

__attribute__((format(printf, 3, 4))) static int refuse(struct reader *reader, int error,
							const char *format, ...)
{
	va_list ap;
	char *p;

	va_start(ap, format);
	vsnprintf(reader->problem, WATT_ARCHIVE_PROBLEM_SIZE, format, ap);
	va_end(ap);
	/* names in it may be anything */
	for (p = reader->problem; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = '?';
	return error;
}

static int refuse_system(struct reader *reader, const char *path, int error)
{
	return refuse(reader, error, "cannot unpack '%.200s': %s", path, strerror(-error));
}

/* Opens one folder of an open folder, which is closed; makes it if there is none. */
static int enter(int fd, const char *name)
{
	int next = -1, r = 0;

	if (mkdirat(fd, name, 0700) < 0 && errno != EEXIST)
		r = -errno;
	if (r == 0)
		next = openat(fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (r == 0 && next < 0)
		r = -errno;
	close(fd);
	return r < 0 ? r : next;
}

/* The folder that holds the path, made where there is none, and the name in it. */
static int open_parent(int dir_fd, const char *path, char name[NAME_MAX + 1])
{
	int fd = fcntl(dir_fd, F_DUPFD_CLOEXEC, 3);
	size_t len;

	if (fd < 0)
		return -errno;
	for (path = watt_archive_skip_here(path);; path += len + 1) {
		len = strcspn(path, "/");
		memcpy(name, path, len);
		name[len] = '\0';
		if (!path[len] || !path[len + 1])
			return fd;
		fd = enter(fd, name);
		if (fd < 0)
			return fd;
	}
}

static int take_folder(struct reader *reader, const char *path)
{
	char name[NAME_MAX + 1];
	int fd = open_parent(reader->dir_fd, path, name);

	if (fd >= 0 && name[0])
		fd = enter(fd, name);
	if (fd < 0)
		return refuse_system(reader, path, fd);
	close(fd);
	return 0;
}

static int copy_data(struct reader *reader, const char *path, int fd)
{
	uint64_t bytes = 0;
	la_ssize_t n;
	int r = 0;

	while (r == 0) {
		n = reader->api.read_data(reader->archive, reader->block, BLOCK_SIZE);
		if (n < 0)
			return refuse(reader, -EINVAL, "'%.200s' is damaged: %.200s", path,
				      reader->api.error_string(reader->archive) ?: "?");
		if (n == 0)
			return 0;
		bytes += (uint64_t)n;
		if (bytes > reader->limits->max_file_bytes)
			return refuse(reader, -E2BIG,
				      "'%.200s' has more than %llu bytes, which no file of a "
				      "machine has",
				      path, (unsigned long long)reader->limits->max_file_bytes);
		r = watt_write_all(fd, reader->block, (size_t)n);
	}
	return refuse_system(reader, path, r);
}

static int take_file(struct reader *reader, const char *path)
{
	char name[NAME_MAX + 1];
	_cleanup_close_ int parent = open_parent(reader->dir_fd, path, name), fd = -1;

	if (parent < 0)
		return refuse_system(reader, path, parent);
	fd = openat(parent, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	return fd < 0 ? refuse_system(reader, path, -errno) : copy_data(reader, path, fd);
}

static int take_link(struct reader *reader, const char *path, const char *target)
{
	char name[NAME_MAX + 1];
	_cleanup_close_ int parent = -1;

	if (!target || watt_archive_check_link(path, target) < 0)
		return refuse(reader, -EINVAL, "'%.200s' is a link that leads out of it", path);
	parent = open_parent(reader->dir_fd, path, name);
	if (parent < 0)
		return refuse_system(reader, path, parent);
	if (symlinkat(target, parent, name) < 0)
		return refuse_system(reader, path, -errno);
	return 0;
}

static int take_entry(struct reader *reader, struct archive_entry *entry)
{
	const char *path = reader->api.entry_pathname(entry);

	if (++reader->n_entries > reader->limits->max_entries)
		return refuse(reader, -E2BIG, "it has more than %llu files",
			      (unsigned long long)reader->limits->max_entries);
	if ((uint64_t)reader->api.filter_bytes(reader->archive, 0) > reader->limits->max_bytes)
		return refuse(reader, -E2BIG, "it unpacks to more than %llu MiB",
			      (unsigned long long)reader->limits->max_bytes >> 20);
	if (!path || watt_archive_check_path(path) < 0)
		return refuse(reader, -EINVAL,
			      "the path '%.200s' in it leads out of it, or is "
			      "longer than any",
			      path ? path : "?");
	if (reader->api.entry_hardlink(entry))
		return refuse(reader, -EINVAL, "'%.200s' is a hard link", path);
	switch (reader->api.entry_filetype(entry)) {
	case AE_IFDIR:
		return take_folder(reader, path);
	case AE_IFREG:
		if (!*watt_archive_skip_here(path) || path[strlen(path) - 1] == '/')
			return refuse(reader, -EINVAL, "it has a file without a name");
		return take_file(reader, path);
	case AE_IFLNK:
		return take_link(reader, path, reader->api.entry_symlink(entry));
	default:
		return refuse(reader, -EINVAL, "'%.200s' is neither file, folder nor link", path);
	}
}

static int take_all(struct reader *reader)
{
	struct archive_entry *entry;
	int code, r = 0;

	while (r == 0) {
		code = reader->api.next_header(reader->archive, &entry);
		if (code == ARCHIVE_EOF)
			return reader->n_entries ? 0 : refuse(reader, -EINVAL, "it is empty");
		if (code < ARCHIVE_WARN)
			return refuse(reader, -EINVAL, "it is no archive, or a damaged one: %.200s",
				      reader->api.error_string(reader->archive) ?: "?");
		r = take_entry(reader, entry);
	}
	return r;
}

static int unpack(const char *path, const void *data, size_t size, struct reader *reader)
{
	int r = load(&reader->api), code;

	if (r < 0)
		return refuse(reader, r,
			      "archives are read by libarchive.so.13, which is not here");
	reader->archive = reader->api.read_new();
	if (!reader->archive)
		return refuse(reader, -ENOMEM, "%s", strerror(ENOMEM));
	reader->api.read_tar(reader->archive);
	reader->api.read_zstd(reader->archive);
	reader->api.read_gzip(reader->archive);
	code = path ? reader->api.open_filename(reader->archive, path, BLOCK_SIZE) :
		      reader->api.open_memory(reader->archive, data, size);
	r = code < ARCHIVE_WARN ? refuse(reader, -EINVAL, "it cannot be read: %.200s",
					 reader->api.error_string(reader->archive) ?: "?") :
				  take_all(reader);
	reader->api.read_free(reader->archive);
	return r;
}

static int unpack_any(const char *path, const void *data, size_t size,
		      const struct watt_archive_limits *limits, int dir_fd, char *problem)
{
	struct reader *reader = calloc(1, sizeof(*reader));
	int r;

	if (!reader)
		return -ENOMEM;
	reader->limits = limits;
	reader->dir_fd = dir_fd;
	reader->problem = problem;
	r = unpack(path, data, size, reader);
	free(reader);
	return r;
}

int watt_archive_unpack(const char *path, const struct watt_archive_limits *limits, int dir_fd,
			char problem[WATT_ARCHIVE_PROBLEM_SIZE])
{
	return unpack_any(path, NULL, 0, limits, dir_fd, problem);
}

int watt_archive_unpack_memory(const void *data, size_t size,
			       const struct watt_archive_limits *limits, int dir_fd,
			       char problem[WATT_ARCHIVE_PROBLEM_SIZE])
{
	return unpack_any(NULL, data, size, limits, dir_fd, problem);
}

/* ---- writing ---- */

struct watt_archive_writer {
	struct archive_api api;
	struct archive *archive;
};

static bool ends_in(const char *name, const char *end)
{
	size_t len = strlen(name);

	return len >= strlen(end) && !strcmp(name + len - strlen(end), end);
}

static int begin(struct watt_archive_writer *writer, int fd, const char *name)
{
	int code;

	writer->archive = writer->api.write_new();
	if (!writer->archive)
		return -ENOMEM;
	code = writer->api.write_pax(writer->archive);
	if (code == ARCHIVE_OK && ends_in(name, ".zst"))
		code = writer->api.write_zstd(writer->archive);
	else if (code == ARCHIVE_OK && (ends_in(name, ".gz") || ends_in(name, ".tgz")))
		code = writer->api.write_gzip(writer->archive);
	if (code == ARCHIVE_OK)
		code = writer->api.write_open_fd(writer->archive, fd);
	return code == ARCHIVE_OK ? 0 : -EIO;
}

int watt_archive_writer_open(int fd, const char *name, struct watt_archive_writer **ret)
{
	struct watt_archive_writer *writer = calloc(1, sizeof(*writer));
	int r;

	if (!writer)
		return -ENOMEM;
	r = load(&writer->api);
	if (r == 0)
		r = begin(writer, fd, name);
	if (r < 0) {
		watt_archive_writer_free(writer);
		return r;
	}
	*ret = writer;
	return 0;
}

static int add_entry(struct watt_archive_writer *writer, struct archive_entry *entry,
		     const void *data, size_t size)
{
	writer->api.set_size(entry, (la_int64_t)size);
	if (writer->api.write_header(writer->archive, entry) < ARCHIVE_WARN)
		return -EIO;
	if (size && writer->api.write_data(writer->archive, data, size) != (la_ssize_t)size)
		return -EIO;
	return 0;
}

static int add(struct watt_archive_writer *writer, const char *path, const char *target,
	       const void *data, size_t size)
{
	struct archive_entry *entry = writer->api.entry_new();
	int r;

	if (!entry)
		return -ENOMEM;
	writer->api.set_pathname(entry, path);
	writer->api.set_filetype(entry, target ? AE_IFLNK : AE_IFREG);
	writer->api.set_perm(entry, target ? 0777 : 0644);
	if (target)
		writer->api.set_symlink(entry, target);
	r = add_entry(writer, entry, data, size);
	writer->api.entry_free(entry);
	return r;
}

int watt_archive_writer_add(struct watt_archive_writer *writer, const char *path, const void *data,
			    size_t size)
{
	return add(writer, path, NULL, data, size);
}

int watt_archive_writer_link(struct watt_archive_writer *writer, const char *path,
			     const char *target)
{
	return add(writer, path, target, NULL, 0);
}

int watt_archive_writer_finish(struct watt_archive_writer *writer)
{
	return writer->api.write_close(writer->archive) == ARCHIVE_OK ? 0 : -EIO;
}

struct watt_archive_writer *watt_archive_writer_free(struct watt_archive_writer *writer)
{
	if (writer && writer->archive)
		writer->api.write_free(writer->archive);
	free(writer);
	return NULL;
}

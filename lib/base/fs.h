/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading small kernel files below a root that can be redirected, so that every machine that
 * somebody captured can be replayed. Paths are relative to the root and never leave it by "..".
 * It must not know what the files mean.
 */
#ifndef WATT_BASE_FS_H
#define WATT_BASE_FS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An open root directory ("/sys", "/proc", a fixture). Thread-safe once open. */
struct watt_root {
	int fd;         /* -1: unset */
	bool is_kernel; /* sysfs or procfs itself: a kept descriptor tells when its file went away */
	/* Elsewhere: after how long that a kept file is gone is noticed at the latest; 0: at once. */
	uint64_t look_ns;
	char path[256];
};

/* For roots of which files are read at rates of sensors. */
#define WATT_ROOT_LOOK_NS 10000000

#define WATT_ROOT_INIT \
	{ \
		.fd = -1 \
	}

/* 0, -ENOENT, -EACCES, -ENOTDIR, -ENAMETOOLONG. */
int watt_root_open(struct watt_root *root, const char *path);
/* Accepts an unset root. */
void watt_root_close(struct watt_root *root);

/*
 * A file that is read again and again by pread on a kept descriptor. One thread per object.
 * Holds no reference to the root: the root must outlive it.
 */
struct watt_file {
	const struct watt_root *root;
	int fd; /* -1: not open */
	char *path;
	uint64_t looked_ns; /* when its name was last looked for */
};

#define WATT_FILE_INIT \
	{ \
		.fd = -1 \
	}

/*
 * Remembers the path and opens it. On failure the object can be read later all the same: each
 * read tries to open it again.
 */
int watt_file_open(struct watt_file *file, const struct watt_root *root, const char *path);
/* Accepts an unset file. */
void watt_file_close(struct watt_file *file);
/* The next read opens it again. */
void watt_file_drop(struct watt_file *file);
/*
 * Reads the whole file, at most size - 1 bytes, and NUL-terminates it; trailing white space is
 * cut. Returns the length, or: -ENODEV removed (it is opened again at the next read), -EAGAIN or
 * -ENODATA no value now, -EACCES, -EIO, -EMSGSIZE longer than the buffer, -EBADMSG a NUL byte
 * inside. NULs behind a text are no part of it: copies of sysfs are padded with them to a page.
 */
int watt_file_read(struct watt_file *file, char *buf, size_t size);
/* Bytes as they are, at most size of them. Returns how many; errors as above, but the last two. */
int watt_file_read_bytes(struct watt_file *file, void *buf, size_t size);
/* As watt_file_read, of a decimal number and nothing else. -EBADMSG: not a number; -ERANGE: too large. */
int watt_file_read_u64(struct watt_file *file, uint64_t *ret);
int watt_file_read_i64(struct watt_file *file, int64_t *ret);

/* Reads a file once: as watt_file_read. */
int watt_root_read(const struct watt_root *root, const char *path, char *buf, size_t size);
__attribute__((format(printf, 4, 5))) int watt_root_readf(const struct watt_root *root, char *buf,
							  size_t size, const char *fmt, ...);
int watt_root_read_u64(const struct watt_root *root, const char *path, uint64_t *ret);
/* Reads a file of any size into an allocated, NUL-terminated buffer (NUL bytes are kept). */
int watt_root_slurp(const struct watt_root *root, const char *path, size_t max, char **ret,
		    size_t *ret_len);
bool watt_root_exists(const struct watt_root *root, const char *path);
/* Target of a symbolic link, as text; its last component by watt_root_link_name. */
int watt_root_readlink(const struct watt_root *root, const char *path, char *buf, size_t size);
/* Opens something below the root, with O_CLOEXEC. A descriptor, or a negative errno. */
int watt_root_open_fd(const struct watt_root *root, const char *path, int flags);

/*
 * Names in a directory that begin with prefix ("" for all), sorted so that numbers in them count
 * as numbers (hwmon2 before hwmon10). "." and ".." are left out. Free with watt_names_free.
 */
struct watt_names {
	char **name;
	size_t n;
};

#define WATT_NAMES_INIT \
	{ \
		0 \
	}

int watt_root_list(const struct watt_root *root, const char *path, const char *prefix,
		   struct watt_names *ret);
void watt_names_free(struct watt_names *names);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Small kernel files below a root that can be redirected. Knows nothing of their meaning. */
#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/parse.h"
#include "base/util.h"

int watt_root_open(struct watt_root *root, const char *path)
{
	struct statfs fs;
	int fd;

	if (strlen(path) >= sizeof(root->path))
		return -ENAMETOOLONG;
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	root->fd = fd;
	root->look_ns = 0;
	root->is_kernel = fstatfs(fd, &fs) == 0 &&
			  (fs.f_type == SYSFS_MAGIC || fs.f_type == PROC_SUPER_MAGIC);
	watt_strlcpy(root->path, path, sizeof(root->path));
	return 0;
}

void watt_root_close(struct watt_root *root)
{
	if (root->fd >= 0)
		close(root->fd);
	root->fd = -1;
}

/* A path below the root: neither absolute nor through "..". */
static bool path_is_inside(const char *path)
{
	const char *p = path;

	if (*p == '/')
		return false;
	while (p) {
		if (p[0] == '.' && p[1] == '.' && (p[2] == '/' || p[2] == '\0'))
			return false;
		p = strchr(p, '/');
		if (p)
			p++;
	}
	return true;
}

int watt_root_open_fd(const struct watt_root *root, const char *path, int flags)
{
	int fd;

	if (root->fd < 0)
		return -EBADF;
	if (!path_is_inside(path))
		return -EINVAL;
	fd = openat(root->fd, path, flags | O_CLOEXEC | O_NOCTTY);
	return fd < 0 ? -errno : fd;
}

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_all_nul(const char *p, size_t n)
{
	for (; n > 0; n--)
		if (*p++)
			return false;
	return true;
}

/* What read(2) left in buf, checked and terminated. */
static int finish_text(char *buf, size_t size, ssize_t n)
{
	const char *nul = memchr(buf, '\0', (size_t)n);

	/* copies of sysfs by tar and cp are padded to the size that it claims: a page */
	if (nul && nul > buf && is_all_nul(nul, (size_t)(buf + n - nul)))
		n = nul - buf;
	else if ((size_t)n == size)
		return -EMSGSIZE;
	else if (nul)
		return -EBADMSG;
	while (n > 0 && is_space(buf[n - 1]))
		n--;
	buf[n] = '\0';
	return (int)n;
}

static int read_bytes(int fd, void *buf, size_t size)
{
	ssize_t n;

	do
		n = pread(fd, buf, size, 0);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : (int)n;
}

static int read_fd(int fd, char *buf, size_t size)
{
	int n = read_bytes(fd, buf, size);

	return n < 0 ? n : finish_text(buf, size, n);
}

int watt_file_open(struct watt_file *file, const struct watt_root *root, const char *path)
{
	*file = (struct watt_file)WATT_FILE_INIT;
	file->path = strdup(path);
	if (!file->path)
		return -ENOMEM;
	file->root = root;
	file->fd = watt_root_open_fd(root, path, O_RDONLY | O_NONBLOCK);
	if (file->fd < 0) {
		int r = file->fd;

		file->fd = -1;
		return r;
	}
	return 0;
}

void watt_file_drop(struct watt_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
}

void watt_file_close(struct watt_file *file)
{
	watt_file_drop(file);
	free(file->path);
	file->path = NULL;
}

/* Whoever reads often need not look each time: that costs a third of a read. */
static bool is_to_look(struct watt_file *file)
{
	uint64_t now_ns;

	if (file->root->is_kernel)
		return false;
	if (!file->root->look_ns)
		return true;
	now_ns = watt_clock_ns(CLOCK_MONOTONIC_COARSE);
	if (now_ns - file->looked_ns < file->root->look_ns)
		return false;
	file->looked_ns = now_ns;
	return true;
}

/* Outside sysfs a descriptor outlives its file's name: look whether the name is still there. */
static bool file_is_gone(struct watt_file *file)
{
	struct stat st;

	return is_to_look(file) && (fstat(file->fd, &st) < 0 || st.st_nlink == 0);
}

/* What is gone is looked for again. */
static int ensure_open(struct watt_file *file)
{
	int r;

	if (!file->path)
		return -EBADF;
	if (file->fd >= 0 && file_is_gone(file))
		watt_file_drop(file);
	if (file->fd >= 0)
		return 0;
	file->fd = watt_root_open_fd(file->root, file->path, O_RDONLY | O_NONBLOCK);
	if (file->fd >= 0)
		return 0;
	r = file->fd;
	file->fd = -1;
	return r == -ENOENT ? -ENODEV : r;
}

static int finish_read(struct watt_file *file, int r)
{
	if (r != -ENODEV && r != -ENXIO)
		return r;
	watt_file_drop(file);
	return -ENODEV;
}

int watt_file_read(struct watt_file *file, char *buf, size_t size)
{
	int r = ensure_open(file);

	return r < 0 ? r : finish_read(file, read_fd(file->fd, buf, size));
}

int watt_file_read_bytes(struct watt_file *file, void *buf, size_t size)
{
	int r = ensure_open(file);

	return r < 0 ? r : finish_read(file, read_bytes(file->fd, buf, size));
}

/* Digits and a newline, as nearly every counter of sysfs is, and too few of them to be too many. */
static bool is_plain_number(const char *buf, int n, uint64_t *ret)
{
	uint64_t value = 0;
	int i;

	if (n < 2 || n > 20 || buf[n - 1] != '\n')
		return false;
	for (i = 0; i < n - 1; i++) {
		unsigned int digit = (unsigned int)buf[i] - '0';

		if (digit > 9)
			return false;
		value = value * 10 + digit;
	}
	*ret = value;
	return true;
}

int watt_file_read_u64(struct watt_file *file, uint64_t *ret)
{
	char buf[64];
	int r;

	r = watt_file_read_bytes(file, buf, sizeof(buf));
	if (r >= 0 && is_plain_number(buf, r, ret))
		return 0;
	if (r >= 0)
		r = finish_text(buf, sizeof(buf), r);
	if (r < 0)
		return r == -EMSGSIZE ? -EBADMSG : r;
	return watt_parse_u64(buf, ret);
}

int watt_file_read_i64(struct watt_file *file, int64_t *ret)
{
	char buf[64];
	int r;

	r = watt_file_read(file, buf, sizeof(buf));
	if (r < 0)
		return r == -EMSGSIZE ? -EBADMSG : r;
	return watt_parse_i64(buf, ret);
}

/* Reads to the end of the file: some of procfs comes in pieces. */
static int read_all(int fd, char *buf, size_t size)
{
	size_t len = 0;
	ssize_t n;

	while (len < size) {
		n = read(fd, buf + len, size - len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		len += (size_t)n;
	}
	return (int)len;
}

int watt_root_read(const struct watt_root *root, const char *path, char *buf, size_t size)
{
	_cleanup_close_ int fd = watt_root_open_fd(root, path, O_RDONLY | O_NONBLOCK);
	int n;

	if (fd < 0)
		return fd;
	n = read_all(fd, buf, size);
	return n < 0 ? n : finish_text(buf, size, n);
}

int watt_root_readf(const struct watt_root *root, char *buf, size_t size, const char *fmt, ...)
{
	char path[512];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(path, sizeof(path), fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= sizeof(path))
		return -ENAMETOOLONG;
	return watt_root_read(root, path, buf, size);
}

int watt_root_read_u64(const struct watt_root *root, const char *path, uint64_t *ret)
{
	char buf[64];
	int r;

	r = watt_root_read(root, path, buf, sizeof(buf));
	if (r < 0)
		return r == -EMSGSIZE ? -EBADMSG : r;
	return watt_parse_u64(buf, ret);
}

int watt_root_slurp(const struct watt_root *root, const char *path, size_t max, char **ret,
		    size_t *ret_len)
{
	_cleanup_close_ int fd = watt_root_open_fd(root, path, O_RDONLY | O_NONBLOCK);
	_cleanup_free_ char *buf = NULL;
	size_t size = 4096, len = 0;

	if (fd < 0)
		return fd;
	for (;;) {
		char *grown = realloc(buf, size + 1);
		int n;

		if (!grown)
			return -ENOMEM;
		buf = grown;
		n = read_all(fd, buf + len, size - len);
		if (n < 0)
			return n;
		len += (size_t)n;
		if (len < size)
			break;
		if (size >= max)
			return -EMSGSIZE;
		size *= 2;
	}
	buf[len] = '\0';
	*ret = buf;
	buf = NULL;
	*ret_len = len;
	return 0;
}

bool watt_root_exists(const struct watt_root *root, const char *path)
{
	return root->fd >= 0 && path_is_inside(path) && faccessat(root->fd, path, F_OK, 0) == 0;
}

int watt_root_readlink(const struct watt_root *root, const char *path, char *buf, size_t size)
{
	ssize_t n;

	if (!path_is_inside(path))
		return -EINVAL;
	n = readlinkat(root->fd, path, buf, size);
	if (n < 0)
		return -errno;
	if ((size_t)n >= size)
		return -ENAMETOOLONG;
	buf[n] = '\0';
	return (int)n;
}

static int compare_names(const void *a, const void *b)
{
	return strverscmp(*(char *const *)a, *(char *const *)b);
}

static int names_add(struct watt_names *names, size_t *cap, const char *name)
{
	int r;

	r = watt_grow((void **)&names->name, cap, names->n, sizeof(*names->name));
	if (r < 0)
		return r;
	names->name[names->n] = strdup(name);
	if (!names->name[names->n])
		return -ENOMEM;
	names->n++;
	return 0;
}

int watt_root_list(const struct watt_root *root, const char *path, const char *prefix,
		   struct watt_names *ret)
{
	struct watt_names names = WATT_NAMES_INIT;
	_cleanup_closedir_ DIR *dir = NULL;
	struct dirent *entry;
	size_t cap = 0;
	int fd, r = 0;

	fd = watt_root_open_fd(root, path, O_RDONLY | O_DIRECTORY);
	if (fd < 0)
		return fd;
	dir = fdopendir(fd);
	if (!dir) {
		r = -errno;
		close(fd);
		return r;
	}
	while (r == 0 && (entry = readdir(dir))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") ||
		    strncmp(entry->d_name, prefix, strlen(prefix)))
			continue;
		r = names_add(&names, &cap, entry->d_name);
	}
	if (r < 0) {
		watt_names_free(&names);
		return r;
	}
	if (names.n)
		qsort(names.name, names.n, sizeof(*names.name), compare_names);
	*ret = names;
	return 0;
}

void watt_names_free(struct watt_names *names)
{
	size_t i;

	for (i = 0; i < names->n; i++)
		free(names->name[i]);
	free(names->name);
	*names = (struct watt_names)WATT_NAMES_INIT;
}

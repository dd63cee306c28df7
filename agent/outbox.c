/* SPDX-License-Identifier: Apache-2.0 */
/* Files are written under another name and renamed, so that each is whole or not there. */
#include "outbox.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "xalloc.h"

#define NAME_SIZE 32
#define DIGITS 20
#define NEW_NAME "new"

static void name_of(uint64_t number, char name[static NAME_SIZE])
{
	snprintf(name, NAME_SIZE, "%0*" PRIu64 ".json", DIGITS, number);
}

/* Whether a file is one of ours. */
static bool is_name(const char *name, uint64_t *ret)
{
	char again[NAME_SIZE];

	errno = 0;
	*ret = strtoull(name, NULL, 10);
	name_of(*ret, again);
	return errno == 0 && strcmp(name, again) == 0;
}

/* ---- the list ---- */

static struct outbox_item *append(struct outbox *outbox, uint64_t number, size_t n)
{
	struct outbox_item *item;

	if (outbox->n_items == outbox->cap) {
		outbox->cap = outbox->cap ? 2 * outbox->cap : 64;
		outbox->items = xrealloc(outbox->items, outbox->cap, sizeof(struct outbox_item));
	}
	item = &outbox->items[outbox->n_items++];
	*item = (struct outbox_item){ .number = number, .n = n };
	outbox->bytes += n;
	if (number >= outbox->next)
		outbox->next = number + 1;
	return item;
}

void outbox_remove_first(struct outbox *outbox)
{
	struct outbox_item *item = outbox->items;
	char name[NAME_SIZE];

	if (!outbox->n_items)
		return;
	if (!item->text) {
		name_of(item->number, name);
		unlinkat(outbox->folder, name, 0);
	}
	outbox->bytes -= item->n;
	free(item->text);
	outbox->n_items--;
	memmove(item, item + 1, outbox->n_items * sizeof(*item));
}

/* The newest stays, however large it is. */
static void make_room(struct outbox *outbox)
{
	while (outbox->n_items > 1 && outbox->bytes > outbox->max_bytes) {
		outbox_remove_first(outbox);
		outbox->lost++;
	}
}

/* ---- the folder ---- */

static int compare_items(const void *a, const void *b)
{
	const struct outbox_item *x = a, *y = b;

	return x->number < y->number ? -1 : x->number > y->number;
}

static int take_up(struct outbox *outbox)
{
	int fd = openat(outbox->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	struct stat status;
	uint64_t number;

	if (!dir) {
		int r = -errno;

		if (fd >= 0)
			close(fd);
		return r;
	}
	while ((entry = readdir(dir)))
		if (is_name(entry->d_name, &number) &&
		    fstatat(outbox->folder, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(status.st_mode) && (size_t)status.st_size <= outbox->max_bytes)
			append(outbox, number, (size_t)status.st_size);
	closedir(dir);
	if (outbox->n_items)
		qsort(outbox->items, outbox->n_items, sizeof(struct outbox_item), compare_items);
	make_room(outbox);
	return 0;
}

static int open_folder(struct outbox *outbox, const char *folder)
{
	if (mkdir(folder, 0700) < 0 && errno != EEXIST)
		return -errno;
	outbox->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (outbox->folder < 0)
		return -errno;
	outbox->lock =
		openat(outbox->folder, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (outbox->lock < 0)
		return -errno;
	if (flock(outbox->lock, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? -EBUSY : -errno;
	return take_up(outbox);
}

int outbox_open(struct outbox *outbox, const char *folder, size_t max_bytes)
{
	int r;

	*outbox = (struct outbox){ .folder = -1, .lock = -1, .max_bytes = max_bytes };
	r = folder ? open_folder(outbox, folder) : 0;
	if (r < 0)
		outbox_close(outbox);
	return r;
}

void outbox_close(struct outbox *outbox)
{
	size_t i;

	for (i = 0; i < outbox->n_items; i++)
		free(outbox->items[i].text);
	free(outbox->items);
	if (outbox->lock >= 0)
		close(outbox->lock);
	if (outbox->folder >= 0)
		close(outbox->folder);
	*outbox = (struct outbox){ .folder = -1, .lock = -1 };
}

/* ---- one document ---- */

static int write_all(int fd, const char *text, size_t n)
{
	while (n > 0) {
		ssize_t done = write(fd, text, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return done < 0 ? -errno : -EIO;
		text += done;
		n -= (size_t)done;
	}
	return 0;
}

static int write_file(const struct outbox *outbox, uint64_t number, const char *text, size_t n)
{
	char name[NAME_SIZE];
	int fd, r;

	unlinkat(outbox->folder, NEW_NAME, 0);
	fd = openat(outbox->folder, NEW_NAME, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		    0600);
	if (fd < 0)
		return -errno;
	r = write_all(fd, text, n);
	if (close(fd) < 0 && r == 0)
		r = -errno;
	name_of(number, name);
	if (r == 0 && renameat(outbox->folder, NEW_NAME, outbox->folder, name) < 0)
		r = -errno;
	if (r < 0)
		unlinkat(outbox->folder, NEW_NAME, 0);
	return r;
}

void outbox_add(struct outbox *outbox, char *text)
{
	struct outbox_item *item = append(outbox, outbox->next, strlen(text));

	outbox->error = outbox->folder < 0 ? 0 : write_file(outbox, item->number, text, item->n);
	if (outbox->folder < 0 || outbox->error < 0)
		item->text = text;
	else
		free(text);
	make_room(outbox);
}

/* NULL: it is not there any more, or is not what it was. */
static char *read_file(const struct outbox *outbox, const struct outbox_item *item)
{
	char name[NAME_SIZE], *text;
	size_t n = 0;
	ssize_t got = 1;
	int fd;

	name_of(item->number, name);
	fd = openat(outbox->folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	text = xcalloc(item->n + 1, 1);
	while (n < item->n && (got = read(fd, text + n, item->n - n)) > 0)
		n += (size_t)got;
	close(fd);
	if (n < item->n) {
		free(text);
		return NULL;
	}
	return text;
}

char *outbox_copy_first(struct outbox *outbox, size_t *ret_n)
{
	while (outbox->n_items) {
		const struct outbox_item *item = outbox->items;
		char *text = item->text ? xstrdup(item->text) : read_file(outbox, item);

		*ret_n = item->n;
		if (text)
			return text;
		outbox->lost++;
		outbox_remove_first(outbox);
	}
	return NULL;
}

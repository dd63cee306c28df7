/* SPDX-License-Identifier: Apache-2.0 */
/* Finds listeners by what /proc says of their processes. */
#include "listener.h"

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "text.h"
#include "xalloc.h"

/* A parent of a parent of ...: no chain is longer, but the table may change under us. */
#define ANCESTORS_MAX 1000

void listeners_find(struct listeners *ret)
{
	size_t room = 0;

	*ret = (struct listeners){ 0 };
	do {
		room = ret->n + 8;
		ret->list = xrealloc(ret->list, room, sizeof(*ret->list));
		ret->n = room;
		if (watt_mark_list(ret->list, &ret->n) < 0)
			ret->n = 0;
	} while (ret->n > room);
}

void listeners_done(struct listeners *listeners)
{
	free(listeners->list);
	*listeners = (struct listeners){ 0 };
}

/* 0: none, or unknown. */
static uint32_t parent_of(uint32_t pid)
{
	char path[64], line[256];
	uint32_t parent = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/status", pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	while (fgets(line, sizeof(line), file))
		if (strncmp(line, "PPid:", 5) == 0)
			parent = (uint32_t)strtoul(line + 5, NULL, 10);
	fclose(file);
	return parent;
}

const struct watt_mark_listener *listeners_of_pid(const struct listeners *listeners, uint32_t pid)
{
	size_t i, k;

	for (k = 0; pid > 0 && k < ANCESTORS_MAX; k++, pid = parent_of(pid))
		for (i = 0; i < listeners->n; i++)
			if (listeners->list[i].pid == pid)
				return &listeners->list[i];
	return NULL;
}

static bool has_open(uint32_t pid, const struct stat *file)
{
	char path[PATH_MAX];
	struct dirent *entry;
	bool is_found = false;
	struct stat st;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%u/fd", pid);
	dir = opendir(path);
	while (dir && !is_found && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/%u/fd/%s", pid, entry->d_name);
		is_found = stat(path, &st) == 0 && st.st_dev == file->st_dev &&
			   st.st_ino == file->st_ino;
	}
	if (dir)
		closedir(dir);
	return is_found;
}

const struct watt_mark_listener *listeners_of_file(const struct listeners *listeners,
						   const char *path)
{
	struct stat st;
	size_t i;

	if (stat(path, &st) < 0)
		return NULL;
	for (i = 0; i < listeners->n; i++)
		if (has_open(listeners->list[i].pid, &st))
			return &listeners->list[i];
	return NULL;
}

/* The command line, with spaces between its words. */
static void read_command(uint32_t pid, char *buf, size_t size)
{
	char path[64], raw[128];
	size_t n = 0, i;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/cmdline", pid);
	file = fopen(path, "re");
	if (file) {
		n = fread(raw, 1, sizeof(raw) - 1, file);
		fclose(file);
	}
	while (n > 0 && !raw[n - 1])
		n--;
	for (i = 0; i < n; i++)
		if (!raw[i])
			raw[i] = ' ';
	raw[n] = '\0';
	text_clean(buf, size, n > 0 ? raw : "?");
}

char *listeners_describe(const struct listeners *listeners)
{
	char *text = xstrdup(""), *longer;
	char command[192];
	size_t i;

	for (i = 0; i < listeners->n; i++) {
		read_command(listeners->list[i].pid, command, sizeof(command));
		longer = xasprintf("%s%s%u (%s)", text, i ? ", " : "", listeners->list[i].pid,
				   command);
		free(text);
		text = longer;
	}
	return text;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Archives of machines: nothing is unpacked beyond the limits, and no link leads out. */
#include "fuzz.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/archive.h"

static const struct watt_archive_limits limits = {
	.max_entries = 32,
	.max_bytes = 1 << 20,
	.max_file_bytes = 8192,
};
static size_t root_len;
static unsigned int n_found;

static int look(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	char target[4096];
	ssize_t n;

	(void)ftw;
	n_found += type == FTW_F || type == FTW_SL;
	check(type != FTW_F || (S_ISREG(st->st_mode) && st->st_size <= 8192));
	if (type != FTW_SL)
		return 0;
	n = readlink(path, target, sizeof(target) - 1);
	check(n > 0);
	target[n] = '\0';
	check(target[0] != '/' && watt_archive_check_link(path + root_len + 1, target) == 0);
	return 0;
}

static int drop(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char dir[] = "/tmp/watt-fuzz-XXXXXX", problem[WATT_ARCHIVE_PROBLEM_SIZE] = "";
	int fd, r;

	check(mkdtemp(dir) != NULL);
	fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	r = watt_archive_unpack_memory(data, size, &limits, fd, problem);
	close(fd);
	check((r == 0) == !problem[0]);
	n_found = 0;
	root_len = strlen(dir);
	check(nftw(dir, look, 8, FTW_PHYS) == 0);
	check(n_found <= 32);
	check(nftw(dir, drop, 8, FTW_PHYS | FTW_DEPTH) == 0);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that take as long to read as those of a board do: preloaded, a read waits before it reads.
 * $WATT_TEST_LATENCIES is pairs of a part of a path and microseconds: "curr1_input=554 load=322", or
 * "again": it has no value now, as a thermal zone that is powered off.
 */
/* Both names of a function are defined here. */
#undef _FILE_OFFSET_BITS
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MAX_FDS 1024
#define AGAIN UINT32_MAX

/* By descriptor, which may be another file later. */
static struct {
	ino_t ino;
	uint32_t us;
} known[MAX_FDS];

static uint32_t look(int fd)
{
	const char *p = getenv("WATT_TEST_LATENCIES"), *equals;
	char link[64], path[4096], word[128];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n < 0 || !p)
		return 0;
	path[n] = '\0';
	while ((equals = strchr(p, '='))) {
		snprintf(word, sizeof(word), "%.*s", (int)(equals - p), p);
		if (strstr(path, word) && !strncmp(equals + 1, "again", 5))
			return AGAIN;
		if (strstr(path, word))
			return (uint32_t)strtoul(equals + 1, NULL, 10);
		p = equals + 1 + strcspn(equals + 1, " ");
		p += strspn(p, " ");
	}
	return 0;
}

static void wait_us(uint32_t us)
{
	struct timespec t = { .tv_nsec = us * 1000L };

	prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
	clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
}

ssize_t pread(int fd, void *buf, size_t size, off_t offset);
ssize_t pread64(int fd, void *buf, size_t size, off_t offset);

ssize_t pread(int fd, void *buf, size_t size, off_t offset)
{
	struct stat st;

	if (fd >= 0 && fd < MAX_FDS && fstat(fd, &st) == 0) {
		if (known[fd].ino != st.st_ino)
			known[fd].us = look(fd);
		known[fd].ino = st.st_ino;
		if (known[fd].us == AGAIN) {
			errno = EAGAIN;
			return -1;
		}
		if (known[fd].us)
			wait_us(known[fd].us);
	}
	return syscall(SYS_pread64, fd, buf, size, offset);
}

ssize_t pread64(int fd, void *buf, size_t size, off_t offset)
{
	return pread(fd, buf, size, offset);
}

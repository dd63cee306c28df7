/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Faults that a test makes: preloaded, it does what the file $WATT_TEST_FAULTS says at any time,
 * which is int64 numbers, 0: nothing. Clocks are moved as on a machine whose clock is set or that
 * sleeps; allocations fail; disks fail, or take for ever, as a file system of a network may.
 */
/* Both names of a function are defined here. */
#undef _FILE_OFFSET_BITS
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NS 1000000000LL

enum {
	REALTIME_NS, /* how far the clock is from the machine's */
	BOOTTIME_NS,
	HAS_NO_MEMORY,
	DISK_ERRNO, /* of every write to a file, and fsync */
	DISK_HANGS,
	N
};

static const volatile int64_t *faults;

/* The allocator's own names for what is replaced here. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);

__attribute__((constructor)) static void begin(void)
{
	const char *path = getenv("WATT_TEST_FAULTS");
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	void *map = fd < 0 ? MAP_FAILED :
			     mmap(NULL, N * sizeof(int64_t), PROT_READ, MAP_SHARED, fd, 0);

	if (map == MAP_FAILED)
		abort();
	faults = map;
	close(fd);
}

static int64_t fault(int which)
{
	return faults ? faults[which] : 0;
}

/* ---- clocks ---- */

int clock_gettime(clockid_t id, struct timespec *ret)
{
	int r = (int)syscall(SYS_clock_gettime, id, ret);
	int64_t ns;

	if (r < 0 || (id != CLOCK_REALTIME && id != CLOCK_BOOTTIME))
		return r;
	ns = ret->tv_sec * NS + ret->tv_nsec;
	ns += fault(id == CLOCK_REALTIME ? REALTIME_NS : BOOTTIME_NS);
	ret->tv_sec = ns / NS;
	ret->tv_nsec = ns % NS;
	return 0;
}

/* ---- memory ---- */

static void *no_memory(void)
{
	errno = ENOMEM;
	return NULL;
}

void *malloc(size_t size)
{
	return fault(HAS_NO_MEMORY) ? no_memory() : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	return fault(HAS_NO_MEMORY) ? no_memory() : __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
	return fault(HAS_NO_MEMORY) && size ? no_memory() : __libc_realloc(p, size);
}

/* ---- disks ---- */

/* Whether the disk does what it is told; it may take its time to say so. */
static int disk_works(void)
{
	const struct timespec pause = { .tv_nsec = 10000000 };

	while (fault(DISK_HANGS))
		nanosleep(&pause, NULL);
	errno = (int)fault(DISK_ERRNO);
	return !errno;
}

ssize_t pwrite64(int fd, const void *bytes, size_t n, off64_t at)
{
	return disk_works() ? (ssize_t)syscall(SYS_pwrite64, fd, bytes, n, at) : -1;
}

ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at)
{
	return pwrite64(fd, bytes, n, at);
}

int fsync(int fd)
{
	return disk_works() ? (int)syscall(SYS_fsync, fd) : -1;
}

int fdatasync(int fd)
{
	return disk_works() ? (int)syscall(SYS_fdatasync, fd) : -1;
}

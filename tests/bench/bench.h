/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every benchmark needs: percentiles, its own cost, scratch trees on tmpfs, and one way to
 * say a figure. Figures go to stdout as lines that tests/bench/run makes a table of; anything
 * else a benchmark has to say goes to stderr.
 */
#ifndef WATT_TESTS_BENCH_H
#define WATT_TESTS_BENCH_H

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

/* Ends the benchmark: 77, as meson wants it, means that this machine can't run it. */
#define BENCH_SKIP 77

__attribute__((format(printf, 2, 3), noreturn)) static inline void bench_exit(int code,
									      const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(code);
}

/* ---- figures ---- */

/* What a figure is held against. */
enum bench_bar {
	BENCH_NO_BAR,  /* only told */
	BENCH_AT_MOST, /* must not be above */
	BENCH_AT_LEAST,
};

/* Three digits that count, and never fewer than those before the point. Counts have none after. */
static inline int bench_digits(double value)
{
	int digits = 2;

	if (value >= 0 && value < 1e15 && value == (double)(uint64_t)value)
		return 0;
	for (; digits > 0 && value >= 9.995; value /= 10)
		digits--;
	for (; digits < 6 && value > 0 && value < 0.9995; value *= 10)
		digits++;
	return digits;
}

/*
 * One figure: what was measured, the value with its unit, the bar, and under which conditions
 * (printf style).
 */
__attribute__((format(printf, 6, 7))) static inline void
bench_report(const char *what, double value, const char *unit, enum bench_bar kind, double bar,
	     const char *fmt, ...)
{
	bool is_met = kind == BENCH_NO_BAR || (kind == BENCH_AT_MOST ? value <= bar : value >= bar);
	va_list ap;

	printf("bench\t%s\t%.*f\t%s\t", what, bench_digits(value), value, unit);
	if (kind != BENCH_NO_BAR)
		printf("%s %.6g\t%s\t", kind == BENCH_AT_MOST ? "<=" : ">=", bar,
		       is_met ? "met" : "missed");
	else
		printf("\t\t");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	fflush(stdout);
}

/* One cell of a table that tests/bench/run prints below the figures, and as Markdown. */
static inline void bench_cell(const char *table, const char *row, const char *column, double value,
			      const char *unit)
{
	printf("cell\t%s\t%s\t%s\t%.*f %s\n", table, row, column, bench_digits(value), value, unit);
	fflush(stdout);
}

/* ---- many values of one thing ---- */

struct bench_series {
	uint64_t *values;
	size_t n;
	size_t cap;
};

static inline void bench_add(struct bench_series *series, uint64_t value)
{
	if (series->n == series->cap) {
		series->cap = series->cap ? series->cap * 2 : 1024;
		series->values = reallocarray(series->values, series->cap, sizeof(uint64_t));
		if (!series->values)
			bench_exit(1, "out of memory");
	}
	series->values[series->n++] = value;
}

static inline int bench_compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Sorts the series. 0 if it is empty. */
static inline uint64_t bench_percentile(struct bench_series *series, uint32_t permille)
{
	size_t rank;

	if (series->n == 0)
		return 0;
	qsort(series->values, series->n, sizeof(uint64_t), bench_compare);
	rank = (series->n * permille + 999) / 1000;
	return series->values[rank > 0 ? rank - 1 : 0];
}

/* Of the least so many of it: what interrupts a value is in none of these. Sorts the series. */
static inline double bench_mean(struct bench_series *series, uint32_t permille)
{
	size_t n = (size_t)((uint64_t)series->n * permille / 1000), i;
	double sum = 0;

	bench_percentile(series, permille);
	for (i = 0; i < n; i++)
		sum += (double)series->values[i];
	return n ? sum / (double)n : 0;
}

static inline void bench_series_done(struct bench_series *series)
{
	free(series->values);
	*series = (struct bench_series){ 0 };
}

/* ---- what this process costs ---- */

/* CPU time of all its threads, to the ns. */
static inline uint64_t bench_cpu_ns(void)
{
	return watt_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

static inline uint64_t bench_thread_cpu_ns(void)
{
	return watt_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/*
 * A field of a process' smaps_rollup, such as "Rss" or "Anonymous", in bytes; 0 if not there.
 */
static inline uint64_t bench_memory_bytes(pid_t pid, const char *field)
{
	size_t len = strlen(field);
	unsigned long long kib = 0;
	char path[64], line[256];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	while (fgets(line, sizeof(line), file))
		if (strncmp(line, field, len) == 0 && line[len] == ':')
			kib = strtoull(line + len + 1, NULL, 10);
	fclose(file);
	return kib * 1024;
}

static inline void bench_sleep_ns(uint64_t ns)
{
	struct timespec ts = watt_timespec_from_ns(watt_now_ns() + ns);

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}

/* The first argument as a number, or what to take without one. */
static inline unsigned long bench_arg(int argc, char **argv, unsigned long otherwise)
{
	return argc > 1 ? strtoul(argv[1], NULL, 10) : otherwise;
}

/* ---- trees of files in memory ---- */

/* A directory on tmpfs; remove it with bench_tree_remove(). */
static inline char *bench_tree_new(void)
{
	char *path = strdup(access("/dev/shm", W_OK) == 0 ? "/dev/shm/watt-bench-XXXXXX" :
							    "/tmp/watt-bench-XXXXXX");

	if (!path || !mkdtemp(path))
		bench_exit(1, "no scratch directory: %s", strerror(errno));
	return path;
}

static inline void bench_tree_remove(char *path)
{
	char command[PATH_MAX + 16];

	snprintf(command, sizeof(command), "rm -rf '%s'", path);
	if (system(command) != 0)
		fprintf(stderr, "%s stays behind\n", path);
	free(path);
}

/* Writes text to root/path in place, making its folders. */
static inline void bench_tree_write(const char *root, const char *path, const char *text)
{
	char full[PATH_MAX];
	char *slash;
	int fd;

	snprintf(full, sizeof(full), "%s/%s", root, path);
	for (slash = strchr(full + strlen(root) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(full, 0755);
		*slash = '/';
	}
	fd = open(full, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		bench_exit(1, "%s: %s", full, strerror(errno));
	close(fd);
}

#endif

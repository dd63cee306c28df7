/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A line for each way: its name, then ns, ns, ns, ppm, ppm. A file that is not like that is not
 * believed. It must not ask a driver.
 */
#include "source/power/nvml/kept_timing.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/parse.h"
#include "base/util.h"

#define OF_ROOT "/var/lib/wattribute"
#define HEADER "wattribute-gpu 1\n"
#define MAX_SIZE 4096
#define MAX_NS (10 * WATT_NSEC_PER_SEC)
#define MAX_PPM 1000000u

const char *watt_kept_timing_name(enum watt_gpu_way way)
{
	static const char *const names[WATT_KEPT_N_WAYS] = {
		[WATT_WAY_COUNTER] = "counter",
		[WATT_WAY_INSTANT] = "instant",
		[WATT_WAY_AVERAGE] = "average",
		[WATT_WAY_USAGE] = "usage",
	};

	return way < WATT_KEPT_N_WAYS ? names[way] : NULL;
}

/* ---- where ---- */

/* A UUID becomes the name of a file: it comes from a driver. */
static bool is_uuid(const char *uuid)
{
	size_t i;

	for (i = 0; uuid[i]; i++)
		if (!isalnum((unsigned char)uuid[i]) && uuid[i] != '-')
			return false;
	return i > 0;
}

static int path_in(const char *folder, const char *uuid, char *buf, size_t size)
{
	if (!is_uuid(uuid))
		return -EINVAL;
	if ((size_t)snprintf(buf, size, "%s/gpu/%s", folder ? folder : OF_ROOT, uuid) >= size)
		return -ENAMETOOLONG;
	return 0;
}

/* ---- reading ---- */

static int read_file(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, buf, size - 1);
	close(fd);
	if (n < 0)
		return -EIO;
	buf[n] = '\0';
	return 0;
}

static enum watt_gpu_way find_way(const char *name, size_t len)
{
	enum watt_gpu_way way;

	for (way = WATT_WAY_COUNTER; way < WATT_KEPT_N_WAYS; way++)
		if (strlen(watt_kept_timing_name(way)) == len &&
		    !memcmp(name, watt_kept_timing_name(way), len))
			break;
	return way;
}

/* One number behind one blank. */
static int parse_number(const char **cursor, uint64_t most, uint64_t *ret)
{
	int r;

	if (**cursor != ' ')
		return -EBADMSG;
	++*cursor;
	r = watt_scan_digits(cursor, ret);
	return r == 0 && *ret <= most ? 0 : -EBADMSG;
}

/* At *cursor, and moves it behind the line. */
static int parse_line(const char **cursor, struct watt_kept_timing *ret)
{
	enum watt_gpu_way way = find_way(*cursor, strcspn(*cursor, " \n"));
	struct watt_gpu_timing timing = { 0 };
	uint64_t coverage_ppm, uncertainty_ppm;

	*cursor += strcspn(*cursor, " \n");
	if (way >= WATT_KEPT_N_WAYS || ret->way[way].period_ns ||
	    parse_number(cursor, MAX_NS, &timing.period_ns) < 0 ||
	    parse_number(cursor, MAX_NS, &timing.window_ns) < 0 ||
	    parse_number(cursor, MAX_NS, &timing.delay_ns) < 0 ||
	    parse_number(cursor, MAX_PPM, &coverage_ppm) < 0 ||
	    parse_number(cursor, MAX_PPM, &uncertainty_ppm) < 0 || *(*cursor)++ != '\n' ||
	    !timing.period_ns || !coverage_ppm)
		return -EBADMSG;
	timing.coverage_ppm = (uint32_t)coverage_ppm;
	timing.uncertainty_ppm = (uint32_t)uncertainty_ppm;
	ret->way[way] = timing;
	return 0;
}

int watt_kept_timing_parse(const char *text, struct watt_kept_timing *ret)
{
	const char *cursor = text + strlen(HEADER);
	int r = 0;

	*ret = (struct watt_kept_timing){ 0 };
	if (strncmp(text, HEADER, strlen(HEADER)))
		return -EBADMSG;
	while (r == 0 && *cursor)
		r = parse_line(&cursor, ret);
	if (r < 0)
		*ret = (struct watt_kept_timing){ 0 };
	return r;
}

static int read_from(const char *folder, const char *uuid, struct watt_kept_timing *ret,
		     char *ret_path)
{
	char text[MAX_SIZE] = "";
	int r = path_in(folder, uuid, ret_path, PATH_MAX);

	if (r == 0)
		r = read_file(ret_path, text, sizeof(text));
	return r < 0 ? r : watt_kept_timing_parse(text, ret);
}

int watt_kept_timing_read(const char *folder, const char *uuid, struct watt_kept_timing *ret,
			  char *ret_path)
{
	int r = read_from(folder, uuid, ret, ret_path);

	return r == -ENOENT && folder ? read_from(NULL, uuid, ret, ret_path) : r;
}

/* ---- writing ---- */

/* All folders above a file. */
static int make_folders(char *path)
{
	char *slash;

	for (slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(path, 0755) < 0 && errno != EEXIST)
			return -errno;
		*slash = '/';
	}
	return 0;
}

static int write_lines(FILE *file, const struct watt_kept_timing *kept)
{
	enum watt_gpu_way way;

	fputs(HEADER, file);
	for (way = WATT_WAY_COUNTER; way < WATT_KEPT_N_WAYS; way++) {
		const struct watt_gpu_timing *t = &kept->way[way];

		if (t->period_ns)
			fprintf(file,
				"%s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu32 " %" PRIu32 "\n",
				watt_kept_timing_name(way), t->period_ns, t->window_ns, t->delay_ns,
				t->coverage_ppm, t->uncertainty_ppm);
	}
	return fflush(file) || ferror(file) || fsync(fileno(file)) ? -EIO : 0;
}

int watt_kept_timing_write(const char *folder, const char *uuid,
			   const struct watt_kept_timing *kept, char *ret_path, size_t size)
{
	char beside[PATH_MAX];
	FILE *file = NULL;
	int fd, r = path_in(folder, uuid, ret_path, size);

	if (r == 0)
		r = make_folders(ret_path);
	if (r == 0 &&
	    (size_t)snprintf(beside, sizeof(beside), "%s.XXXXXX", ret_path) >= sizeof(beside))
		r = -ENAMETOOLONG;
	if (r < 0)
		return r;
	fd = mkostemp(beside, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	/* what a sensor is like is no secret, and others measure, too */
	if (fchmod(fd, 0644) == 0)
		file = fdopen(fd, "w");
	if (!file) {
		close(fd);
		unlink(beside);
		return -EIO;
	}
	r = write_lines(file, kept);
	fclose(file);
	if (r == 0 && rename(beside, ret_path) < 0)
		r = -errno;
	if (r < 0)
		unlink(beside);
	return r;
}

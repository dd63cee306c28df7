/* SPDX-License-Identifier: Apache-2.0 */
/* Parses /proc/PID/stat. It reads no file and keeps no state. */
#include "source/host/pidstat.h"

#include <errno.h>
#include <string.h>

#include "base/parse.h"
#include "base/util.h"

/* Numbers of the fields behind the name, as proc(5) counts them. */
enum field {
	FIELD_PPID = 4,
	FIELD_FLAGS = 9,
	FIELD_UTIME = 14,
	FIELD_STIME = 15,
	FIELD_STARTTIME = 22,
	FIELD_PROCESSOR = 39,
};

/* include/linux/sched.h; the value is older than git and tools rely on it. */
#define PF_KTHREAD 0x00200000u

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* The next field: a number, maybe negative. Only those that are kept must fit. */
static int scan_field(const char **cursor, uint64_t *ret, bool *ret_negative)
{
	const char *p = *cursor;
	int r;

	if (*p != ' ')
		return -EBADMSG;
	p++;
	*ret_negative = *p == '-';
	if (*p == '-')
		p++;
	if (!is_digit(*p))
		return -EBADMSG;
	r = watt_scan_u64(&p, ret);
	if (r < 0)
		return r;
	if (*p != ' ' && *p != '\0' && *p != '\n')
		return -EBADMSG;
	*cursor = p;
	return 0;
}

static int take_u32(uint64_t value, uint32_t *ret)
{
	if (value > UINT32_MAX)
		return -ERANGE;
	*ret = (uint32_t)value;
	return 0;
}

static int take_field(unsigned int field, uint64_t value, struct watt_pidstat *stat)
{
	switch (field) {
	case FIELD_PPID:
		return take_u32(value, &stat->parent_pid);
	case FIELD_FLAGS:
		stat->is_kthread = value & PF_KTHREAD;
		return 0;
	case FIELD_UTIME:
		stat->utime_ticks = value;
		return 0;
	case FIELD_STIME:
		stat->stime_ticks = value;
		return 0;
	case FIELD_STARTTIME:
		stat->start_ticks = value;
		return 0;
	case FIELD_PROCESSOR:
		return take_u32(value, &stat->cpu);
	default:
		return 0;
	}
}

/* tty, priority, nice and the like may be below zero; what is kept may not. */
static bool field_is_unsigned(unsigned int field)
{
	return field == FIELD_PPID || field == FIELD_FLAGS || field == FIELD_UTIME ||
	       field == FIELD_STIME || field == FIELD_STARTTIME || field == FIELD_PROCESSOR;
}

static int scan_fields(const char *p, struct watt_pidstat *stat)
{
	unsigned int field;

	for (field = FIELD_PPID; field <= FIELD_PROCESSOR; field++) {
		bool is_negative;
		uint64_t value;
		int r;

		if (*p == '\0' || *p == '\n')
			return field > FIELD_STARTTIME ? 0 : -EBADMSG;
		r = scan_field(&p, &value, &is_negative);
		if (r < 0)
			return r;
		if (is_negative && field_is_unsigned(field))
			return -EBADMSG;
		r = take_field(field, value, stat);
		if (r < 0)
			return r;
	}
	return 0;
}

static void copy_comm(const char *from, const char *to, char comm[16])
{
	size_t n = WATT_MIN((size_t)(to - from), (size_t)15);

	memcpy(comm, from, n);
	comm[n] = '\0';
}

/* To a worker's own name, "kworker/1:0H", procfs adds what it is working on: "-events". */
static void cut_worker_name(char comm[16])
{
	static const char prefix[] = "kworker/";
	char first = comm[strlen(prefix)];

	if (strncmp(comm, prefix, strlen(prefix)) == 0 && (first == 'u' || is_digit(first)))
		memset(comm + strcspn(comm, "+-"), 0, 16 - strcspn(comm, "+-"));
}

int watt_pidstat_parse(const char *text, struct watt_pidstat *ret)
{
	const char *p = text, *end = strrchr(text, ')');
	struct watt_pidstat stat = { 0 };
	uint64_t pid;
	int r;

	if (!is_digit(*p))
		return -EBADMSG;
	r = watt_scan_u64(&p, &pid);
	if (r < 0)
		return r;
	r = take_u32(pid, &stat.pid);
	if (r < 0)
		return r;
	if (p[0] != ' ' || p[1] != '(' || !end || end < p + 2)
		return -EBADMSG;
	copy_comm(p + 2, end, stat.comm);
	p = end + 1;
	if (p[0] != ' ' || p[1] < 'A' || p[1] > 'z')
		return -EBADMSG;
	stat.state = p[1];
	r = scan_fields(p + 2, &stat);
	if (r < 0)
		return r;
	if (stat.is_kthread)
		cut_worker_name(stat.comm);
	*ret = stat;
	return 0;
}

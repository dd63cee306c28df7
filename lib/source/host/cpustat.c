/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the CPU lines of /proc/stat. It reads no file and keeps no state. */
#include "source/host/cpustat.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/clock.h"
#include "base/parse.h"
#include "base/util.h"

/* Columns of a line, in the kernel's order. Guests are counted in user and nice already. */
enum column {
	COLUMN_USER,
	COLUMN_NICE,
	COLUMN_SYSTEM,
	COLUMN_IDLE,
	COLUMN_IOWAIT,
	COLUMN_IRQ,
	COLUMN_SOFTIRQ,
	COLUMN_STEAL,
	N_COLUMNS,
	N_COLUMNS_ALWAYS = COLUMN_IDLE + 1,
};

/* More CPUs than any kernel can have: the number is not one. */
#define CPU_LIMIT (1u << 20)

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_line_end(char c)
{
	return c == '\n' || c == '\0';
}

/* Numbers to the end of the line, into column[]; moves *cursor to the end of the line. */
static int scan_columns(const char **cursor, uint64_t column[N_COLUMNS])
{
	const char *p = *cursor;
	size_t n = 0;

	memset(column, 0, N_COLUMNS * sizeof(column[0]));
	for (;;) {
		uint64_t value;
		int r;

		while (*p == ' ')
			p++;
		if (is_line_end(*p))
			break;
		if (!is_digit(*p))
			return -EBADMSG;
		r = watt_scan_u64(&p, &value);
		if (r < 0)
			return r;
		if (*p != ' ' && !is_line_end(*p))
			return -EBADMSG;
		if (n < N_COLUMNS)
			column[n++] = value;
	}
	*cursor = p;
	return n < N_COLUMNS_ALWAYS ? -EBADMSG : 0;
}

static int sum_to_ns(uint64_t a, uint64_t b, long hz, uint64_t *ret)
{
	uint64_t ticks;

	if (__builtin_add_overflow(a, b, &ticks))
		return -ERANGE;
	return watt_ticks_to_ns(ticks, hz, ret);
}

static int columns_to_time(const uint64_t column[N_COLUMNS], long hz, struct watt_cpu_time *ret)
{
	struct watt_cpu_time time = { .online = 1 };
	const struct {
		uint64_t a, b;
		uint64_t *ns;
	} sums[] = {
		{ column[COLUMN_USER], column[COLUMN_NICE], &time.user_ns },
		{ column[COLUMN_SYSTEM], 0, &time.system_ns },
		{ column[COLUMN_IDLE], column[COLUMN_IOWAIT], &time.idle_ns },
		{ column[COLUMN_IRQ], 0, &time.irq_ns },
		{ column[COLUMN_SOFTIRQ], 0, &time.softirq_ns },
		{ column[COLUMN_STEAL], 0, &time.steal_ns },
	};
	size_t i;
	int r;

	for (i = 0; i < WATT_ARRAY_SIZE(sums); i++) {
		r = sum_to_ns(sums[i].a, sums[i].b, hz, sums[i].ns);
		if (r < 0)
			return r;
	}
	*ret = time;
	return 0;
}

/* One line "cpuN a b c ..."; moves *cursor to its end. */
static int scan_cpu(const char **cursor, long hz, uint64_t *ret_cpu, struct watt_cpu_time *ret)
{
	const char *p = *cursor + strlen("cpu");
	uint64_t column[N_COLUMNS], cpu;
	int r;

	r = watt_scan_u64(&p, &cpu);
	if (r < 0)
		return r;
	if (cpu >= CPU_LIMIT)
		return -ERANGE;
	if (*p != ' ')
		return -EBADMSG;
	r = scan_columns(&p, column);
	if (r < 0)
		return r;
	r = columns_to_time(column, hz, ret);
	if (r < 0)
		return r;
	*ret_cpu = cpu;
	*cursor = p;
	return 0;
}

/* Goes over all CPU lines; with cpus NULL it only checks them. */
static int scan_cpus(const char *text, long hz, struct watt_cpu_time *cpus, size_t n_cpus,
		     size_t *ret_n)
{
	struct watt_cpu_time time;
	size_t n = 0;
	int r;

	while (strncmp(text, "cpu", 3) == 0) {
		uint64_t cpu;

		if (is_digit(text[3])) {
			r = scan_cpu(&text, hz, &cpu, &time);
			if (r < 0)
				return r;
			if (cpu < n)
				return -EBADMSG;
			n = (size_t)cpu + 1;
			if (cpus && cpu < n_cpus)
				cpus[cpu] = time;
		} else if (text[3] != ' ') {
			return -EBADMSG;
		}
		text = strchr(text, '\n');
		if (!text)
			break;
		text++;
	}
	if (n == 0)
		return -EBADMSG;
	*ret_n = n;
	return 0;
}

int watt_cpustat_parse(const char *text, long hz, struct watt_cpu_time *cpus, size_t n_cpus,
		       size_t *ret_n)
{
	size_t n;
	int r;

	if (hz <= 0)
		return -EINVAL;
	r = scan_cpus(text, hz, NULL, 0, &n);
	if (r < 0)
		return r;
	if (n_cpus > 0)
		memset(cpus, 0, n_cpus * sizeof(cpus[0]));
	return scan_cpus(text, hz, cpus, n_cpus, ret_n);
}

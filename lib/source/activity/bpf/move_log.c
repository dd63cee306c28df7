/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the migrations out of the memory that the hook writes into. It must not order them: that
 * is for whoever knows of all CPUs and of the other events.
 */
#include "source/activity/bpf/move_log.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/types.h>

#include <usage_layout.h>

#include "base/util.h"

static void *map(int fd, size_t size, int protection)
{
	void *mapped = mmap(NULL, size, protection, MAP_SHARED, fd, 0);

	return mapped == MAP_FAILED ? NULL : mapped;
}

static size_t whole_pages(size_t size)
{
	size_t page_size = (size_t)sysconf(_SC_PAGESIZE);

	return (size + page_size - 1) / page_size * page_size;
}

int watt_move_log_open(struct watt_move_log *log, int logs_fd, int moves_fd, uint32_t n_cpus,
		       uint32_t n_moves)
{
	int r;

	memset(log, 0, sizeof(*log));
	log->n_cpus = n_cpus;
	log->n_moves = n_moves;
	log->logs_size = whole_pages(n_cpus * sizeof(*log->logs));
	log->moves_size = whole_pages((size_t)n_cpus * n_moves * sizeof(*log->moves));
	log->logs = map(logs_fd, log->logs_size, PROT_READ | PROT_WRITE);
	if (!log->logs)
		return -errno;
	log->moves = map(moves_fd, log->moves_size, PROT_READ);
	if (!log->moves) {
		r = -errno;
		watt_move_log_close(log);
		return r;
	}
	return 0;
}

void watt_move_log_close(struct watt_move_log *log)
{
	if (log->logs)
		munmap(log->logs, log->logs_size);
	if (log->moves)
		munmap((void *)log->moves, log->moves_size);
	memset(log, 0, sizeof(*log));
}

static int drain_cpu(const struct watt_move_log *log, uint32_t n, uint64_t t_ns,
		     struct watt_usage_list *list)
{
	const struct watt_usage *moves = log->moves + (size_t)n * log->n_moves;
	struct watt_bpf_move_log *cpu = &log->logs[n];
	uint64_t written = __atomic_load_n(&cpu->written, __ATOMIC_ACQUIRE), read = cpu->read;
	int r = 0;

	while (read != written) {
		const struct watt_usage *move = &moves[read & (log->n_moves - 1)];

		if (move->t_ns > t_ns)
			break;
		r = watt_usage_list_append(list, move, 1);
		if (r < 0)
			break;
		read++;
	}
	__atomic_store_n(&cpu->read, read, __ATOMIC_RELEASE);
	return r;
}

int watt_move_log_drain(struct watt_move_log *log, uint64_t t_ns, struct watt_usage_list *list)
{
	int r = 0;

	for (uint32_t cpu = 0; log->logs && cpu < log->n_cpus && r >= 0; cpu++)
		r = drain_cpu(log, cpu, t_ns, list);
	return r;
}

uint64_t watt_move_log_lost(const struct watt_move_log *log)
{
	uint64_t lost = 0;

	for (uint32_t cpu = 0; log->logs && cpu < log->n_cpus; cpu++)
		lost += __atomic_load_n(&log->logs[cpu].lost, __ATOMIC_RELAXED);
	return lost;
}

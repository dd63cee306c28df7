/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A group of energy events on one CPU: opens, reads, and opens it again after the CPU was offline.
 * Must not convert counts.
 */
#include "source/power/perf_rapl/perf_bundle.h"

#include <errno.h>
#include <unistd.h>

#include "base/clock.h"
#include "source/host/status.h"

/* A count of 0 is early before, and stuck after. */
#define EARLY_NS WATT_NSEC_PER_SEC
#define RETRY_NS WATT_NSEC_PER_SEC

static int open_event(const struct watt_perf_item *item, int leader_fd)
{
	return watt_perf_event_open(item->type, item->config, item->cpu, leader_fd);
}

int watt_perf_bundle_open(struct watt_perf_bundle *bundle, const struct watt_perf_item *item)
{
	int fd = open_event(item, -1);

	if (fd < 0)
		return fd;
	*bundle = (struct watt_perf_bundle){ .items = item, .n = 1, .fds = { fd } };
	return 0;
}

int watt_perf_bundle_join(struct watt_perf_bundle *bundle, const struct watt_perf_item *item)
{
	int fd;

	if (bundle->n == WATT_PERF_GROUP_MAX || item->pmu != bundle->items[0].pmu ||
	    item->cpu != bundle->items[0].cpu)
		return -EINVAL;
	fd = open_event(item, bundle->fds[0]);
	if (fd < 0)
		return fd;
	bundle->fds[bundle->n++] = fd;
	return 0;
}

void watt_perf_bundle_close(struct watt_perf_bundle *bundle)
{
	uint32_t i;

	/* members before the leader */
	for (i = bundle->n; i > 0; i--) {
		if (bundle->fds[i - 1] >= 0)
			close(bundle->fds[i - 1]);
		bundle->fds[i - 1] = -1;
	}
}

/* Counts from 0 again, which the timeline sees as a reset. */
static void reopen(struct watt_perf_bundle *bundle, uint64_t now_ns)
{
	uint32_t i;

	if (now_ns < bundle->retry_ns)
		return;
	bundle->retry_ns = now_ns + RETRY_NS;
	watt_perf_bundle_close(bundle);
	for (i = 0; i < bundle->n; i++) {
		int fd = open_event(&bundle->items[i], i > 0 ? bundle->fds[0] : -1);

		if (fd < 0) {
			watt_perf_bundle_close(bundle);
			return;
		}
		bundle->fds[i] = fd;
	}
	bundle->is_gone = false;
}

/* What one count is worth. */
static enum watt_status count_status(uint64_t count, uint64_t enabled_ns)
{
	if (count == 0)
		return enabled_ns < EARLY_NS ? WATT_STATUS_PENDING : WATT_STATUS_STUCK;
	return count > INT64_MAX ? WATT_STATUS_BROKEN : WATT_STATUS_OK;
}

void watt_perf_bundle_read(struct watt_perf_bundle *bundle, struct watt_sample *ret)
{
	uint64_t counts[WATT_PERF_GROUP_MAX], enabled_ns = 0, t_before_ns, t_after_ns;
	uint32_t i;
	int r = -ENODEV;

	if (bundle->is_gone)
		reopen(bundle, watt_now_ns());
	t_before_ns = watt_now_ns();
	if (!bundle->is_gone)
		r = watt_perf_group_read(bundle->fds[0], bundle->n, counts, &enabled_ns);
	t_after_ns = watt_now_ns();
	bundle->is_gone = r == -ENODEV;
	for (i = 0; i < bundle->n; i++) {
		ret[i].t_before_ns = t_before_ns;
		ret[i].t_after_ns = t_after_ns;
		ret[i].status = r < 0 ? watt_status_from_errno(r) :
					count_status(counts[i], enabled_ns);
		ret[i].raw = ret[i].status == WATT_STATUS_OK ? (int64_t)counts[i] : 0;
	}
}

bool watt_perf_bundle_is_moving(const struct watt_perf_bundle *bundle)
{
	uint64_t counts[WATT_PERF_GROUP_MAX], enabled_ns;
	uint32_t i;

	if (watt_perf_group_read(bundle->fds[0], bundle->n, counts, &enabled_ns) < 0)
		return false;
	for (i = 0; i < bundle->n; i++)
		if (counts[i])
			return true;
	return false;
}

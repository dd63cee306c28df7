/* SPDX-License-Identifier: Apache-2.0 */
/* What the driver keeps of processes, as differences. It must not switch accounting on or off. */
#include "source/activity/nvml/accounting.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/util.h"

/* As many as the driver keeps at most, and some more. */
#define MAX_KEPT 8192
/* Asked at one look of those that are gone. */
#define MAX_ENDED 256
#define UNKNOWN_PERCENT 0xffffffffu
/*
 * Whole percents of a life are no fine measure of what was done since the last look once it is long:
 * then a process does at any time what it did in the mean.
 */
#define LONG_LIFE_NS (100 * WATT_NSEC_PER_SEC)

bool watt_nvml_accounting_is_on(const struct watt_nvml *nvml, const struct watt_nvml_gpu *gpu)
{
	const struct watt_nvml_api *api = &nvml->api;
	int mode = 0;

	return api->accounting_mode && api->accounting_pids && api->account &&
	       api->accounting_mode(gpu->device, &mode) == WATT_NVML_SUCCESS && mode == 1;
}

/* ---- who is kept ---- */

static int compare_pids(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* All pids of whom anything is kept, each once. *ret is the caller's. 0 or -ENOMEM. */
static int fetch_pids(const struct watt_nvml *nvml, const struct watt_nvml_gpu *gpu,
		      const struct watt_nvml_processes *running, uint32_t **ret, size_t *ret_n)
{
	unsigned int n_kept = MAX_KEPT;
	uint32_t *pids = calloc(MAX_KEPT + WATT_NVML_MAX_LISTED, sizeof(*pids));
	size_t n, i, k = 0;

	if (!pids)
		return -ENOMEM;
	if (nvml->api.accounting_pids(gpu->device, &n_kept, pids) != WATT_NVML_SUCCESS)
		n_kept = 0;
	n = WATT_MIN(n_kept, MAX_KEPT);
	for (i = 0; i < running->n; i++)
		pids[n++] = running->list[i].pid;
	qsort(pids, n, sizeof(*pids), compare_pids);
	for (i = 0; i < n; i++)
		if (!k || pids[k - 1] != pids[i])
			pids[k++] = pids[i];
	*ret = pids;
	*ret_n = k;
	return 0;
}

static int compare_accounted(const void *pid, const void *accounted)
{
	return compare_pids(pid, &((const struct watt_nvml_accounted *)accounted)->pid);
}

static const struct watt_nvml_accounted *find(const struct watt_nvml_accounting *accounting,
					      uint32_t pid)
{
	return accounting->n ? bsearch(&pid, accounting->list, accounting->n,
				       sizeof(*accounting->list), compare_accounted) :
			       NULL;
}

static const struct watt_nvml_process *find_running(const struct watt_nvml_processes *running,
						    uint32_t pid)
{
	size_t i;

	for (i = 0; i < running->n; i++)
		if (running->list[i].pid == pid)
			return &running->list[i];
	return NULL;
}

/* ---- what one did ---- */

static uint64_t mono_ns(uint64_t real_us, uint64_t now_ns)
{
	uint64_t real_ns = watt_clock_ns(CLOCK_REALTIME), t_ns = real_us * WATT_NSEC_PER_USEC;

	if (!real_us || t_ns > real_ns || real_ns - t_ns >= now_ns)
		return 0; /* before the clock began, or not told */
	return now_ns - (real_ns - t_ns);
}

static uint64_t percent_of(uint64_t ns, uint32_t percent)
{
	return ns / 100 * WATT_MIN(percent, 100u);
}

/* What it did since the look before, as far as it was known then. */
static uint64_t busy_since(const struct watt_nvml_account *now, uint64_t life_ns,
			   const struct watt_nvml_accounted *before,
			   const struct watt_nvml_claim *claim)
{
	uint64_t most_ns = claim->to_ns - claim->from_ns;
	uint64_t all_ns = percent_of(life_ns, now->gpu_percent);
	bool is_same = before && before->start_us == now->start_us;

	if (life_ns > LONG_LIFE_NS || (!is_same && life_ns > most_ns))
		return percent_of(most_ns, now->gpu_percent);
	if (is_same)
		all_ns = all_ns > before->busy_ns ? all_ns - before->busy_ns : 0;
	return WATT_MIN(all_ns, most_ns);
}

static int add_claim(struct watt_nvml_accounting *accounting, const struct watt_nvml_claim *claim)
{
	int r;

	if (claim->to_ns <= claim->from_ns)
		return 0;
	r = watt_grow((void **)&accounting->claims, &accounting->cap_claims, accounting->n_claims,
		      sizeof(*accounting->claims));
	if (r == 0)
		accounting->claims[accounting->n_claims++] = *claim;
	return r;
}

/* A process of whom something is kept: what it claims of the time between the looks. */
static int take(struct watt_nvml_accounting *accounting, const struct watt_nvml_account *account,
		const struct watt_nvml_accounted *before, struct watt_nvml_claim claim,
		struct watt_nvml_accounted *ret)
{
	uint64_t start_ns = mono_ns(account->start_us, claim.to_ns);
	uint64_t life_ns = account->time_ms * WATT_NSEC_PER_MSEC;

	ret->is_running = account->is_running;
	ret->start_us = account->start_us;
	if (ret->is_running)
		life_ns = start_ns ? claim.to_ns - start_ns : 0;
	else if (start_ns)
		claim.to_ns = WATT_MIN(claim.to_ns, start_ns + life_ns);
	ret->busy_ns = account->gpu_percent == UNKNOWN_PERCENT ?
			       0 :
			       percent_of(life_ns, account->gpu_percent);
	if (!accounting->has_looked || !claim.from_ns)
		return 0;
	claim.from_ns = WATT_MAX(claim.from_ns, start_ns);
	if (claim.to_ns <= claim.from_ns)
		return 0;
	claim.is_known = account->gpu_percent != UNKNOWN_PERCENT && start_ns;
	if (claim.is_known)
		claim.busy_ns = busy_since(account, life_ns, before, &claim);
	/* whole percents go up and down: what was given is not given again */
	if (before && before->start_us == account->start_us)
		ret->busy_ns = before->busy_ns + claim.busy_ns;
	return add_claim(accounting, &claim);
}

/* One that is gone, and of whom all was known when it was looked at last, is not asked again. */
static bool is_over(const struct watt_nvml_accounting *accounting,
		    const struct watt_nvml_accounted *before)
{
	return before ? !before->is_running : !accounting->has_looked;
}

static int read_one(struct watt_nvml_accounting *accounting, const struct watt_nvml *nvml,
		    const struct watt_nvml_gpu *gpu, const struct watt_nvml_process *running,
		    struct watt_nvml_claim claim, struct watt_nvml_accounted *ret, size_t *n_asked)
{
	const struct watt_nvml_accounted *before = find(accounting, claim.pid);
	struct watt_nvml_account account = { 0 };

	*ret = before ? *before : (struct watt_nvml_accounted){ .pid = claim.pid };
	if (running && running->is_server)
		return 0;
	if (!running && is_over(accounting, before))
		return 0;
	if (!running && ++*n_asked > MAX_ENDED) {
		ret->is_running = true; /* as far as anybody looked: it is asked of next time */
		return 0;
	}
	if (nvml->api.account(gpu->device, claim.pid, &account) == WATT_NVML_SUCCESS)
		return take(accounting, &account, before, claim, ret);
	ret->is_running = running;
	/* it has the GPU open, and nothing is kept of it, as of one of graphics */
	return running && claim.from_ns && accounting->has_looked ? add_claim(accounting, &claim) :
								    0;
}

int watt_nvml_accounting_read(struct watt_nvml_accounting *accounting, const struct watt_nvml *nvml,
			      const struct watt_nvml_gpu *gpu,
			      const struct watt_nvml_processes *running, uint64_t from_ns,
			      uint64_t to_ns)
{
	struct watt_nvml_accounted *list;
	size_t n, i, n_asked = 0;
	uint32_t *pids;
	int r;

	accounting->n_claims = 0;
	r = fetch_pids(nvml, gpu, running, &pids, &n);
	if (r < 0)
		return r;
	list = calloc(n + 1, sizeof(*list));
	if (!list)
		r = -ENOMEM;
	for (i = 0; i < n && r == 0; i++) {
		struct watt_nvml_claim claim = { .pid = pids[i],
						 .from_ns = from_ns,
						 .to_ns = to_ns };

		r = read_one(accounting, nvml, gpu, find_running(running, pids[i]), claim, &list[i],
			     &n_asked);
	}
	free(pids);
	if (r < 0) {
		free(list);
		return r;
	}
	free(accounting->list);
	accounting->list = list;
	accounting->n = n;
	accounting->has_looked = true;
	return 0;
}

void watt_nvml_accounting_done(struct watt_nvml_accounting *accounting)
{
	free(accounting->list);
	free(accounting->claims);
}

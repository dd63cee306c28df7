/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accounting: where somebody has switched it on, the driver keeps for each process how busy the GPU
 * was with it in all of its life, and knows it when it is gone. It is never switched on here. One
 * thread per object.
 */
#ifndef WATT_SOURCE_ACTIVITY_NVML_ACCOUNTING_H
#define WATT_SOURCE_ACTIVITY_NVML_ACCOUNTING_H

#include "source/activity/nvml/process_list.h"
#include "source/host/nvml.h"

/* When a process could do something between two looks, and what it did if that is known. */
struct watt_nvml_claim {
	uint32_t pid;
	bool is_known;
	uint64_t from_ns, to_ns;
	uint64_t busy_ns; /* where it is known; at most from from_ns to to_ns */
};

/* A process as it was at the look before. */
struct watt_nvml_accounted {
	uint32_t pid;
	bool is_running;
	uint64_t start_us;
	uint64_t busy_ns; /* in all of its life so far */
};

struct watt_nvml_accounting {
	struct watt_nvml_accounted *list; /* all that the driver keeps, by pid */
	size_t n;
	bool has_looked;
	struct watt_nvml_claim *claims; /* of the last look */
	size_t n_claims, cap_claims;
};

/* Whether it is on. */
bool watt_nvml_accounting_is_on(const struct watt_nvml *nvml, const struct watt_nvml_gpu *gpu);
/*
 * What processes did between two looks, in claims: of all that are running, and of those that have
 * ended since. from_ns 0: this is the first look. 0 or -ENOMEM.
 */
int watt_nvml_accounting_read(struct watt_nvml_accounting *accounting, const struct watt_nvml *nvml,
			      const struct watt_nvml_gpu *gpu,
			      const struct watt_nvml_processes *running, uint64_t from_ns,
			      uint64_t to_ns);
/* Accepts one of zeros. */
void watt_nvml_accounting_done(struct watt_nvml_accounting *accounting);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The words that enums are shown with. They are part of the API: never change one. */
#include <wattribute/domain.h>
#include <wattribute/diag.h>
#include <wattribute/entity.h>
#include <wattribute/session.h>

#include "base/util.h"

static const char *name_of(const char *const *names, size_t n, unsigned int value)
{
	return value < n && names[value] ? names[value] : "unknown";
}

#define NAMES(fn, type, ...) \
	const char *fn(type value) \
	{ \
		static const char *const names[] = { __VA_ARGS__ }; \
\
		return name_of(names, WATT_ARRAY_SIZE(names), (unsigned int)value); \
	}

/* clang-format off */
NAMES(watt_status_name, enum watt_status,
	[WATT_STATUS_OK] = "ok",
	[WATT_STATUS_NODATA] = "no data",
	[WATT_STATUS_ABSENT] = "absent",
	[WATT_STATUS_FORBIDDEN] = "forbidden",
	[WATT_STATUS_BROKEN] = "broken",
	[WATT_STATUS_STUCK] = "stuck",
	[WATT_STATUS_PENDING] = "pending",
	[WATT_STATUS_STALE] = "stale")

NAMES(watt_origin_name, enum watt_origin,
	[WATT_ORIGIN_MEASURED] = "measured",
	[WATT_ORIGIN_ESTIMATED] = "estimated",
	[WATT_ORIGIN_SIMULATED] = "simulated")

NAMES(watt_quantity_name, enum watt_quantity,
	[WATT_QUANTITY_ENERGY] = "energy",
	[WATT_QUANTITY_POWER] = "power",
	[WATT_QUANTITY_RATIO] = "ratio",
	[WATT_QUANTITY_TEMPERATURE] = "temperature",
	[WATT_QUANTITY_FREQUENCY] = "frequency",
	[WATT_QUANTITY_MEMORY] = "memory",
	[WATT_QUANTITY_SPEED] = "speed",
	[WATT_QUANTITY_LIMIT] = "limit")

NAMES(watt_quantity_unit, enum watt_quantity,
	[WATT_QUANTITY_ENERGY] = "J",
	[WATT_QUANTITY_POWER] = "W",
	[WATT_QUANTITY_RATIO] = "1",
	[WATT_QUANTITY_TEMPERATURE] = "C",
	[WATT_QUANTITY_FREQUENCY] = "Hz",
	[WATT_QUANTITY_MEMORY] = "B",
	[WATT_QUANTITY_SPEED] = "rpm",
	[WATT_QUANTITY_LIMIT] = "W")

NAMES(watt_semantics_name, enum watt_semantics,
	[WATT_SEMANTICS_COUNTER] = "counter",
	[WATT_SEMANTICS_INSTANT] = "instant",
	[WATT_SEMANTICS_AVERAGE] = "average")

NAMES(watt_domain_kind_name, enum watt_domain_kind,
	[WATT_DOMAIN_TOTAL] = "total",
	[WATT_DOMAIN_PACKAGE] = "package",
	[WATT_DOMAIN_CORES] = "cores",
	[WATT_DOMAIN_UNCORE] = "uncore",
	[WATT_DOMAIN_DRAM] = "dram",
	[WATT_DOMAIN_CORE] = "core",
	[WATT_DOMAIN_GPU] = "gpu",
	[WATT_DOMAIN_RAIL] = "rail",
	[WATT_DOMAIN_SUPPLY] = "supply",
	[WATT_DOMAIN_CPU_RAIL] = "cpu_rail",
	[WATT_DOMAIN_RESIDUAL] = "residual",
	[WATT_DOMAIN_GPU_INSTANCE] = "gpu_instance")

NAMES(watt_share_key_name, enum watt_share_key,
	[WATT_KEY_NONE] = "none",
	[WATT_KEY_CPU_TIME] = "cpu_time",
	[WATT_KEY_GPU_TIME] = "gpu_time",
	[WATT_KEY_LEARNED] = "learned",
	[WATT_KEY_GPU_MEMORY] = "gpu_memory",
	[WATT_KEY_CYCLES] = "cycles",
	[WATT_KEY_INSTRUCTIONS] = "instructions",
	[WATT_KEY_AUTO] = "auto")

NAMES(watt_idle_policy_name, enum watt_idle_policy,
	[WATT_IDLE_SEPARATE] = "separate",
	[WATT_IDLE_PROPORTIONAL] = "proportional",
	[WATT_IDLE_REQUESTS] = "requests")

NAMES(watt_baseline_from_name, enum watt_baseline_from,
	[WATT_BASELINE_UNKNOWN] = "unknown",
	[WATT_BASELINE_SEEN] = "seen",
	[WATT_BASELINE_EXTRAPOLATED] = "extrapolated",
	[WATT_BASELINE_GIVEN] = "given")

NAMES(watt_entity_kind_name, enum watt_entity_kind,
	[WATT_ENTITY_PROCESS] = "process",
	[WATT_ENTITY_KTHREAD] = "kthread",
	[WATT_ENTITY_EXITED] = "exited",
	[WATT_ENTITY_IRQ] = "irq",
	[WATT_ENTITY_SOFTIRQ] = "softirq",
	[WATT_ENTITY_IDLE] = "idle",
	[WATT_ENTITY_UNATTRIBUTED] = "unattributed",
	[WATT_ENTITY_CGROUP] = "cgroup",
	[WATT_ENTITY_CONTAINER] = "container",
	[WATT_ENTITY_UNIT] = "unit",
	[WATT_ENTITY_USER] = "user",
	[WATT_ENTITY_TRACKED] = "tracked",
	[WATT_ENTITY_KERNEL] = "kernel",
	[WATT_ENTITY_VM] = "vm",
	[WATT_ENTITY_POD] = "pod",
	[WATT_ENTITY_THREAD] = "thread",
	[WATT_ENTITY_JOB] = "job")

NAMES(watt_availability_name, enum watt_availability,
	[WATT_AVAILABLE] = "available",
	[WATT_ABSENT] = "absent",
	[WATT_FORBIDDEN] = "forbidden",
	[WATT_BROKEN] = "broken")

NAMES(watt_source_role_name, enum watt_source_role,
	[WATT_ROLE_POWER] = "power",
	[WATT_ROLE_USAGE] = "usage",
	[WATT_ROLE_META] = "meta",
	[WATT_ROLE_ACTIVITY] = "activity")

NAMES(watt_tier_name, enum watt_tier,
	[WATT_TIER_FAST] = "fast",
	[WATT_TIER_MEDIUM] = "medium",
	[WATT_TIER_SLOW] = "slow")
/* clang-format on */

const char *watt_version(void)
{
	return WATT_VERSION;
}

uint32_t watt_quantity_per_unit(enum watt_quantity quantity)
{
	switch (quantity) {
	case WATT_QUANTITY_ENERGY:
		return 1000000000;
	case WATT_QUANTITY_POWER:
	case WATT_QUANTITY_RATIO:
	case WATT_QUANTITY_LIMIT:
		return 1000000;
	case WATT_QUANTITY_TEMPERATURE:
		return 1000;
	default:
		return 1;
	}
}

int watt_quantity_is_context(enum watt_quantity quantity)
{
	return quantity != WATT_QUANTITY_ENERGY && quantity != WATT_QUANTITY_POWER;
}

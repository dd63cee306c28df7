// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parameters. A value that makes no sense is refused with a message that says which would do;
 * what was in force stays so.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "params.h"

#include <linux/ctype.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/string.h>
#include <linux/time64.h>

#include "instructions.h"
#include "ledger.h"
#include "sample.h"

#define SAMPLE_MIN_NS (1 * NSEC_PER_MSEC)
#define SAMPLE_MAX_NS (1 * NSEC_PER_SEC)
#define WINDOW_MAX_NS (3600ULL * NSEC_PER_SEC)
#define WEIGHT_MAX 1000000000ULL
#define WEIGHT_MAX_MILLI (WEIGHT_MAX * 1000)
#define PROCESSES_MIN 1024
#define PROCESSES_MAX 4194304 /* as many as there can be pids */

static DEFINE_MUTEX(params_lock);
static bool is_started;
static u64 sample_ns = 100 * NSEC_PER_MSEC;
static u64 window_ns = NSEC_PER_SEC;
static unsigned int max_processes = 131072;

/* How much of a bad value a message shows: not the end of the line that a shell adds. */
static int shown(const char *text)
{
	return min_t(size_t, strcspn(text, "\n"), 32);
}

static bool is_period_ok(u64 sample, u64 window)
{
	if (sample <= window)
		return true;
	pr_err("sample_ns=%llu is longer than window_ns=%llu; set the larger one first\n", sample,
	       window);
	return false;
}

static int set_period(const char *text, const struct kernel_param *kp, u64 min_ns, u64 max_ns)
{
	u64 value_ns;
	int r;

	r = kstrtou64(text, 0, &value_ns);
	if (r || value_ns < min_ns || value_ns > max_ns) {
		pr_err("%s='%.*s' is not a number of ns from %llu to %llu\n", kp->name, shown(text),
		       text, min_ns, max_ns);
		return r ?: -EINVAL;
	}
	mutex_lock(&params_lock);
	if (is_started && !is_period_ok(kp->arg == &sample_ns ? value_ns : sample_ns,
					kp->arg == &window_ns ? value_ns : window_ns))
		r = -EINVAL;
	else
		WRITE_ONCE(*(u64 *)kp->arg, value_ns);
	if (!r && is_started)
		watt_sampler_kick();
	mutex_unlock(&params_lock);
	return r;
}

static int sample_ns_set(const char *text, const struct kernel_param *kp)
{
	return set_period(text, kp, SAMPLE_MIN_NS, SAMPLE_MAX_NS);
}

static int window_ns_set(const char *text, const struct kernel_param *kp)
{
	return set_period(text, kp, SAMPLE_MIN_NS, WINDOW_MAX_NS);
}

static int period_get(char *buffer, const struct kernel_param *kp)
{
	return sprintf(buffer, "%llu\n", READ_ONCE(*(u64 *)kp->arg));
}

static const struct kernel_param_ops sample_ns_ops = { .set = sample_ns_set, .get = period_get };
static const struct kernel_param_ops window_ns_ops = { .set = window_ns_set, .get = period_get };

module_param_cb(sample_ns, &sample_ns_ops, &sample_ns, 0644);
MODULE_PARM_DESC(sample_ns,
		 "time between two samples in ns, 1000000 to 1000000000 (default 100000000)");
module_param_cb(window_ns, &window_ns_ops, &window_ns, 0644);
MODULE_PARM_DESC(window_ns,
		 "time between two publications in ns, at most 3600000000000 (default 1000000000)");

static int max_processes_set(const char *text, const struct kernel_param *kp)
{
	unsigned int value;
	int r;

	r = kstrtouint(text, 0, &value);
	if (!r && value >= PROCESSES_MIN && value <= PROCESSES_MAX) {
		max_processes = value;
		return 0;
	}
	pr_err("max_processes='%.*s' is not a number from %u to %u\n", shown(text), text,
	       PROCESSES_MIN, PROCESSES_MAX);
	return r ?: -EINVAL;
}

static const struct kernel_param_ops max_processes_ops = {
	.set = max_processes_set,
	.get = param_get_uint,
};

module_param_cb(max_processes, &max_processes_ops, &max_processes, 0444);
MODULE_PARM_DESC(max_processes, "most processes kept, 1024 to 4194304 (default 131072)");

static bool wants_instructions;

/* Whether they are. */
static int instructions_get(char *buffer, const struct kernel_param *kp)
{
	return sprintf(buffer, "%c\n", watt_instructions_has() ? 'Y' : 'N');
}

static const struct kernel_param_ops instructions_ops = {
	.set = param_set_bool,
	.get = instructions_get,
};

module_param_cb(instructions, &instructions_ops, &wants_instructions, 0444);
MODULE_PARM_DESC(instructions, "count instructions, where CPUs have counters for them (default N)");

/* "5", "5.2" or "0.125" to thousandths. */
static int parse_weight(const char *text, u64 *ret)
{
	unsigned int digits = 0;
	u64 milli = 0;
	bool is_fraction = false, has_digit = false;

	for (; *text && *text != '\n'; text++) {
		if (*text == '.' && !is_fraction) {
			is_fraction = true;
			continue;
		}
		if (!isdigit(*text) || digits == 3)
			return -EINVAL;
		has_digit = true;
		digits += is_fraction;
		milli = milli * 10 + (*text - '0');
		if (milli > WEIGHT_MAX_MILLI)
			return -ERANGE;
	}
	for (; digits < 3; digits++)
		milli *= 10;
	if (!has_digit || (*text && text[1]))
		return -EINVAL;
	if (milli > WEIGHT_MAX_MILLI)
		return -ERANGE;
	*ret = milli;
	return 0;
}

static int weight_set(const char *text, const struct kernel_param *kp)
{
	u64 milli;
	int r;

	r = parse_weight(text, &milli);
	if (r)
		pr_err("%s='%.*s' is not a weight from 0 to %llu with at most three decimals\n",
		       kp->name, shown(text), text, WEIGHT_MAX);
	else
		WRITE_ONCE(*(u64 *)kp->arg, milli);
	return r;
}

static int weight_get(char *buffer, const struct kernel_param *kp)
{
	u32 rest;
	u64 whole = div_u64_rem(READ_ONCE(*(u64 *)kp->arg), 1000, &rest);

	return sprintf(buffer, "%llu.%03u\n", whole, rest);
}

static const struct kernel_param_ops weight_ops = { .set = weight_set, .get = weight_get };

static struct watt_weights weights = { .cpu_ns = 5000, .instructions = 5000 };

#define WEIGHT(name, text) \
	module_param_cb(w_##name, &weight_ops, &weights.name, 0644); \
	MODULE_PARM_DESC(w_##name, "weight of " text)

WEIGHT(cpu_ns, "a ns of CPU time, 0 to 1000000000, three decimals (default 5)");
WEIGHT(instructions, "an instruction, where they are counted (default 5)");
WEIGHT(mem_bytes, "a byte of memory held for a second (default 0)");
WEIGHT(wakeups, "a wakeup (default 0)");
WEIGHT(disk_read_bytes, "a byte read from a disk (default 0)");
WEIGHT(disk_write_bytes, "a byte written to a disk (default 0)");
WEIGHT(net_rx_packets, "a packet received (default 0)");
WEIGHT(net_tx_packets, "a packet sent (default 0)");

/* What energy= counts: a container that can't read a header sees it here. */
static int energy_unit_get(char *buffer, const struct kernel_param *kp)
{
	return sprintf(buffer, "%s\n", watt_ledger_has_rapl() ? "uj" : "score");
}

static int energy_unit_set(const char *text, const struct kernel_param *kp)
{
	pr_err("%s can only be read\n", kp->name);
	return -EPERM;
}

static const struct kernel_param_ops energy_unit_ops = {
	.set = energy_unit_set,
	.get = energy_unit_get,
};

module_param_cb(energy_unit, &energy_unit_ops, NULL, 0444);
MODULE_PARM_DESC(energy_unit, "what energy= is in, uj or score; can only be read");

u64 watt_param_sample_ns(void)
{
	return READ_ONCE(sample_ns);
}

u64 watt_param_window_ns(void)
{
	return READ_ONCE(window_ns);
}

unsigned int watt_param_max_processes(void)
{
	return max_processes;
}

bool watt_param_instructions(void)
{
	return wants_instructions;
}

struct watt_weights watt_param_weights(void)
{
	return (struct watt_weights){
		.cpu_ns = READ_ONCE(weights.cpu_ns),
		.instructions = READ_ONCE(weights.instructions),
		.mem_bytes = READ_ONCE(weights.mem_bytes),
		.wakeups = READ_ONCE(weights.wakeups),
		.disk_read_bytes = READ_ONCE(weights.disk_read_bytes),
		.disk_write_bytes = READ_ONCE(weights.disk_write_bytes),
		.net_rx_packets = READ_ONCE(weights.net_rx_packets),
		.net_tx_packets = READ_ONCE(weights.net_tx_packets),
	};
}

int watt_params_start(void)
{
	int r = 0;

	mutex_lock(&params_lock);
	if (is_period_ok(sample_ns, window_ns))
		is_started = true;
	else
		r = -EINVAL;
	mutex_unlock(&params_lock);
	return r;
}

void watt_params_stop(void)
{
	mutex_lock(&params_lock);
	is_started = false;
	mutex_unlock(&params_lock);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads RAPL's counters on a CPU of their unit and adds up what they grew by. Raw units are added
 * and converted as a whole, so that rounding loses nothing over time.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "rapl.h"

#include <linux/cpu.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/slab.h>
#include <linux/suspend.h>
#include <linux/timekeeping.h>
#include <linux/topology.h>

#include "compat.h"
#include "counter.h"
#include "rapl_msr.h"
#include "unit.h"

#define UW_PER_W 1000000ULL

/* One core's. CPUs come and go: what was not read the last time begins anew. */
struct core {
	struct watt_counter counter;
	u64 read_no;
};

struct curves {
	struct watt_counter counters[WATT_RAPL_N];
	bool has[WATT_RAPL_N];
	bool is_known; /* which counters there are: a CPU of it was online */
	bool is_read;  /* this time */
	u64 read_ns;   /* when, halfway through; 0: not since its CPUs came online */
	u64 span_ns;   /* since the read before; 0: this one is the first */
};

static struct watt_rapl_model model;
static struct curves *curves; /* per unit */
static struct core *cores;    /* per CPU; used is that of the core's first CPU */
static u64 read_no;
static u64 n_errors, n_resets;
static unsigned int sleep_no; /* odd while the machine sleeps, or is about to */
static unsigned int seen_sleep_no;

/* No counter of a kind counts more, on any machine: a step that implies more is a restart. */
static u64 most_uw(enum watt_rapl_domain domain)
{
	switch (domain) {
	case WATT_RAPL_UNCORE:
	case WATT_RAPL_DRAM:
		return 1000 * UW_PER_W;
	case WATT_RAPL_PSYS:
		return 40000 * UW_PER_W;
	default:
		return 4000 * UW_PER_W;
	}
}

static void advance(struct watt_counter *counter, enum watt_rapl_domain domain, u32 raw, u64 now_ns)
{
	const struct watt_rapl_register *reg = &model.registers[domain];
	u64 raw_per_s = watt_mul_div(most_uw(domain) * 1000, BIT_ULL(reg->shift), reg->nj);

	n_resets += watt_counter_read(counter, raw, now_ns, raw_per_s);
}

/* With CPUs locked. */
static int read_raw(unsigned int cpu, enum watt_rapl_domain domain, u32 *ret)
{
	u64 value;
	int r;

	if (cpu >= nr_cpu_ids)
		return -ENODEV;
	r = watt_rdmsr_on_cpu(cpu, model.registers[domain].msr, &value);
	if (!r)
		*ret = value;
	return r;
}

/* A counter that has counted nothing since the machine was started is none. */
static bool probe(unsigned int cpu, enum watt_rapl_domain domain)
{
	u32 raw;

	return model.registers[domain].msr && !read_raw(cpu, domain, &raw) && raw;
}

static void say_found(unsigned int unit)
{
	unsigned int domain;
	char text[64] = "";

	for (domain = 0; domain < WATT_RAPL_N; domain++) {
		if (!watt_rapl_has(unit, domain))
			continue;
		strlcat(text, " ", sizeof(text));
		strlcat(text, watt_rapl_name(domain), sizeof(text));
	}
	pr_info("RAPL of package-%s:%s\n", watt_unit_name(unit), text);
}

static void get_to_know(unsigned int unit, unsigned int cpu)
{
	struct curves *curve = &curves[unit];
	unsigned int domain;

	for (domain = 0; domain < WATT_RAPL_N; domain++)
		curve->has[domain] = probe(cpu, domain);
	/* with its name and its counters: watt_rapl_has() */
	smp_store_release(&curve->is_known, true);
	say_found(unit);
}

static bool has_package(void)
{
	unsigned int unit;

	for (unit = 0; unit < watt_units_count(); unit++)
		if (watt_rapl_has(unit, WATT_RAPL_PACKAGE))
			return true;
	return false;
}

static int on_sleep(struct notifier_block *block, unsigned long event, void *unused)
{
	bool is_asleep = event == PM_SUSPEND_PREPARE || event == PM_HIBERNATION_PREPARE ||
			 event == PM_RESTORE_PREPARE;

	if (is_asleep != sleep_no % 2)
		WRITE_ONCE(sleep_no, sleep_no + 1);
	return NOTIFY_DONE;
}

static struct notifier_block sleep_block = { .notifier_call = on_sleep };

static int init_without(bool *ret)
{
	watt_rapl_done();
	*ret = false;
	return watt_units_init(false, false);
}

int watt_rapl_init(bool *ret)
{
	int r;

	if (watt_rapl_model_read(&model))
		return init_without(ret);
	r = watt_units_init(true, model.is_per_die);
	if (r)
		return r;
	curves = kcalloc(watt_units_count(), sizeof(*curves), GFP_KERNEL);
	cores = model.is_per_core ? kcalloc(nr_cpu_ids, sizeof(*cores), GFP_KERNEL) : NULL;
	if (!curves || (model.is_per_core && !cores)) {
		watt_rapl_done();
		watt_units_done();
		return -ENOMEM;
	}
	watt_rapl_read(true);
	if (!has_package()) {
		watt_units_done();
		return init_without(ret);
	}
	r = register_pm_notifier(&sleep_block);
	if (r) {
		watt_rapl_done();
		watt_units_done();
		return r;
	}
	*ret = true;
	return 0;
}

void watt_rapl_done(void)
{
	unregister_pm_notifier(&sleep_block); /* it need not be there */
	kfree(cores);
	kfree(curves);
	cores = NULL;
	curves = NULL;
}

/* What a core's counter grew by. */
static u64 read_core(unsigned int cpu)
{
	struct core *core = &cores[cpu];
	u64 before_raw = core->counter.total_raw;
	u32 raw;

	if (core->read_no + 1 != read_no)
		watt_counter_forget(&core->counter);
	if (read_raw(cpu, WATT_RAPL_CORE, &raw)) {
		n_errors++;
		return 0;
	}
	core->read_no = read_no;
	advance(&core->counter, WATT_RAPL_CORE, raw, ktime_get_ns());
	return core->counter.total_raw - before_raw;
}

/* The counters of single cores add up to that of their unit. */
static void read_cores(void)
{
	unsigned int cpu;

	read_no++;
	for_each_online_cpu(cpu) {
		struct curves *curve = &curves[watt_unit_of_cpu(cpu)];

		if (curve->has[WATT_RAPL_CORE] &&
		    cpu == cpumask_first(topology_sibling_cpumask(cpu)))
			curve->counters[WATT_RAPL_CORE].total_raw += read_core(cpu);
	}
}

static bool is_shared(enum watt_rapl_domain domain)
{
	return domain == WATT_RAPL_PACKAGE || domain == WATT_RAPL_DRAM;
}

/* All or none: energy and the time that it is of belong together. */
static bool read_shared(struct curves *curve, unsigned int cpu)
{
	u32 raws[WATT_RAPL_N];
	u64 begin_ns = ktime_get_ns(), now_ns;
	unsigned int domain;

	for (domain = 0; domain < WATT_RAPL_N; domain++) {
		if (!curve->has[domain] || !is_shared(domain))
			continue;
		if (read_raw(cpu, domain, &raws[domain])) {
			n_errors++;
			return false;
		}
	}
	now_ns = begin_ns + (ktime_get_ns() - begin_ns) / 2;
	for (domain = 0; domain < WATT_RAPL_N; domain++)
		if (curve->has[domain] && is_shared(domain))
			advance(&curve->counters[domain], domain, raws[domain], now_ns);
	curve->span_ns = curve->read_ns ? now_ns - curve->read_ns : 0;
	curve->read_ns = now_ns;
	return true;
}

static void read_shown(struct curves *curve, unsigned int cpu)
{
	unsigned int domain;
	u32 raw;

	for (domain = 0; domain < WATT_RAPL_N; domain++) {
		if (!curve->has[domain] || is_shared(domain) ||
		    (domain == WATT_RAPL_CORE && model.is_per_core))
			continue;
		if (read_raw(cpu, domain, &raw))
			n_errors++;
		else
			advance(&curve->counters[domain], domain, raw, ktime_get_ns());
	}
}

/*
 * Nobody can tell whether the counters of CPUs that are away go on, start anew or wrap: what they
 * count until one of the CPUs is back is not known, and left out.
 */
static void forget(struct curves *curve)
{
	unsigned int domain;

	for (domain = 0; domain < WATT_RAPL_N; domain++)
		watt_counter_forget(&curve->counters[domain]);
	curve->read_ns = 0;
}

/* What counters do while a machine sleeps is not known either, and nobody runs then. */
static void forget_all(void)
{
	unsigned int unit;

	for (unit = 0; unit < watt_units_count(); unit++) {
		forget(&curves[unit]);
		curves[unit].is_read = false;
	}
	read_no++; /* cores begin anew */
}

static void read_unit(unsigned int unit, bool with_all)
{
	struct curves *curve = &curves[unit];
	unsigned int cpu = watt_unit_online_cpu(unit);

	curve->is_read = false;
	if (cpu >= nr_cpu_ids) {
		forget(curve);
		return;
	}
	if (!curve->is_known)
		get_to_know(unit, cpu);
	curve->is_read = read_shared(curve, cpu);
	if (with_all)
		read_shown(curve, cpu);
}

void watt_rapl_read(bool with_all)
{
	unsigned int unit, now_no = READ_ONCE(sleep_no);

	if (!curves)
		return;
	if (now_no != seen_sleep_no)
		forget_all();
	seen_sleep_no = now_no;
	if (now_no % 2)
		return;
	cpus_read_lock();
	for (unit = 0; unit < watt_units_count(); unit++)
		read_unit(unit, with_all);
	if (with_all && model.is_per_core)
		read_cores();
	cpus_read_unlock();
}

bool watt_rapl_has(unsigned int unit, enum watt_rapl_domain domain)
{
	/* before what is there: get_to_know() */
	return curves && smp_load_acquire(&curves[unit].is_known) && curves[unit].has[domain];
}

bool watt_rapl_has_any(enum watt_rapl_domain domain)
{
	unsigned int unit;

	for (unit = 0; unit < watt_units_count(); unit++)
		if (watt_rapl_has(unit, domain))
			return true;
	return false;
}

u64 watt_rapl_energy_nj(unsigned int unit, enum watt_rapl_domain domain)
{
	const struct watt_rapl_register *reg = &model.registers[domain];

	return mul_u64_u64_shr(curves[unit].counters[domain].total_raw, reg->nj, reg->shift);
}

bool watt_rapl_is_read(unsigned int unit)
{
	return curves[unit].is_read;
}

u64 watt_rapl_span_ns(unsigned int unit)
{
	return curves[unit].span_ns;
}

u64 watt_rapl_shared_nj(unsigned int unit)
{
	u64 energy_nj = 0;

	if (watt_rapl_has(unit, WATT_RAPL_PACKAGE))
		energy_nj += watt_rapl_energy_nj(unit, WATT_RAPL_PACKAGE);
	if (watt_rapl_has(unit, WATT_RAPL_DRAM))
		energy_nj += watt_rapl_energy_nj(unit, WATT_RAPL_DRAM);
	return energy_nj;
}

const char *watt_rapl_name(enum watt_rapl_domain domain)
{
	static const char *const names[WATT_RAPL_N] = { "package", "core", "uncore", "dram",
							"psys" };

	return names[domain];
}

u64 watt_rapl_n_errors(void)
{
	return READ_ONCE(n_errors);
}

u64 watt_rapl_n_resets(void)
{
	return READ_ONCE(n_resets);
}

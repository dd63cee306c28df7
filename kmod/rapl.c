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
#include <linux/timekeeping.h>
#include <linux/topology.h>

#include "compat.h"
#include "rapl_msr.h"
#include "unit.h"

struct counter {
	u64 total_raw;
	u32 last_raw;
	bool is_there;
	bool is_begun;
};

/* One core's. CPUs come and go: what was not read the last time begins anew. */
struct core {
	struct counter counter;
	u64 read_no;
};

struct curves {
	struct counter counters[WATT_RAPL_N];
	bool is_known; /* which counters there are: a CPU of it was online */
	bool is_read;  /* this time */
	u64 read_ns;   /* when, halfway through; 0: not since its CPUs came online */
	u64 span_ns;   /* since the read before; 0: this one is the first */
};

static struct watt_rapl_model model;
static struct curves *curves; /* per unit */
static struct core *cores;    /* per CPU; used is that of the core's first CPU */
static u64 read_no;
static u64 n_errors;

static void advance(struct counter *counter, u32 raw)
{
	if (counter->is_begun)
		counter->total_raw += (u32)(raw - counter->last_raw);
	counter->last_raw = raw;
	counter->is_begun = true;
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
		curve->counters[domain].is_there = probe(cpu, domain);
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
	*ret = true;
	return 0;
}

void watt_rapl_done(void)
{
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
		core->counter.is_begun = false;
	if (read_raw(cpu, WATT_RAPL_CORE, &raw)) {
		n_errors++;
		return 0;
	}
	core->read_no = read_no;
	advance(&core->counter, raw);
	return core->counter.total_raw - before_raw;
}

/* The counters of single cores add up to that of their unit. */
static void read_cores(void)
{
	unsigned int cpu;

	read_no++;
	for_each_online_cpu(cpu) {
		struct counter *sum = &curves[watt_unit_of_cpu(cpu)].counters[WATT_RAPL_CORE];

		if (sum->is_there && cpu == cpumask_first(topology_sibling_cpumask(cpu)))
			sum->total_raw += read_core(cpu);
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
		if (!curve->counters[domain].is_there || !is_shared(domain))
			continue;
		if (read_raw(cpu, domain, &raws[domain])) {
			n_errors++;
			return false;
		}
	}
	now_ns = begin_ns + (ktime_get_ns() - begin_ns) / 2;
	for (domain = 0; domain < WATT_RAPL_N; domain++)
		if (curve->counters[domain].is_there && is_shared(domain))
			advance(&curve->counters[domain], raws[domain]);
	curve->span_ns = curve->read_ns ? now_ns - curve->read_ns : 0;
	curve->read_ns = now_ns;
	return true;
}

static void read_shown(struct curves *curve, unsigned int cpu)
{
	unsigned int domain;
	u32 raw;

	for (domain = 0; domain < WATT_RAPL_N; domain++) {
		if (!curve->counters[domain].is_there || is_shared(domain) ||
		    (domain == WATT_RAPL_CORE && model.is_per_core))
			continue;
		if (read_raw(cpu, domain, &raw))
			n_errors++;
		else
			advance(&curve->counters[domain], raw);
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
		curve->counters[domain].is_begun = false;
	curve->read_ns = 0;
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
	unsigned int unit;

	if (!curves)
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
	return curves && smp_load_acquire(&curves[unit].is_known) &&
	       curves[unit].counters[domain].is_there;
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

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
#include "rapl-msr.h"
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
	u64 read_ns; /* when; halfway through the reading */
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

static bool probe_all(void)
{
	unsigned int unit, domain;
	bool has_any = false;

	cpus_read_lock();
	for (unit = 0; unit < watt_units_count(); unit++) {
		unsigned int cpu = watt_unit_online_cpu(unit);

		for (domain = 0; domain < WATT_RAPL_N; domain++)
			curves[unit].counters[domain].is_there = probe(cpu, domain);
		has_any |= curves[unit].counters[WATT_RAPL_PACKAGE].is_there;
	}
	cpus_read_unlock();
	return has_any;
}

static void say_found(void)
{
	unsigned int unit, domain;

	for (unit = 0; unit < watt_units_count(); unit++) {
		char text[64] = "";

		for (domain = 0; domain < WATT_RAPL_N; domain++) {
			if (!watt_rapl_has(unit, domain))
				continue;
			strlcat(text, " ", sizeof(text));
			strlcat(text, watt_rapl_name(domain), sizeof(text));
		}
		pr_info("RAPL of package-%s:%s\n", watt_unit_name(unit), text);
	}
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
	if (!probe_all()) {
		watt_units_done();
		return init_without(ret);
	}
	say_found();
	watt_rapl_read(true);
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

static void read_unit(unsigned int unit, bool with_all)
{
	unsigned int cpu = watt_unit_online_cpu(unit), domain;
	u64 begin_ns = ktime_get_ns();

	for (domain = 0; domain < WATT_RAPL_N; domain++) {
		struct counter *counter = &curves[unit].counters[domain];
		u32 raw;

		if (!counter->is_there || (!with_all && !is_shared(domain)) ||
		    (domain == WATT_RAPL_CORE && model.is_per_core))
			continue;
		if (cpu < nr_cpu_ids && !read_raw(cpu, domain, &raw))
			advance(counter, raw);
		else
			n_errors++;
	}
	curves[unit].read_ns = begin_ns + (ktime_get_ns() - begin_ns) / 2;
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
	return curves && curves[unit].counters[domain].is_there;
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

u64 watt_rapl_shared_nj(unsigned int unit)
{
	u64 energy_nj = 0;

	if (watt_rapl_has(unit, WATT_RAPL_PACKAGE))
		energy_nj += watt_rapl_energy_nj(unit, WATT_RAPL_PACKAGE);
	if (watt_rapl_has(unit, WATT_RAPL_DRAM))
		energy_nj += watt_rapl_energy_nj(unit, WATT_RAPL_DRAM);
	return energy_nj;
}

u64 watt_rapl_read_ns(unsigned int unit)
{
	return curves[unit].read_ns;
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

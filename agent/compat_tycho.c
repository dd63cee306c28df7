/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tycho's names. It knows parts of processors of all packages together, GPUs, the chassis and what
 * is left of it, each as total, idle and dynamic; and tenants, which are containers of pods. Who
 * is none is __system__. All its series are gauges, those of energy too, which only grow.
 */
#include "compat.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "monitor.h"
#include "xalloc.h"

#define NJ_PER_MJ 1000000
#define MW_PER_W 1e3
#define UW_PER_MW 1e3
#define NS_PER_US 1000
#define SYSTEM "__system__"

enum part {
	PART_TOTAL,
	PART_IDLE,
	PART_DYNAMIC,
	PART_N
};

static const char *const part_names[PART_N] = { "total", "idle", "dynamic" };

/* What it calls domains, and who tells of them. */
static const struct family {
	enum watt_domain_kind kind;
	const char *energy, *power;
	const char *label; /* that says which one it is */
	const char *value; /* of it; NULL: the domain's name */
	const char *source;
} families[] = {
	{ WATT_DOMAIN_PACKAGE, "tycho_rapl_energy_mj", "tycho_rapl_power_mw", "domain", "pkg",
	  "rapl" },
	{ WATT_DOMAIN_CORES, "tycho_rapl_energy_mj", "tycho_rapl_power_mw", "domain", "core",
	  "rapl" },
	{ WATT_DOMAIN_UNCORE, "tycho_rapl_energy_mj", "tycho_rapl_power_mw", "domain", "uncore",
	  "rapl" },
	{ WATT_DOMAIN_DRAM, "tycho_rapl_energy_mj", "tycho_rapl_power_mw", "domain", "dram",
	  "rapl" },
	{ WATT_DOMAIN_GPU, "tycho_gpu_energy_mj", "tycho_gpu_power_mw", "gpu_uuid", NULL,
	  "nvml_corrected" },
	{ WATT_DOMAIN_TOTAL, "tycho_system_energy_mj", "tycho_system_power_mw", "chassis", NULL,
	  "redfish_corrected" },
	{ WATT_DOMAIN_RESIDUAL, "tycho_residual_energy_mj", "tycho_residual_power_mw", "chassis",
	  NULL, "redfish_corrected" },
};

static void begin(struct exposition *ex, const char *name, const char *help)
{
	exposition_family(ex, &(struct exposition_family){ name, EXPOSITION_GAUGE, NULL, help });
}

/* A family of its own for each name; several kinds share one. */
static bool is_first_of_name(size_t family)
{
	return !family || strcmp(families[family].energy, families[family - 1].energy) != 0;
}

/* ---- domains: one by one, or all packages together ---- */

static bool is_in(const struct monitor *monitor, const struct family *family, size_t domain)
{
	return monitor_domain(monitor, domain)->kind == family->kind &&
	       monitor_has_counter(monitor, domain);
}

/* Whether this domain begins a series; the others of its kind may be in it. */
static bool is_head(const struct monitor *monitor, const struct family *family, size_t domain)
{
	size_t i;

	if (!is_in(monitor, family, domain))
		return false;
	for (i = 0; family->value && i < domain; i++)
		if (is_in(monitor, family, i))
			return false;
	return true;
}

/* The sum over the domains of a series, in nJ. */
static nanojoules energy_of(const struct monitor *monitor, const struct family *family, size_t head,
			    const struct roster_sum *sums)
{
	nanojoules sum_nj = sums[ROSTER_DOMAIN(head)].out;
	size_t i;

	for (i = head + 1; family->value && i < monitor_domain_count(monitor); i++)
		if (is_in(monitor, family, i))
			sum_nj += sums[ROSTER_DOMAIN(i)].out;
	return sum_nj;
}

static double power_of_domain(const struct monitor *monitor, size_t domain, enum part part)
{
	const struct watt_domain_state *state = monitor_state(monitor, domain);
	double total_w = monitor_power_w(monitor, domain), idle_w;

	if (part == PART_TOTAL)
		return total_w;
	if (!state->baseline_ready)
		return NAN;
	idle_w = fmin((double)state->baseline_uw / 1e6, total_w);
	return part == PART_IDLE ? idle_w : total_w - idle_w;
}

static double power_of(const struct monitor *monitor, const struct family *family, size_t head,
		       enum part part)
{
	double sum_w = power_of_domain(monitor, head, part);
	size_t i;

	for (i = head + 1; family->value && i < monitor_domain_count(monitor); i++)
		if (is_in(monitor, family, i))
			sum_w += power_of_domain(monitor, i, part);
	return sum_w;
}

static void add_place(struct bytes *labels, const struct monitor *monitor,
		      const struct family *family, size_t head, const char *part)
{
	exposition_add_label(labels, family->label,
			     family->value ? family->value : monitor_domain(monitor, head)->name);
	exposition_add_label(labels, "kind", part);
	exposition_add_label(labels, "source", family->source);
}

static void write_energies_of(struct exposition *ex, const struct monitor *monitor,
			      const struct family *family, size_t head)
{
	const struct roster *roster = &monitor->roster;
	nanojoules whole_nj = energy_of(monitor, family, head, roster->whole);
	nanojoules idle_nj = energy_of(monitor, family, head, roster->idle);
	const nanojoules parts_nj[PART_N] = { whole_nj, idle_nj, whole_nj - idle_nj };
	int part, n = family->kind == WATT_DOMAIN_TOTAL ? 1 : PART_N;

	for (part = 0; part < n; part++) {
		struct bytes labels = { 0 };

		add_place(&labels, monitor, family, head, part_names[part]);
		exposition_number(ex, labels.data, NULL, (double)parts_nj[part] / NJ_PER_MJ);
		bytes_done(&labels);
	}
}

static void write_powers_of(struct exposition *ex, const struct monitor *monitor,
			    const struct family *family, size_t head)
{
	int part, n = family->kind == WATT_DOMAIN_TOTAL ? 1 : PART_N;

	for (part = 0; part < n; part++) {
		struct bytes labels = { 0 };

		add_place(&labels, monitor, family, head, part_names[part]);
		exposition_number(ex, labels.data, NULL,
				  power_of(monitor, family, head, (enum part)part) * MW_PER_W);
		bytes_done(&labels);
	}
}

static void write_domains(struct exposition *ex, const struct monitor *monitor, bool is_power)
{
	size_t f, i;

	for (f = 0; f < ARRAY_SIZE(families); f++) {
		const struct family *family = &families[f];

		if (is_first_of_name(f))
			begin(ex, is_power ? family->power : family->energy,
			      is_power ? "Mean power in the newest window." : "Energy so far.");
		for (i = 0; i < monitor_domain_count(monitor); i++) {
			if (!is_head(monitor, family, i))
				continue;
			if (is_power)
				write_powers_of(ex, monitor, family, i);
			else
				write_energies_of(ex, monitor, family, i);
		}
	}
}

static double usable(const struct watt_domain_state *state)
{
	return state->is_usable && !state->window_clamped_ns && !state->window_transient_ns;
}

static double baseline_mw(const struct watt_domain_state *state)
{
	return state->baseline_ready ? (double)state->baseline_uw / UW_PER_MW : NAN;
}

/* What is told of a residual beside energy and power; what is not known has no series. */
static void write_residuals(struct exposition *ex, const struct monitor *monitor, const char *name,
			    const char *help,
			    double (*value_of)(const struct watt_domain_state *state))
{
	const struct family *family = &families[ARRAY_SIZE(families) - 1];
	size_t i;

	begin(ex, name, help);
	for (i = 0; i < monitor_domain_count(monitor); i++) {
		struct bytes labels = { 0 };

		if (!is_in(monitor, family, i))
			continue;
		exposition_add_label(&labels, "chassis", monitor_domain(monitor, i)->name);
		exposition_add_label(&labels, "source", family->source);
		exposition_number(ex, labels.data, NULL, value_of(monitor_state(monitor, i)));
		bytes_done(&labels);
	}
}

/* ---- CPUs ---- */

static void write_cpu_ratio(struct exposition *ex, const struct monitor *monitor, const char *name,
			    const char *help, uint64_t part_ns)
{
	const struct monitor_cpus *cpus = &monitor->cpu_window;
	uint64_t whole_ns = cpus->active_ns + cpus->idle_ns + cpus->irq_ns + cpus->softirq_ns;
	struct bytes labels = { 0 };

	if (!whole_ns)
		return;
	exposition_add_label(&labels, "source", watt_session_get_usage_name(monitor->session));
	begin(ex, name, help);
	exposition_number(ex, labels.data, NULL, (double)part_ns / (double)whole_ns);
	bytes_done(&labels);
}

/* Together they are 1. */
static void write_cpu_ratios(struct exposition *ex, const struct monitor *monitor)
{
	const struct monitor_cpus *cpus = &monitor->cpu_window;

	write_cpu_ratio(ex, monitor, "tycho_bpf_cpu_active_ratio",
			"Share of all CPUs' time in which they ran tasks.", cpus->active_ns);
	write_cpu_ratio(ex, monitor, "tycho_bpf_cpu_idle_ratio",
			"Share of all CPUs' time in which they were idle.", cpus->idle_ns);
	write_cpu_ratio(ex, monitor, "tycho_bpf_cpu_irq_ratio",
			"Share of all CPUs' time in interrupts.", cpus->irq_ns);
	write_cpu_ratio(ex, monitor, "tycho_bpf_cpu_softirq_ratio",
			"Share of all CPUs' time in soft interrupts.", cpus->softirq_ns);
}

/* ---- tenants ---- */

/* A container by its names; one that was started anew has the same. */
struct tenant {
	char *labels; /* owned */
	const struct roster_user *user;
};

static int by_labels(const void *a, const void *b)
{
	return strcmp(((const struct tenant *)a)->labels, ((const struct tenant *)b)->labels);
}

static char *labels_of_system(void)
{
	struct bytes labels = { 0 };

	exposition_add_label(&labels, "namespace", SYSTEM);
	exposition_add_label(&labels, "pod", SYSTEM);
	exposition_add_label(&labels, "container", SYSTEM);
	return labels.data;
}

/* Namespace, pod and container must all be known. */
static char *labels_of(const struct roster_user *user)
{
	static const char *const names[] = { "namespace", "pod", "container" };
	struct bytes labels = { 0 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (!exposition_has_label(user->labels, names[i]))
			return labels_of_system();
	for (i = 0; i < ARRAY_SIZE(names); i++)
		exposition_copy_label(&labels, names[i], user->labels, names[i]);
	return labels.data;
}

static void write_tenant(struct exposition *ex, const struct monitor *monitor,
			 const struct family *family, size_t head, const char *labels,
			 const char *part, nanojoules energy_nj)
{
	struct bytes all = { 0 };

	add_place(&all, monitor, family, head, part);
	bytes_add_text(&all, ",");
	bytes_add_text(&all, labels);
	exposition_number(ex, all.data, NULL, (double)energy_nj / NJ_PER_MJ);
	bytes_done(&all);
}

static void write_time(struct exposition *ex, const struct monitor *monitor, const char *labels,
		       nanojoules time_ns)
{
	struct bytes all = { 0 };

	exposition_add_label(&all, "source", watt_session_get_usage_name(monitor->session));
	bytes_add_text(&all, ",");
	bytes_add_text(&all, labels);
	exposition_number(ex, all.data, NULL, (double)time_ns / NS_PER_US);
	bytes_done(&all);
}

/* CPU time of those of one name together, in the same way as their energy. */
static void write_times(struct exposition *ex, const struct monitor *monitor,
			const struct tenant *tenants, size_t n)
{
	auto_free char *system = labels_of_system();
	nanojoules system_ns = monitor->roster.levels[LEVEL_CONTAINER].other[ROSTER_CPU].out;
	size_t i, k;

	begin(ex, "tycho_workload_bpf_process_run_us_total",
	      "CPU time of a container so far, in microseconds.");
	for (i = 0; i < n; i = k) {
		nanojoules sum_ns = 0;

		for (k = i; k < n && !strcmp(tenants[k].labels, tenants[i].labels); k++)
			sum_ns += tenants[k].user->sums[ROSTER_CPU].out;
		if (strcmp(tenants[i].labels, system) == 0)
			system_ns += sum_ns;
		else
			write_time(ex, monitor, tenants[i].labels, sum_ns);
	}
	write_time(ex, monitor, system, system_ns);
}

/* Those of one name together; __system__ is also what no name is told of. */
static void write_series(struct exposition *ex, const struct monitor *monitor,
			 const struct family *family, size_t head, const struct tenant *tenants,
			 size_t n)
{
	const struct roster *roster = &monitor->roster;
	auto_free char *system = labels_of_system();
	nanojoules system_nj =
		energy_of(monitor, family, head, roster->unattributed) +
		energy_of(monitor, family, head, roster->levels[LEVEL_CONTAINER].other);
	size_t i, k;

	for (i = 0; i < n; i = k) {
		nanojoules sum_nj = 0;

		for (k = i; k < n && !strcmp(tenants[k].labels, tenants[i].labels); k++)
			sum_nj += energy_of(monitor, family, head, tenants[k].user->sums);
		if (strcmp(tenants[i].labels, system) == 0)
			system_nj += sum_nj;
		else
			write_tenant(ex, monitor, family, head, tenants[i].labels, "dynamic",
				     sum_nj);
	}
	write_tenant(ex, monitor, family, head, system, "dynamic", system_nj);
	write_tenant(ex, monitor, family, head, system, "idle",
		     energy_of(monitor, family, head, roster->idle));
}

static void write_tenants(struct exposition *ex, const struct monitor *monitor,
			  const struct tenant *tenants, size_t n, bool is_gpu)
{
	size_t f, i;

	begin(ex, is_gpu ? "tycho_workload_gpu_energy_mj" : "tycho_workload_rapl_energy_mj",
	      "Energy of a container so far.");
	for (f = 0; f < ARRAY_SIZE(families); f++) {
		bool is_rapl = strcmp(families[f].source, "rapl") == 0;

		if (is_gpu ? families[f].kind != WATT_DOMAIN_GPU : !is_rapl)
			continue;
		for (i = 0; i < monitor_domain_count(monitor); i++)
			if (is_head(monitor, &families[f], i))
				write_series(ex, monitor, &families[f], i, tenants, n);
	}
}

void compat_write_tycho(struct exposition *ex, const struct monitor *monitor)
{
	const struct roster_level *level = &monitor->roster.levels[LEVEL_CONTAINER];
	auto_free struct tenant *tenants = xcalloc(level->n_users, sizeof(*tenants));
	size_t i;

	write_domains(ex, monitor, false);
	write_domains(ex, monitor, true);
	write_residuals(ex, monitor, "tycho_residual_window_usable",
			"0: the parts exceed the total, or change faster than it shows.", usable);
	write_residuals(ex, monitor, "tycho_residual_idle_baseline_mw",
			"What is left when nothing runs, once it is known.", baseline_mw);
	write_cpu_ratios(ex, monitor);
	if (!(monitor->roster.opts.levels & 1u << LEVEL_CONTAINER))
		return;
	for (i = 0; i < level->n_users; i++)
		tenants[i] = (struct tenant){ labels_of(level->users[i]), level->users[i] };
	if (level->n_users)
		qsort(tenants, level->n_users, sizeof(*tenants), by_labels);
	write_tenants(ex, monitor, tenants, level->n_users, false);
	write_tenants(ex, monitor, tenants, level->n_users, true);
	write_times(ex, monitor, tenants, level->n_users);
	for (i = 0; i < level->n_users; i++)
		free(tenants[i].labels);
}

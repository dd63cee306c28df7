/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What it costs to open a power source and to read it, for every source of the registry: on the
 * captured machine on which it has most channels, and on this machine.
 * usage: bench-read [FOLDER OF MACHINES]
 */
#include "bench.h"

#include "base/util.h"
#include "source/config/config.h"
#include "source/source.h"

#define READS_MAX 5000
#define BUDGET_NS (300 * WATT_NSEC_PER_MSEC)

struct machine {
	char name[64];
	struct watt_env env;
};

static bool machine_open(struct machine *machine, const char *name, const char *sys,
			 const char *proc)
{
	static const struct watt_config no_config;

	*machine = (struct machine){ .env = { .config = &no_config } };
	machine->env.sysfs = machine->env.procfs = (struct watt_root)WATT_ROOT_INIT;
	watt_strlcpy(machine->name, name, sizeof(machine->name));
	watt_root_open(&machine->env.procfs, proc);
	return watt_root_open(&machine->env.sysfs, sys) == 0;
}

static bool machine_open_captured(struct machine *machine, const char *folder, const char *name)
{
	char sys[512], proc[512];

	snprintf(sys, sizeof(sys), "%s/%s/sys", folder, name);
	snprintf(proc, sizeof(proc), "%s/%s/proc", folder, name);
	return machine_open(machine, name, sys, proc);
}

static void machine_close(struct machine *machine)
{
	watt_root_close(&machine->env.sysfs);
	watt_root_close(&machine->env.procfs);
}

static void read_all(struct watt_power *power, struct watt_sample *samples)
{
	uint32_t i;

	for (i = 0; i < power->n_groups; i++)
		power->ops->read(power, i, samples + power->groups[i].first);
}

static uint32_t count_ok(const struct watt_sample *samples, uint32_t n)
{
	uint32_t i, n_ok = 0;

	for (i = 0; i < n; i++)
		n_ok += samples[i].status == WATT_STATUS_OK;
	return n_ok;
}

static void measure_reads(struct watt_power *power, struct bench_series *ret_ns, uint32_t *ret_ok)
{
	struct watt_sample *samples = calloc(power->n_channels + 1, sizeof(*samples));
	uint64_t begin_ns = watt_now_ns(), t_ns = begin_ns, now_ns;
	int i;

	if (!samples)
		bench_exit(1, "out of memory");
	for (i = 0; i < READS_MAX && t_ns - begin_ns < BUDGET_NS; i++, t_ns = now_ns) {
		read_all(power, samples);
		now_ns = watt_now_ns();
		/* the first ones fill the caches */
		if (i >= 10)
			bench_add(ret_ns, now_ns - t_ns);
	}
	*ret_ok = count_ok(samples, power->n_channels);
	free(samples);
}

static void report(const struct watt_power_ops *ops, const struct machine *machine,
		   const struct watt_power *power, uint64_t open_ns, struct bench_series *series,
		   uint32_t n_ok)
{
	double median_ns = (double)bench_percentile(series, 500);
	char what[64];

	snprintf(what, sizeof(what), "%s: read of a channel", ops->name);
	bench_report(what, median_ns / power->n_channels, "ns", BENCH_NO_BAR, 0,
		     "%s: %u channels (%u with a value), all by one read %.1f us, p99 %.1f us",
		     machine->name, power->n_channels, n_ok, median_ns / 1e3,
		     (double)bench_percentile(series, 990) / 1e3);
	snprintf(what, sizeof(what), "%s: open", ops->name);
	bench_report(what, (double)open_ns / 1e6, "ms", BENCH_NO_BAR, 0, "%s", machine->name);
}

static void measure(const struct watt_power_ops *ops, const struct machine *machine)
{
	struct bench_series series = { 0 };
	struct watt_power *power;
	uint64_t open_ns = watt_now_ns();
	uint32_t n_ok;
	int r;

	r = ops->open(&machine->env, &power);
	open_ns = watt_now_ns() - open_ns;
	if (r < 0) {
		fprintf(stderr, "%s on %s: %s\n", ops->name, machine->name, strerror(-r));
		return;
	}
	measure_reads(power, &series, &n_ok);
	report(ops, machine, power, open_ns, &series, n_ok);
	bench_series_done(&series);
	ops->close(power);
}

/* The machine on which a source has most channels; NULL: it has none on any. */
static const char *find_machine(const struct watt_power_ops *ops, const char *folder,
				const struct watt_names *names)
{
	const char *best = NULL;
	uint32_t most = 0;
	size_t i;

	for (i = 0; i < names->n; i++) {
		struct watt_diag diag = { 0 };
		struct machine machine;

		if (!machine_open_captured(&machine, folder, names->name[i]))
			continue;
		if (ops->probe(&machine.env, &diag) == 0 && diag.n_channels > most) {
			most = diag.n_channels;
			best = names->name[i];
		}
		machine_close(&machine);
	}
	return best;
}

int main(int argc, char **argv)
{
	const char *folder = argc > 1 ? argv[1] : getenv("WATT_FIXTURES");
	const struct watt_power_ops *const *ops;
	struct watt_names names = WATT_NAMES_INIT;
	struct watt_root root = WATT_ROOT_INIT;
	struct machine machine;

	folder = folder ? folder : "tests/fixtures";
	if (watt_root_open(&root, folder) < 0 || watt_root_list(&root, ".", "", &names) < 0)
		bench_exit(BENCH_SKIP, "%s: no machines there", folder);
	for (ops = watt_power_registry; *ops; ops++) {
		const char *name;

		if ((*ops)->flags & WATT_POWER_TEST)
			continue;
		name = find_machine(*ops, folder, &names);
		if (name && machine_open_captured(&machine, folder, name)) {
			measure(*ops, &machine);
			machine_close(&machine);
		}
		if (machine_open(&machine, "this machine", "/sys", "/proc"))
			measure(*ops, &machine);
		machine_close(&machine);
	}
	watt_names_free(&names);
	watt_root_close(&root);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only
#include "show.h"

#include <linux/ctype.h>
#include <linux/math64.h>
#include <linux/seq_file.h>

#include "instructions.h"
#include "ledger.h"
#include "publish.h"
#include "rapl.h"
#include "unit.h"

static void show_amount(struct seq_file *file, const char *key, struct watt_amount amount,
			const char *end)
{
	seq_printf(file, "%s=%llu.%03u%s", key, amount.whole, amount.milli, end);
}

static u64 rapl_nj(const struct watt_window *window, unsigned int unit, unsigned int domain)
{
	return window->rapl_nj[unit * WATT_RAPL_N + domain];
}

static void show_rapl_sum(struct seq_file *file, const struct watt_window *window,
			  enum watt_rapl_domain domain)
{
	unsigned int unit;
	u64 sum_nj = 0;

	if (!watt_rapl_has_any(domain))
		return;
	for (unit = 0; unit < watt_units_count(); unit++)
		sum_nj += rapl_nj(window, unit, domain) & ~WATT_RAPL_OLD;
	seq_printf(file, "rapl_%s_sum_uj=%llu\n", watt_rapl_name(domain), div_u64(sum_nj, 1000));
}

static void show_rapl_unit(struct seq_file *file, const struct watt_window *window,
			   unsigned int unit)
{
	unsigned int domain;

	for (domain = 0; domain < WATT_RAPL_N; domain++) {
		u64 energy_nj = rapl_nj(window, unit, domain);

		if (!watt_rapl_has(unit, domain) || energy_nj & WATT_RAPL_OLD)
			continue;
		seq_printf(file, "rapl_package-%s%s%s_uj=%llu\n", watt_unit_name(unit),
			   domain == WATT_RAPL_PACKAGE ? "" : "_",
			   domain == WATT_RAPL_PACKAGE ? "" : watt_rapl_name(domain),
			   div_u64(energy_nj, 1000));
	}
}

void watt_show_header(struct seq_file *file, const struct watt_window *window)
{
	/* the first two are older than the others */
	static const enum watt_rapl_domain order[WATT_RAPL_N] = {
		WATT_RAPL_CORE, WATT_RAPL_PSYS, WATT_RAPL_PACKAGE, WATT_RAPL_UNCORE, WATT_RAPL_DRAM
	};
	unsigned int i;

	seq_printf(file, "timestamp=%llu\n", window->end_ns);
	seq_printf(file, "iterations=%llu\n", window->n_samples);
	seq_printf(file, "sample_ns=%llu\n", window->sample_ns);
	seq_printf(file, "window_ns=%llu\n", window->window_ns);
	for (i = 0; i < WATT_RAPL_N; i++)
		show_rapl_sum(file, window, order[i]);
	for (i = 0; i < watt_units_count(); i++)
		show_rapl_unit(file, window, i);
	seq_printf(file, "energy_unit=%s\n", watt_ledger_has_rapl() ? "uj" : "score");
	show_amount(file, "idle_energy", window->idle, "\n");
	show_amount(file, "unlisted_energy", window->unlisted, "\n");
}

/* All between alive= and comm=. */
static void show_counts(struct seq_file *file, const struct watt_counts *counts)
{
	seq_printf(file, "cpu_ns=%llu mem=%llu ", counts->cpu_ns, counts->mem_bytes);
	if (watt_instructions_has())
		seq_printf(file, "instructions=%llu ", counts->instructions);
	seq_printf(file, "wakeups=%llu diski=%llu disko=%llu rx=%llu tx=%llu ", counts->wakeups,
		   counts->disk_read_bytes, counts->disk_write_bytes, counts->rx_packets,
		   counts->tx_packets);
}

void watt_show_system(struct seq_file *file, const struct watt_window *window)
{
	seq_puts(file, "pid=0 ");
	show_amount(file, "energy", window->energy, " ");
	seq_puts(file, "alive=1 kernel=1 ");
	show_counts(file, &window->counts);
	seq_puts(file, "comm=*system*\n");
}

/* A process names itself as it likes: not to end a line, nor to speak to a terminal. */
static void show_comm(struct seq_file *file, const char *comm)
{
	unsigned int i;

	for (i = 0; i < TASK_COMM_LEN && comm[i]; i++) {
		unsigned char c = comm[i];

		if (c < ' ' || c == 0x7f || c == '\\')
			seq_printf(file, "\\%03o", c);
		else
			seq_putc(file, c);
	}
	seq_putc(file, '\n');
}

void watt_show_process(struct seq_file *file, const struct watt_process *process, pid_t pid,
		       const struct watt_state *state, u64 window_ns)
{
	seq_printf(file, "pid=%d ", pid);
	show_amount(file, "energy", state->energy, " ");
	seq_printf(file, "alive=%d kernel=%d ", state->is_alive, process->is_kernel);
	show_counts(file, &state->counts);
	if (window_ns)
		seq_printf(file, "window_time=%llu ", window_ns);
	seq_puts(file, "comm=");
	show_comm(file, process->comm);
}

// SPDX-License-Identifier: GPL-2.0-only
#include "stat.h"

#include <linux/atomic.h>
#include <linux/seq_file.h>
#include <linux/timekeeping.h>

#include "instructions.h"
#include "ledger.h"
#include "pause.h"
#include "process.h"
#include "publish.h"
#include "rapl.h"
#include "sample.h"
#include "usage.h"

static atomic64_t reader_max_ns = ATOMIC64_INIT(0);

void watt_stat_add_section(u64 time_ns)
{
	s64 most = atomic64_read(&reader_max_ns);

	while (most < (s64)time_ns && !atomic64_try_cmpxchg(&reader_max_ns, &most, time_ns))
		;
}

int watt_stat_show(struct seq_file *file, void *unused)
{
	struct watt_sampler_stat stat = watt_sampler_get_stat();

	seq_printf(file, "running_ns=%llu\n", ktime_get_ns() - stat.began_ns);
	seq_printf(file, "samples=%llu\n", stat.n_samples);
	seq_printf(file, "samples_missed=%llu\n", stat.n_missed);
	seq_printf(file, "windows=%llu\n", watt_publish_window());
	seq_printf(file, "late_max_ns=%llu\n", stat.late_max_ns);
	seq_printf(file, "pass_sum_ns=%llu\n", stat.pass_sum_ns);
	seq_printf(file, "pass_max_ns=%llu\n", stat.pass_max_ns);
	seq_printf(file, "section_max_ns=%llu\n", watt_pause_section_max_ns());
	seq_printf(file, "reader_section_max_ns=%lld\n", atomic64_read(&reader_max_ns));
	seq_printf(file, "thread_cpu_ns=%llu\n", stat.cpu_ns);
	seq_printf(file, "processes=%u\n", watt_processes_count());
	seq_printf(file, "processes_refused=%llu\n", watt_processes_refused());
	seq_printf(file, "ends_missed=%llu\n", watt_processes_missed());
	seq_printf(file, "times_held=%llu\n", watt_usage_n_held());
	seq_printf(file, "moves_halfway=%llu\n", watt_usage_n_halfway());
	seq_printf(file, "instructions_disbelieved=%llu\n", watt_instructions_n_disbelieved());
	seq_printf(file, "rapl_errors=%llu\n", watt_rapl_n_errors());
	seq_printf(file, "rapl_resets=%llu\n", watt_rapl_n_resets());
	seq_printf(file, "idle_power_uw=%llu\n", watt_ledger_idle_uw());
	seq_printf(file, "checks=%llu\n", watt_ledger_n_checks());
	seq_printf(file, "check_failures=%llu\n", watt_ledger_n_failures());
	return 0;
}

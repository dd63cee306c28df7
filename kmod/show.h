/* SPDX-License-Identifier: GPL-2.0-only */
/* The lines that people and programs read; doc: energy_proc(5). */
#ifndef WATTRIBUTE_SHOW_H
#define WATTRIBUTE_SHOW_H

#include <linux/types.h>

struct seq_file;
struct watt_process;
struct watt_state;
struct watt_window;

/* One key=value per line: the window, what RAPL counted, and what no line of a process has. */
void watt_show_header(struct seq_file *file, const struct watt_window *window);
/* The whole machine, as a process with pid 0. */
void watt_show_system(struct seq_file *file, const struct watt_window *window);
/* window_ns 0: without window_time= */
void watt_show_process(struct seq_file *file, const struct watt_process *process, pid_t pid,
		       const struct watt_state *state, u64 window_ns);

#endif

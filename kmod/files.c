// SPDX-License-Identifier: GPL-2.0-only
/*
 * The files. Each read goes on where the one before ended: the position is the number of a record,
 * and nothing is kept but the window that the file shows.
 */
#include "files.h"

#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/proc_fs.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

#include "publish.h"
#include "rapl.h"
#include "show.h"
#include "stat.h"
#include "unit.h"
#include "view.h"

/* Processes that a reader passes before others may run. */
#define PASSED_MAX 128

/* An open file. */
struct reader {
	struct watt_view view;
	u64 window;
	unsigned int n_passed; /* processes, shown or not */
	u64 section_ns;        /* when RCU was locked */
	u64 rapl_nj[];         /* as watt_window.rapl_nj */
};

static struct proc_dir_entry *proc_dir;
static struct dentry *debug_dir;

/* Positions: the header, then the number of a record + 1. */
static void *find(loff_t *pos)
{
	struct watt_process *process;
	unsigned long number;

	if (!*pos)
		return SEQ_START_TOKEN;
	number = *pos - 1;
	process = watt_process_next(&number);
	if (process)
		*pos = number + 1;
	return process;
}

static void begin_section(struct reader *reader) __acquires(RCU)
{
	rcu_read_lock();
	reader->section_ns = ktime_get_ns();
}

static void end_section(struct reader *reader) __releases(RCU)
{
	watt_stat_add_section(ktime_get_ns() - reader->section_ns);
	rcu_read_unlock();
}

static void *all_start(struct seq_file *file, loff_t *pos) __acquires(RCU)
{
	struct reader *reader = file->private;

	if (!*pos)
		reader->window = watt_publish_window();
	begin_section(reader);
	return find(pos);
}

/* Who sees few of them walks over the others in one read, and must not keep RCU for so long. */
static void *all_next(struct seq_file *file, void *item, loff_t *pos)
{
	struct reader *reader = file->private;

	++*pos;
	if (++reader->n_passed % PASSED_MAX == 0) {
		end_section(reader);
		cond_resched();
		begin_section(reader);
	}
	return find(pos);
}

static void all_stop(struct seq_file *file, void *item) __releases(RCU)
{
	end_section(file->private);
}

static int show_machine(struct seq_file *file)
{
	struct reader *reader = file->private;
	struct watt_window window;

	watt_publish_get(&reader->window, &window, reader->rapl_nj);
	watt_show_header(file, &window);
	watt_show_system(file, &window);
	return 0;
}

static int all_show(struct seq_file *file, void *item)
{
	struct reader *reader = file->private;
	const struct watt_process *process = item;
	struct watt_state state, before;
	pid_t pid;

	if (item == SEQ_START_TOKEN)
		return show_machine(file);
	pid = watt_view_pid(&reader->view, process);
	if (pid && watt_publish_get_process(process, &reader->window, &state, &before))
		watt_show_process(file, process, pid, &state, 0);
	return 0;
}

/* What it used in the window alone. */
static void subtract(struct watt_state *state, const struct watt_state *before)
{
	state->energy = watt_amount_sub(state->energy, &before->energy);
	state->counts.cpu_ns -= before->counts.cpu_ns;
	state->counts.instructions -= before->counts.instructions;
	state->counts.wakeups -= before->counts.wakeups;
	state->counts.disk_read_bytes -= before->counts.disk_read_bytes;
	state->counts.disk_write_bytes -= before->counts.disk_write_bytes;
	state->counts.rx_packets -= before->counts.rx_packets;
	state->counts.tx_packets -= before->counts.tx_packets;
}

static bool is_worth_a_line(const struct watt_state *state)
{
	return state->is_alive || state->counts.cpu_ns || state->energy.whole ||
	       state->energy.milli;
}

static int cgroup_show(struct seq_file *file, void *item)
{
	struct reader *reader = file->private;
	const struct watt_process *process = item;
	struct watt_state state, before;
	struct watt_window window;
	pid_t pid;

	if (item == SEQ_START_TOKEN)
		return 0;
	pid = watt_view_pid(&reader->view, process);
	if (!pid || !watt_publish_get_process(process, &reader->window, &state, &before))
		return 0;
	subtract(&state, &before);
	if (!is_worth_a_line(&state))
		return 0;
	watt_publish_get(&reader->window, &window, NULL);
	watt_show_process(file, process, pid, &state, window.end_ns);
	return 0;
}

static const struct seq_operations all_ops = {
	.start = all_start,
	.next = all_next,
	.stop = all_stop,
	.show = all_show,
};

static const struct seq_operations cgroup_ops = {
	.start = all_start,
	.next = all_next,
	.stop = all_stop,
	.show = cgroup_show,
};

/* The header and the whole machine alone. */
static void *sys_start(struct seq_file *file, loff_t *pos)
{
	struct reader *reader = file->private;

	if (!*pos)
		reader->window = watt_publish_window();
	return *pos ? NULL : SEQ_START_TOKEN;
}

static void *sys_next(struct seq_file *file, void *item, loff_t *pos)
{
	++*pos;
	return NULL;
}

static void sys_stop(struct seq_file *file, void *item)
{
}

static int sys_show(struct seq_file *file, void *item)
{
	return show_machine(file);
}

static const struct seq_operations sys_ops = {
	.start = sys_start,
	.next = sys_next,
	.stop = sys_stop,
	.show = sys_show,
};

static int open_view(struct file *file, const struct seq_operations *ops, bool is_all)
{
	size_t size = struct_size((struct reader *)NULL, rapl_nj,
				  (size_t)watt_units_count() * WATT_RAPL_N);
	struct watt_view view;
	struct reader *reader;
	int r;

	r = is_all ? watt_view_open_all(&view) : watt_view_open_cgroup(file, &view);
	if (r)
		return r;
	reader = __seq_open_private(file, ops, size);
	if (!reader) {
		watt_view_close(&view);
		return -ENOMEM;
	}
	reader->view = view;
	return 0;
}

static int release_view(struct inode *inode, struct file *file)
{
	struct seq_file *seq = file->private_data;
	struct reader *reader = seq->private;

	watt_view_close(&reader->view);
	return seq_release_private(inode, file);
}

static int all_open(struct inode *inode, struct file *file)
{
	return open_view(file, &all_ops, true);
}

static int sys_open(struct inode *inode, struct file *file)
{
	return open_view(file, &sys_ops, true);
}

static int cgroup_open(struct inode *inode, struct file *file)
{
	return open_view(file, &cgroup_ops, false);
}

static int stat_open(struct inode *inode, struct file *file)
{
	struct watt_view view;
	int r;

	r = watt_view_open_all(&view);
	if (r)
		return r;
	watt_view_close(&view);
	return single_open(file, watt_stat_show, NULL);
}

static const struct proc_ops proc_all_ops = {
	.proc_open = all_open,
	.proc_read_iter = seq_read_iter,
	.proc_lseek = seq_lseek,
	.proc_release = release_view,
};

static const struct proc_ops proc_cgroup_ops = {
	.proc_open = cgroup_open,
	.proc_read_iter = seq_read_iter,
	.proc_lseek = seq_lseek,
	.proc_release = release_view,
};

static const struct file_operations debug_all_ops = {
	.owner = THIS_MODULE,
	.open = all_open,
	.read = seq_read,
	.llseek = seq_lseek,
	.release = release_view,
};

static const struct file_operations debug_sys_ops = {
	.owner = THIS_MODULE,
	.open = sys_open,
	.read = seq_read,
	.llseek = seq_lseek,
	.release = release_view,
};

static const struct file_operations debug_stat_ops = {
	.owner = THIS_MODULE,
	.open = stat_open,
	.read = seq_read,
	.llseek = seq_lseek,
	.release = single_release,
};

int watt_files_init(void)
{
	proc_dir = proc_mkdir("energy", NULL);
	if (!proc_dir)
		return -ENOMEM;
	if (!proc_create("all", 0400, proc_dir, &proc_all_ops) ||
	    !proc_create("cgroup", 0444, proc_dir, &proc_cgroup_ops)) {
		proc_remove(proc_dir);
		return -ENOMEM;
	}
	/* A kernel without debugfs has it all in /proc but the figures about the module itself. */
	debug_dir = debugfs_create_dir("energy", NULL);
	debugfs_create_file("all", 0444, debug_dir, NULL, &debug_all_ops);
	debugfs_create_file("sys", 0444, debug_dir, NULL, &debug_sys_ops);
	debugfs_create_file("stat", 0444, debug_dir, NULL, &debug_stat_ops);
	return 0;
}

void watt_files_done(void)
{
	debugfs_remove(debug_dir);
	proc_remove(proc_dir);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * The file `truth`: one instant of the account, copied whole when the file is opened.
 */
#include <linux/debugfs.h>
#include <linux/mm.h>
#include <linux/seq_file.h>

#include "core.h"
#include "truth_account.h"

struct snapshot {
	u64 t_ns;
	struct sim_account account;
	u64 n_overflows;
	unsigned int n_threads;
	unsigned int n_rows, n_rows_max;
	struct sim_process rows[];
};

static void add_row(struct snapshot *snapshot, const struct sim_process *process)
{
	snapshot->rows[snapshot->n_rows++] = *process;
}

/* False: there is not enough room; how much it takes is in n_rows_max then. */
static bool fill(struct snapshot *snapshot)
{
	struct sim_process *process = NULL;
	unsigned long flags;
	bool fits;

	sim_truth_lock(&flags);
	fits = sim_table.n_processes + 2 <= snapshot->n_rows_max;
	if (!fits) {
		snapshot->n_rows_max = sim_table.n_processes + 64;
	} else if (sim_account.is_on) {
		snapshot->account = sim_account;
		snapshot->t_ns = sim_account.settled_ns;
		snapshot->n_overflows = sim_table.n_overflows;
		snapshot->n_threads = sim_table.n_threads;
		while ((process = sim_table_next(process)))
			add_row(snapshot, process);
		add_row(snapshot, &sim_table.forgotten);
		add_row(snapshot, &sim_table.overflow);
	}
	sim_truth_unlock(flags);
	return fits;
}

/* With the simulator's mutex held, so that the truth is not stopped meanwhile. */
static int take_snapshot(struct snapshot **ret)
{
	unsigned int n_rows_max = 64;
	struct snapshot *snapshot;

	if (!sim_account.is_on)
		return -ENODATA;
	sim_truth_settle();
	for (;;) {
		snapshot = kvzalloc(struct_size(snapshot, rows, n_rows_max), GFP_KERNEL);
		if (!snapshot)
			return -ENOMEM;
		snapshot->n_rows_max = n_rows_max;
		if (fill(snapshot))
			break;
		n_rows_max = snapshot->n_rows_max;
		kvfree(snapshot);
	}
	*ret = snapshot;
	return 0;
}

static void show_head(struct seq_file *file, const struct snapshot *snapshot)
{
	const struct sim_account *account = &snapshot->account;
	unsigned int i;

	seq_printf(file, "# time_ns %llu start_ns %llu switches %llu strangers %llu overflows %llu",
		   snapshot->t_ns, account->start_ns, account->n_switches, account->n_strangers,
		   snapshot->n_overflows);
	seq_printf(file, " threads %u processes %u\n", snapshot->n_threads, snapshot->n_rows - 2);
	for (i = 0; i < account->n_packages; i++) {
		const struct sim_package *package = &account->packages[i];

		seq_printf(file, "package %d %llu.%06u idle %llu.%06u\n", package->id,
			   package->total.nj, package->total.fj, package->idle.nj,
			   package->idle.fj);
	}
}

static void show_row(struct seq_file *file, const struct snapshot *snapshot,
		     const struct sim_process *row)
{
	unsigned int i;

	if (row->pid)
		seq_printf(file, "process %d %llu %s", row->pid, row->start_ns,
			   row->n_threads ? "alive" : "dead");
	else
		seq_printf(file, "%s - - -", row->comm);
	seq_printf(file, " %llu", row->run_ns);
	for (i = 0; i < snapshot->account.n_packages; i++)
		seq_printf(file, " %llu.%06u", row->energy[i].nj, row->energy[i].fj);
	if (row->pid) {
		seq_putc(file, ' ');
		seq_escape(file, row->comm, "\n\\");
	}
	seq_putc(file, '\n');
}

/* Position 0 is the head, position n the row n - 1. */
static void *truth_start(struct seq_file *file, loff_t *position)
{
	const struct snapshot *snapshot = file->private;

	return *position <= snapshot->n_rows ? position : NULL;
}

static void *truth_next(struct seq_file *file, void *unused, loff_t *position)
{
	++*position;
	return truth_start(file, position);
}

static void truth_stop(struct seq_file *file, void *unused)
{
}

static int truth_show(struct seq_file *file, void *element)
{
	const struct snapshot *snapshot = file->private;
	loff_t position = *(loff_t *)element;

	if (position == 0)
		show_head(file, snapshot);
	else
		show_row(file, snapshot, &snapshot->rows[position - 1]);
	return 0;
}

static const struct seq_operations truth_seq_ops = {
	.start = truth_start,
	.next = truth_next,
	.stop = truth_stop,
	.show = truth_show,
};

static int truth_open(struct inode *inode, struct file *file)
{
	struct snapshot *snapshot;
	int r;

	sim_lock();
	r = take_snapshot(&snapshot);
	sim_unlock();
	if (r)
		return r;
	r = seq_open(file, &truth_seq_ops);
	if (r)
		kvfree(snapshot);
	else
		((struct seq_file *)file->private_data)->private = snapshot;
	return r;
}

static int truth_release(struct inode *inode, struct file *file)
{
	kvfree(((struct seq_file *)file->private_data)->private);
	return seq_release(inode, file);
}

static const struct file_operations truth_fops = {
	.owner = THIS_MODULE,
	.open = truth_open,
	.read = seq_read,
	.llseek = seq_lseek,
	.release = truth_release,
};

int sim_truth_show_init(struct dentry *dir)
{
	return PTR_ERR_OR_ZERO(debugfs_create_file("truth", 0400, dir, NULL, &truth_fops));
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * The file `control`: one write is one script. It is read whole before anything of it is done, so
 * that a script with a bad line does nothing.
 */
#include <linux/debugfs.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "core.h"

#define SCRIPT_MAX_BYTES 65536
#define COMMANDS_MAX 512

int sim_command_run(const struct sim_command *command)
{
	sim_error_line(command->line);
	return command->verb->run(command->target, command->values);
}

/* Returns how many commands there are. */
static int parse_script(char *text, struct sim_command *commands)
{
	unsigned int line = 0;
	int n = 0, r;
	char *next;

	while ((next = strsep(&text, "\n"))) {
		sim_error_line(++line);
		r = sim_parse_line(next, &commands[n]);
		if (r < 0)
			return r;
		if (r && n == COMMANDS_MAX)
			return sim_fail(-E2BIG, "a script may have %d commands", COMMANDS_MAX);
		commands[n].line = line;
		n += r;
	}
	return n;
}

static int run_script(char *text, struct sim_command *commands)
{
	int n, i, r = 0;

	n = parse_script(text, commands);
	if (n < 0)
		return n;
	for (i = 0; i < n && !r; i++) {
		sim_error_line(commands[i].line);
		r = commands[i].delay_ms ? sim_schedule_add(&commands[i]) :
					   sim_command_run(&commands[i]);
	}
	return r;
}

static ssize_t control_write(struct file *file, const char __user *user, size_t size,
			     loff_t *offset)
{
	struct sim_command *commands;
	char *text;
	int r;

	if (size > SCRIPT_MAX_BYTES)
		return -E2BIG;
	text = memdup_user_nul(user, size);
	if (IS_ERR(text))
		return PTR_ERR(text);
	commands = kvmalloc_array(COMMANDS_MAX + 1, sizeof(*commands), GFP_KERNEL);
	if (!commands) {
		kfree(text);
		return -ENOMEM;
	}
	sim_lock();
	sim_error_clear();
	sim_error_line(1);
	r = strlen(text) == size ? run_script(text, commands) :
				   sim_fail(-EINVAL, "a script has no NUL bytes");
	sim_unlock();
	kvfree(commands);
	kfree(text);
	return r ?: (ssize_t)size;
}

static int control_show(struct seq_file *file, void *unused)
{
	seq_puts(file, "# [at MS] COMMAND, one a line; the file 'error' says what was wrong\n");
	sim_lock();
	sim_nouns_help(file);
	sim_unlock();
	return 0;
}

static int control_open(struct inode *inode, struct file *file)
{
	return single_open(file, control_show, NULL);
}

static const struct file_operations control_fops = {
	.owner = THIS_MODULE,
	.open = control_open,
	.read = seq_read,
	.write = control_write,
	.llseek = seq_lseek,
	.release = single_release,
};

#define SHOW_FILE(name, show) \
	static int name##_open(struct inode *inode, struct file *file) \
	{ \
		return single_open(file, show, NULL); \
	} \
	static const struct file_operations name##_fops = { \
		.owner = THIS_MODULE, \
		.open = name##_open, \
		.read = seq_read, \
		.llseek = seq_lseek, \
		.release = single_release, \
	}

SHOW_FILE(error, sim_error_show);
SHOW_FILE(state, sim_nouns_show);

int sim_script_init(struct dentry *dir)
{
	static const struct {
		const char *name;
		umode_t mode;
		const struct file_operations *fops;
	} files[] = {
		{ "control", 0600, &control_fops },
		{ "error", 0400, &error_fops },
		{ "state", 0400, &state_fops },
	};
	struct dentry *entry;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(files); i++) {
		entry = debugfs_create_file(files[i].name, files[i].mode, dir, NULL, files[i].fops);
		if (IS_ERR(entry))
			return PTR_ERR(entry);
	}
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * The last message about a script: a write can return a number only.
 */
#include <linux/kernel.h>
#include <linux/stdarg.h>

#include "core.h"

static char message[256];
static unsigned int message_line;

void sim_error_line(unsigned int line)
{
	message_line = line;
}

void sim_error_clear(void)
{
	message[0] = '\0';
}

int sim_fail(int error, const char *format, ...)
{
	char text[200];
	va_list args;

	va_start(args, format);
	vscnprintf(text, sizeof(text), format, args);
	va_end(args);
	scnprintf(message, sizeof(message), "line %u: %s", message_line, text);
	return error;
}
EXPORT_SYMBOL_GPL(sim_fail);

int sim_error_show(struct seq_file *file, void *unused)
{
	sim_lock();
	if (message[0])
		seq_printf(file, "%s\n", message);
	sim_unlock();
	return 0;
}

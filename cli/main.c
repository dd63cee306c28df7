/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command `wattribute`: finds the subcommand in a table and runs it. Everything it knows of
 * energy comes through the public headers of libwattribute; it proves that they are enough.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <wattribute/types.h>

#include "command.h"
#include "child.h"
#include "file_limit.h"
#include "message.h"
#include "status.h"
#include "text.h"
#include "xalloc.h"

static const struct command commands[] = {
	{ "top", cmd_top, "where the watts go, live" },
	{ "stat", cmd_stat, "the energy of a command and all its descendants" },
	{ "record", cmd_record, "keep every sample in a file, to look at it later" },
	{ "replay", cmd_replay, "a recording attributed again, as it was or otherwise" },
	{ "report", cmd_report, "what is in a recording: a summary, or a page with charts" },
	{ "export", cmd_export, "a recording for other tools: CSV, JSON, Perfetto, ..." },
	{ "plot", cmd_plot, "a picture of a recording: power over time" },
	{ "learn", cmd_learn, "which program takes how many watts, to look at or to keep" },
	{ "mark", cmd_mark, "name the phase that a measured program is in" },
	{ "agent", cmd_agent, "a service: watts per process, container and pod for Prometheus" },
	{ "sources", cmd_sources, "the domain tree and every channel that can be read" },
	{ "board", cmd_board, "a Jetson's rails, their speed, and a file for a new board" },
	{ "doctor", cmd_doctor, "what can be measured on this machine, and why not more" },
	{ "calibrate", cmd_calibrate, "what the sensors of GPUs do, measured" },
	{ "capture", cmd_capture, "the machine as a file, for a bug report or a test" },
};

static void print_help(FILE *out)
{
	size_t i;

	fputs("Usage: wattribute COMMAND [OPTION...]\n"
	      "Where did every joule go? Measures the energy of this machine and attributes it\n"
	      "to the processes, containers, units and users that used it.\n\n"
	      "Commands:\n",
	      out);
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		fprintf(out, "  %-9s %s\n", commands[i].name, commands[i].summary);
	fputs("  help      this text, or the manual page of a command\n"
	      "Each has its own --help; wattribute itself has --version, too.\n\n"
	      "Begin with 'wattribute doctor', then 'wattribute top' or 'stat -- COMMAND'.\n",
	      out);
}

static const struct command *find(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(commands); i++)
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	return NULL;
}

/* How many letters to insert, drop or change to get from a to b (short words). */
static size_t distance(const char *a, const char *b)
{
	size_t row[32], n = strlen(b), i, j;

	if (n >= ARRAY_SIZE(row))
		return n;
	for (j = 0; j <= n; j++)
		row[j] = j;
	for (i = 1; a[i - 1]; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (j = 1; j <= n; j++) {
			size_t change = diagonal + (a[i - 1] != b[j - 1]);

			diagonal = row[j];
			row[j] = row[j] < row[j - 1] ? row[j] + 1 : row[j - 1] + 1;
			if (change < row[j])
				row[j] = change;
		}
	}
	return row[n];
}

static int complain_unknown(const char *name)
{
	size_t i, best = 0;

	for (i = 1; i < ARRAY_SIZE(commands); i++)
		if (distance(name, commands[i].name) < distance(name, commands[best].name))
			best = i;
	if (*name == '-')
		return message_usage("unknown option '%s'", name);
	if (distance(name, commands[best].name) <= 2)
		return message_usage("no command '%s'; did you mean '%s'?", name,
				     commands[best].name);
	return message_usage("no command '%s'", name);
}

/* A full disk must not look like success. */
static int finish(int status)
{
	if ((fflush(stdout) == 0 && !ferror(stdout)) || status != STATUS_OK)
		return status;
	message_error("cannot write the output: %s", strerror(errno));
	return STATUS_FAILURE;
}

static int run(const struct command *command, int argc, char **argv)
{
	auto_free char *name = xasprintf("wattribute %s", command->name);
	int status;

	message_set_name(name);
	child_keep_inheritance();
	file_limit_raise();
	status = command->fn(argc, argv);
	return finish(status);
}

/* Shows a manual page; false if that can't be done. */
static bool show_page(const char *page)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		/* That there is no page is said by what is shown instead. */
		if (freopen("/dev/null", "w", stderr))
			execlp("man", "man", page, (char *)NULL);
		_exit(STATUS_NOT_FOUND);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

static int help(int argc, char **argv)
{
	const struct command *command;
	char page[64], option[] = "--help";
	char *own[] = { argv[1], option, NULL };

	if (argc < 2) {
		print_help(stdout);
		return STATUS_OK;
	}
	command = find(argv[1]);
	if (!command)
		return complain_unknown(argv[1]);
	snprintf(page, sizeof(page), "wattribute-%s", command->name);
	if (isatty(STDOUT_FILENO) && show_page(page))
		return STATUS_OK;
	return run(command, 2, own);
}

int main(int argc, char **argv)
{
	const struct command *command;

	text_init();
	if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
		print_help(stdout);
		return finish(STATUS_OK);
	}
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
		printf("wattribute %s\n", watt_version());
		return finish(STATUS_OK);
	}
	if (strcmp(argv[1], "help") == 0)
		return finish(help(argc - 1, argv + 1));
	command = find(argv[1]);
	if (!command)
		return complain_unknown(argv[1]);
	return run(command, argc - 1, argv + 1);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `wattribute capture`: the machine as a file, for a bug report or a test. What is taken is the
 * library's to know.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <wattribute/capture.h>

#include "command.h"
#include "message.h"
#include "options.h"
#include "status.h"
#include "xalloc.h"

static const char help_text[] =
	"Usage: wattribute capture -o FILE [OPTION...]\n"
	"Writes what the sensors and CPUs of this machine show now into one file, for a\n"
	"bug report or a test. Every command takes it in place of the machine, by\n"
	"--machine=FILE.\n\n"
	"It has no serial number, no name of a host or user, and no process, unless:\n"
	"  -o, --output=FILE  the archive: .tar.zst, .tar.gz or .tar\n"
	"      --with=LIST    these, too: processes, commands (processes with their\n"
	"                     command lines), host, serials or all\n"
	"      --machine=FILE, --sysfs-root=DIR, --procfs-root=DIR\n"
	"                     take what is there, and not this machine\n"
	"  -v, --verbose, -h, --help\n"
	"\nExample: wattribute capture -o machine.tar.zst\n"
	"         wattribute sources --machine=machine.tar.zst\n";

static const struct {
	const char *name;
	uint32_t flags;
} extras[] = {
	{ "processes", WATT_CAPTURE_PROCESSES },
	{ "commands", WATT_CAPTURE_PROCESSES | WATT_CAPTURE_COMMANDS },
	{ "host", WATT_CAPTURE_HOST },
	{ "serials", WATT_CAPTURE_SERIALS },
	{ "all", WATT_CAPTURE_PROCESSES | WATT_CAPTURE_COMMANDS | WATT_CAPTURE_HOST |
			 WATT_CAPTURE_SERIALS },
};

struct wish {
	const char *path;
	uint32_t flags;
};

enum {
	OPT_WITH = OPTIONS_OWN,
};

static int take_with(struct wish *wish, const char *list)
{
	auto_free char *copy = xstrdup(list);
	char *rest = copy, *word;
	size_t i;

	while ((word = strsep(&rest, ","))) {
		for (i = 0; i < ARRAY_SIZE(extras) && strcmp(extras[i].name, word); i++)
			;
		if (i == ARRAY_SIZE(extras))
			return options_bad_value(
				"--with", word,
				"one of processes, commands, host, serials and all");
		wish->flags |= extras[i].flags;
	}
	return 0;
}

static int take_own(void *data, int code)
{
	struct wish *wish = data;

	if (code == OPT_WITH)
		return take_with(wish, optarg);
	wish->path = optarg;
	return 0;
}

static int capture(const struct options *opts, const struct wish *wish)
{
	struct watt_capture result = { .sz = sizeof(result) };
	int r = watt_capture_write(opts->session, wish->path, wish->flags, &result);

	if (r < 0)
		return r == -EINVAL || r == -ENOENT ? STATUS_USAGE : STATUS_FAILURE;
	message_note("%s: %llu files and %llu links", wish->path,
		     (unsigned long long)result.n_files, (unsigned long long)result.n_links);
	if (result.n_forbidden)
		message_note("%llu files may not be read by this user: root would add them",
			     (unsigned long long)result.n_forbidden);
	return STATUS_OK;
}

int cmd_capture(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "output", required_argument, NULL, 'o' },
		{ "with", required_argument, NULL, OPT_WITH },
		{ "machine", required_argument, NULL, OPTIONS_SESSION },
		{ "sysfs-root", required_argument, NULL, OPTIONS_SESSION },
		{ "procfs-root", required_argument, NULL, OPTIONS_SESSION },
		OPTIONS_SELF_LONG,
	};
	struct options opts = { 0 };
	struct wish wish = { 0 };

	if (options_take(&opts, argc, argv, ":o:" OPTIONS_SHORT, longs, take_own, &wish) < 0 ||
	    options_finish(&opts, argc, argv) < 0)
		return STATUS_USAGE;
	if (opts.is_help) {
		fputs(help_text, stdout);
		return STATUS_OK;
	}
	if (!wish.path) {
		message_usage("where to? give the file by -o machine.tar.zst");
		return STATUS_USAGE;
	}
	return capture(&opts, &wish);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent: measures one machine for as long as it runs, and serves what it finds. It is a
 * program of its own, run by `wattribute agent`, so that the command needs no server's libraries.
 */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "file_limit.h"
#include "message.h"
#include "monitor.h"
#include "push.h"
#include "rights.h"
#include "server.h"
#include "settings.h"
#include "status.h"
#include "text.h"
#include "xalloc.h"

#define SYSTEM_FILE "/etc/wattribute/agent.yaml"
#define NS_PER_S 1000000000ULL

static const char help_text[] =
	"Usage: wattribute agent [OPTION...]\n"
	"Measures this machine for as long as it runs, and serves watts and joules per\n"
	"process, container, pod, unit and user to Prometheus.\n\n"
	"  --settings=FILE       settings to begin with; else of a user\n"
	"                        ~/.config/wattribute/agent.yaml, then\n"
	"                        " SYSTEM_FILE ", where they are there\n"
	"  --print-config        print all settings as such a file, and where each comes\n"
	"                        from\n"
	"  --check-config        read all settings, say what is wrong, and end\n"
	"  -h, --help            this text\n\n"
	"Settings, each also a line 'name: value' of the file, with '_' for '-', or a\n"
	"variable WATTRIBUTE_NAME of the environment; flags win over variables, variables\n"
	"over the file:\n";

enum code {
	CODE_SETTINGS = 256,
	CODE_PRINT,
	CODE_CHECK,
	CODE_SETTING, /* and the id */
};

struct flags {
	const char *file;
	const char *values[SETTING_N]; /* NULL: not given */
	bool is_help, is_print, is_check;
};

/* ---- settings ---- */

/* The names of the table as flags; the caller frees each name that it did not give. */
static void fill_longs(struct option *longs)
{
	int id;

	longs[0] = (struct option){ "settings", required_argument, NULL, CODE_SETTINGS };
	longs[1] = (struct option){ "print-config", no_argument, NULL, CODE_PRINT };
	longs[2] = (struct option){ "check-config", no_argument, NULL, CODE_CHECK };
	longs[3] = (struct option){ "help", no_argument, NULL, 'h' };
	for (id = 0; id < SETTING_N; id++) {
		char *name = xstrdup(setting_get((enum setting_id)id)->name), *p;

		for (p = name; *p; p++)
			*p = *p == '_' ? '-' : *p;
		longs[4 + id] = (struct option){ name, required_argument, NULL, CODE_SETTING + id };
	}
	longs[4 + SETTING_N] = (struct option){ 0 };
}

static int take_flags(struct flags *flags, int argc, char **argv)
{
	struct option longs[5 + SETTING_N];
	int code, id, r = 0;

	fill_longs(longs);
	while (r == 0 && (code = getopt_long(argc, argv, ":h", longs, NULL)) != -1) {
		if (code >= CODE_SETTING)
			flags->values[code - CODE_SETTING] = optarg;
		else if (code == CODE_SETTINGS)
			flags->file = optarg;
		else if (code == CODE_PRINT)
			flags->is_print = true;
		else if (code == CODE_CHECK)
			flags->is_check = true;
		else if (code == 'h')
			flags->is_help = true;
		else
			r = message_usage(code == ':' ? "option '%s' needs a value" :
							"no option '%s', or it takes no value",
					  argv[optind - 1]);
	}
	if (r == 0 && optind < argc)
		r = message_usage("unexpected '%s'", argv[optind]);
	for (id = 0; id < SETTING_N; id++)
		free((char *)longs[4 + id].name);
	return r;
}

/* Where a user keeps settings, as the XDG Base Directory Specification has it. */
static bool find_own_file(char *buf, size_t size)
{
	const char *config = secure_getenv("XDG_CONFIG_HOME"), *home = secure_getenv("HOME");
	int n = 0;

	if (config && config[0] == '/')
		n = snprintf(buf, size, "%s/wattribute/agent.yaml", config);
	else if (home && home[0] == '/')
		n = snprintf(buf, size, "%s/.config/wattribute/agent.yaml", home);
	/* A home that can't be looked into is somebody else's. */
	return n > 0 && (size_t)n < size && access(buf, F_OK) == 0;
}

/* The file that was named, or the first that is in its usual place. A service has no home. */
static int take_file(struct settings *settings, const char *file)
{
	char path[PATH_MAX];

	if (file)
		return settings_take_file(settings, file);
	if (geteuid() != 0 && find_own_file(path, sizeof(path)))
		return settings_take_file(settings, path);
	if (access(SYSTEM_FILE, F_OK) < 0 && errno == ENOENT)
		return 0;
	return settings_take_file(settings, SYSTEM_FILE);
}

/* The default, the file, the environment, the flags. */
static int read_settings(struct settings *settings, const struct flags *flags)
{
	int id, r;

	r = take_file(settings, flags->file);
	if (r == 0)
		r = settings_take_environment(settings, (const char *const *)environ);
	for (id = 0; id < SETTING_N && r == 0; id++)
		if (flags->values[id])
			r = settings_take(settings, (enum setting_id)id, flags->values[id], "flag");
	return r < 0 ? r : settings_check(settings);
}

/* ---- running ---- */

/* The signal that came before a time, or 0. */
static int wait_until(const sigset_t *signals, uint64_t t_ns)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC), left_ns = t_ns > now ? t_ns - now : 0;
	struct timespec left = { (time_t)(left_ns / NS_PER_S), (long)(left_ns % NS_PER_S) };
	int signal = sigtimedwait(signals, NULL, &left);

	return signal < 0 ? 0 : signal;
}

/* Other settings, as far as they can change while it runs; wrong ones change nothing. */
static void reload(struct monitor *monitor, struct server *server, struct settings *settings,
		   const struct flags *flags)
{
	struct settings fresh;

	settings_init(&fresh);
	if (read_settings(&fresh, flags) < 0) {
		message_error("%s; the settings stay as they were", fresh.error);
		settings_done(&fresh);
		return;
	}
	settings_done(settings);
	*settings = fresh;
	monitor_set(monitor, settings);
	server_reload(server, settings);
	message_note("settings read again");
}

static int run(struct monitor *monitor, struct server *server, struct settings *settings,
	       const struct flags *flags, const sigset_t *signals)
{
	uint64_t next_ns = clock_ns(CLOCK_MONOTONIC);
	int signal, r;

	for (;;) {
		next_ns += settings_number(settings, SETTING_INTERVAL);
		/* After a time asleep it does not catch up. */
		if (next_ns < clock_ns(CLOCK_MONOTONIC))
			next_ns = clock_ns(CLOCK_MONOTONIC);
		while ((signal = wait_until(signals, next_ns))) {
			if (signal != SIGHUP)
				return 0;
			reload(monitor, server, settings, flags);
		}
		r = monitor_refresh(monitor);
		if (r < 0 && r != -EOVERFLOW) {
			message_error("cannot measure: %s", strerror(-r));
			return r;
		}
	}
}

/* A list that can't be read is told of when the server opens. */
static bool has_low_port(const struct settings *settings)
{
	union address addresses[ADDRESSES_MAX];
	char error[256];
	int n = addresses_parse(settings_text(settings, SETTING_LISTEN), addresses, error,
				sizeof(error));

	for (; n > 0; n--)
		if (address_port(&addresses[n - 1]) < 1024 && address_port(&addresses[n - 1]))
			return true;
	return false;
}

static int serve(struct settings *settings, const struct flags *flags, const sigset_t *signals)
{
	struct server server = { 0 };
	struct push *push = NULL;
	struct monitor monitor;
	int r;

	r = monitor_open(&monitor, settings);
	if (r == 0)
		r = monitor_refresh(&monitor);
	if (r == 0)
		r = push_open(&push, &monitor, settings);
	if (r == 0)
		r = server_open(&server, &monitor, settings);
	if (r == 0)
		r = run(&monitor, &server, settings, flags, signals);
	server_close(&server);
	push_close(push);
	monitor_close(&monitor);
	return r;
}

static int act(struct settings *settings, const struct flags *flags, const sigset_t *signals)
{
	if (read_settings(settings, flags) < 0) {
		message_error("%s", settings->error);
		return STATUS_USAGE;
	}
	if (flags->is_print)
		settings_print(settings, stdout);
	if (flags->is_print || flags->is_check)
		return fflush(stdout) == 0 ? STATUS_OK : STATUS_FAILURE;
	message_set_verbosity((int)settings_number(settings, SETTING_LOG_LEVEL));
	if (rights_drop(settings_text_or_null(settings, SETTING_USER), has_low_port(settings)) < 0)
		return STATUS_FAILURE;
	return serve(settings, flags, signals) < 0 ? STATUS_FAILURE : STATUS_OK;
}

/* Before there is any other thread, so that none of them is interrupted. */
static void block_signals(sigset_t *signals)
{
	sigemptyset(signals);
	sigaddset(signals, SIGTERM);
	sigaddset(signals, SIGINT);
	sigaddset(signals, SIGHUP);
	pthread_sigmask(SIG_BLOCK, signals, NULL);
	signal(SIGPIPE, SIG_IGN);
}

int main(int argc, char **argv)
{
	struct flags flags = { 0 };
	struct settings settings;
	sigset_t signals;
	int status;

	/* Or the allocator keeps as much as was ever freed at once: what describes the kernel. */
	mallopt(M_MMAP_THRESHOLD, 128 * 1024);
	text_init();
	message_set_name("wattribute agent");
	file_limit_raise();
	if (take_flags(&flags, argc, argv))
		return STATUS_USAGE;
	if (flags.is_help) {
		fputs(help_text, stdout);
		settings_print_help(stdout);
		return fflush(stdout) == 0 ? STATUS_OK : STATUS_FAILURE;
	}
	block_signals(&signals);
	settings_init(&settings);
	status = act(&settings, &flags, &signals);
	settings_done(&settings);
	return status;
}

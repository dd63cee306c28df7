/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options that all commands have in common: where values come from, how often, in what form.
 */
#ifndef WATT_CLI_OPTIONS_H
#define WATT_CLI_OPTIONS_H

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>

#include <wattribute/session.h>

struct options {
	struct watt_session_opts session; /* strings are those of argv */
	bool is_json;
	bool is_help;
	int verbosity;
};

/* How long a command that needs the set of sensors waits for the slow ones among them. */
#define OPTIONS_OPEN_WAIT_MS 3000u

#define OPTIONS_INIT \
	{ \
		.session = {.sz = sizeof(struct watt_session_opts), .is_driven = 1 } \
	}

/* Codes of the common options; a command's own long options without a letter begin at OWN. */
enum options_code {
	OPTIONS_SYSFS_ROOT = 256,
	OPTIONS_PROCFS_ROOT,
	OPTIONS_NVML_LIB,
	OPTIONS_REDFISH_URL,
	OPTIONS_KUBELET_URL,
	OPTIONS_CONFIG,
	OPTIONS_SOURCES,
	OPTIONS_USAGE,
	OPTIONS_SLICE,
	OPTIONS_PERIOD,
	OPTIONS_JSON,
	OPTIONS_OWN,
};

/* clang-format off */
#define OPTIONS_SHORT "hv"
#define OPTIONS_LONG \
	{ "sysfs-root", required_argument, NULL, OPTIONS_SYSFS_ROOT }, \
	{ "procfs-root", required_argument, NULL, OPTIONS_PROCFS_ROOT }, \
	{ "nvml-lib", required_argument, NULL, OPTIONS_NVML_LIB }, \
	{ "redfish-url", required_argument, NULL, OPTIONS_REDFISH_URL }, \
	{ "kubelet-url", required_argument, NULL, OPTIONS_KUBELET_URL }, \
	{ "config", required_argument, NULL, OPTIONS_CONFIG }, \
	{ "sources", required_argument, NULL, OPTIONS_SOURCES }, \
	{ "usage", required_argument, NULL, OPTIONS_USAGE }, \
	{ "slice", required_argument, NULL, OPTIONS_SLICE }, \
	{ "period", required_argument, NULL, OPTIONS_PERIOD }, \
	{ "json", no_argument, NULL, OPTIONS_JSON }, \
	{ "verbose", no_argument, NULL, 'v' }, \
	{ "help", no_argument, NULL, 'h' }, \
	{ NULL, 0, NULL, 0 }

#define OPTIONS_HELP \
	"Where values come from and how often:\n" \
	"  --sources=LIST, --usage=bpf|procfs, --slice=MS, --period=MS, --config=FILE,\n" \
	"  --sysfs-root=DIR, --procfs-root=DIR, --nvml-lib=FILE, --redfish-url=URL,\n" \
	"  --kubelet-url=URL, -v, --verbose, -h, --help\n"
/* clang-format on */

/*
 * Takes all options that getopt_long() finds by these letters and this table: the common ones and
 * those of policy.h here, others by take_own(data, code), which returns 0, or -EINVAL after a line
 * about a wrong value. Returns the same.
 */
int options_take(struct options *opts, int argc, char **argv, const char *letters,
		 const struct option *longs, int (*take_own)(void *data, int code), void *data);
/* Prints that the value of an option is wrong; returns -EINVAL. */
int options_bad_value(const char *option, const char *value, const char *expected);
/* Prints what getopt_long() did not like; returns -EINVAL. */
int options_complain(char *const *argv);
/* When all options are taken: no word may be left. 0 or -EINVAL, and a line has been printed. */
int options_finish(struct options *opts, int argc, char *const *argv);
/* The same where one word is left, the file of a recording. */
int options_take_recording(struct options *opts, int argc, char *const *argv,
			   const char **ret_path);
/* The same where the words that are left mean something to the command. */
void options_apply(struct options *opts);
/* Takes and finishes the options of a command that has none of its own. 0 or -EINVAL. */
int options_take_all(struct options *opts, int argc, char **argv);
/*
 * Opens a session, and says in one line what failed or what root would add. 0 or a negative
 * errno.
 */
int options_open_session(const struct options *opts, struct watt_session **ret);

#endif

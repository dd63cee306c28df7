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
	struct watt_options *session; /* kept until the program ends; NULL: none were taken yet */
	bool is_elsewhere;            /* processes are not those of this machine */
	bool is_captured;             /* nor is anything else */
	const char *sources;          /* as somebody chose them; NULL: nobody did */
	bool is_json;
	bool is_help;
	int verbosity;
};

/* How long a command that needs the set of sensors waits for the slow ones among them. */
#define OPTIONS_OPEN_WAIT_MS 3000u

/* What is said to those who want something run or watched with --machine. */
#define OPTIONS_CAPTURED_MISTAKE \
	"a captured machine runs nothing: neither a command nor -p goes with " \
	"--machine; 'top' and 'record --for' take it"

/* Codes of the common options; a command's own long options without a letter begin at OWN. */
enum options_code {
	OPTIONS_SESSION = 256, /* the library's, by their names */
	OPTIONS_PRECISE,
	OPTIONS_JSON,
	OPTIONS_OWN,
};

/* clang-format off */
#define OPTIONS_SHORT "hv"
#define OPTIONS_LONG \
	{ "machine", required_argument, NULL, OPTIONS_SESSION }, \
	{ "sysfs-root", required_argument, NULL, OPTIONS_SESSION }, \
	{ "procfs-root", required_argument, NULL, OPTIONS_SESSION }, \
	{ "nvml-lib", required_argument, NULL, OPTIONS_SESSION }, \
	{ "redfish-url", required_argument, NULL, OPTIONS_SESSION }, \
	{ "meter", required_argument, NULL, OPTIONS_SESSION }, \
	{ "redfish-auth", required_argument, NULL, OPTIONS_SESSION }, \
	{ "redfish-tls", required_argument, NULL, OPTIONS_SESSION }, \
	{ "kubelet-url", required_argument, NULL, OPTIONS_SESSION }, \
	{ "kubelet-token", required_argument, NULL, OPTIONS_SESSION }, \
	{ "kubelet-tls", required_argument, NULL, OPTIONS_SESSION }, \
	{ "config", required_argument, NULL, OPTIONS_SESSION }, \
	{ "sources", required_argument, NULL, OPTIONS_SESSION }, \
	{ "usage", required_argument, NULL, OPTIONS_SESSION }, \
	{ "precise", no_argument, NULL, OPTIONS_PRECISE }, \
	{ "slice", required_argument, NULL, OPTIONS_SESSION }, \
	{ "period", required_argument, NULL, OPTIONS_SESSION }, \
	{ "json", no_argument, NULL, OPTIONS_JSON }, \
	OPTIONS_SELF_LONG

/* Of the program itself: all commands have them, and the table ends. */
#define OPTIONS_SELF_LONG \
	{ "verbose", no_argument, NULL, 'v' }, \
	{ "help", no_argument, NULL, 'h' }, \
	{ NULL, 0, NULL, 0 }

/* How energy is attributed: of all commands that do so, live or from a recording. */
#define OPTIONS_POLICY_LONG \
	{ "idle-policy", required_argument, NULL, OPTIONS_SESSION }, \
	{ "share-key", required_argument, NULL, OPTIONS_SESSION }, \
	{ "sensor-delay", required_argument, NULL, OPTIONS_SESSION }, \
	{ "prior", required_argument, NULL, OPTIONS_SESSION }, \
	{ "privacy", required_argument, NULL, OPTIONS_SESSION }

#ifdef WATT_HAVE_KUBELET
#define OPTIONS_KUBELET_HELP "--kubelet-url=URL, --kubelet-token=FILE, --kubelet-tls=TRUST,"
#else
#define OPTIONS_KUBELET_HELP ""
#endif

#define OPTIONS_HELP \
	"Where values come from and how often:\n" \
	"  --sources=LIST, --usage=bpf|procfs, --slice=MS, --period=MS, --config=FILE,\n" \
	"  --sysfs-root=DIR, --procfs-root=DIR, --nvml-lib=FILE, --machine=FILE,\n" \
	"  --redfish-url=URL, --redfish-auth=FILE, --redfish-tls=TRUST, --meter=PLACE,\n" \
	"  " OPTIONS_KUBELET_HELP "\n" \
	"  --precise, -v, --verbose, -h, --help\n"

#define OPTIONS_POLICY_HELP \
	"How energy is attributed, and what is told of whom:\n" \
	"  --idle-policy=separate|proportional|requests, --sensor-delay=CHANNEL=TIME,...\n" \
	"  --share-key=auto|learned|cpu_time|none|..., --prior=PROFILE, --privacy=LEVEL\n"
/* clang-format on */

/*
 * Has the session's options at hand, before the first is taken, so that a command can say what is
 * usual with it.
 */
void options_begin(struct options *opts);
/* Sets one of the library's options. 0; -EINVAL: a line has been printed. */
int options_set(struct options *opts, const char *name, const char *value);
/*
 * Takes all options that getopt_long() finds by these letters and this table: the common ones
 * here, others by take_own(data, code), which returns 0, or -EINVAL after a line
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
 * errno; -EINVAL: it is the options' fault.
 */
int options_open_session(const struct options *opts, struct watt_session **ret);
/* The exit status for a negative errno: whether it is the options' fault. */
int options_status(int error);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Takes the common options. Whether a value makes sense on this machine is the library's word. */
#include "options.h"

#include <errno.h>
#include <string.h>

#include "latecomers.h"
#include "message.h"
#include "number.h"
#include "policy.h"
#include "verdict.h"
#include "xalloc.h"

int options_bad_value(const char *option, const char *value, const char *expected)
{
	message_usage("%s: '%s' is not %s", option, value, expected);
	return -EINVAL;
}

static int take_time(const char *option, const char *value, uint32_t *ret_us)
{
	uint64_t time_ns = 0;
	int r;

	r = number_duration(value, 1000000, &time_ns);
	if (r < 0 || time_ns > 3600000000000ULL)
		return options_bad_value(option, value, "a time such as 50ms (1us to 1h)");
	*ret_us = (uint32_t)(time_ns / 1000);
	return 0;
}

static int take_usage(const char *value, const char **ret)
{
	static const char *const names[] = { "auto", "bpf", "procfs", "synth" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(names[i], value) == 0)
			*ret = value;
	if (*ret != value)
		return options_bad_value("--usage", value, "auto, bpf, procfs or synth");
	return 0;
}

int options_complain(char *const *argv)
{
	const char *word = argv[optind - 1];

	if (optopt >= 256 || optopt == 0)
		message_usage(optopt ? "option '%s' needs a value, or takes none" :
				       "unknown option '%s'",
			      word);
	else if (strncmp(word, "--", 2) == 0)
		message_usage("option '%s' needs a value, or takes none", word);
	else
		message_usage("unknown option '-%c', or its value is missing", optopt);
	return -EINVAL;
}

static int take_common(struct options *opts, int code, char *const *argv)
{
	struct watt_session_opts *session = &opts->session;

	switch (code) {
	case OPTIONS_SYSFS_ROOT:
		session->sysfs_root = optarg;
		return 0;
	case OPTIONS_PROCFS_ROOT:
		session->procfs_root = optarg;
		return 0;
	case OPTIONS_NVML_LIB:
		session->nvml_lib = optarg;
		return 0;
	case OPTIONS_REDFISH_URL:
		session->redfish_url = optarg;
		return 0;
	case OPTIONS_KUBELET_URL:
		session->kubelet_url = optarg;
		return 0;
	case OPTIONS_CONFIG:
		session->config_path = optarg;
		return 0;
	case OPTIONS_SOURCES:
		session->sources = optarg;
		return 0;
	case OPTIONS_USAGE:
		return take_usage(optarg, &session->usage);
	case OPTIONS_SLICE:
		return take_time("--slice", optarg, &session->slice_us);
	case OPTIONS_PERIOD:
		return take_time("--period", optarg, &session->period_us);
	case OPTIONS_JSON:
		opts->is_json = true;
		return 0;
	case 'v':
		opts->verbosity++;
		return 0;
	case 'h':
		opts->is_help = true;
		return 0;
	case '?':
	case ':':
		return options_complain(argv);
	default:
		return policy_take(session, code);
	}
}

int options_take(struct options *opts, int argc, char **argv, const char *letters,
		 const struct option *longs, int (*take_own)(void *data, int code), void *data)
{
	int code, r;

	while ((code = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
		r = take_common(opts, code, argv);
		if (r == -ENOENT)
			r = take_own(data, code);
		if (r < 0)
			return r;
	}
	return 0;
}

void options_apply(struct options *opts)
{
	opts->session.log = message_log;
	message_set_verbosity(opts->verbosity);
}

int options_finish(struct options *opts, int argc, char *const *argv)
{
	if (optind < argc && !opts->is_help) {
		message_usage("unexpected '%s'", argv[optind]);
		return -EINVAL;
	}
	options_apply(opts);
	return 0;
}

int options_take_recording(struct options *opts, int argc, char *const *argv, const char **ret_path)
{
	if (optind == argc) {
		message_usage("which recording? give its file");
		return -EINVAL;
	}
	*ret_path = argv[optind++];
	return options_finish(opts, argc, argv);
}

/* Its table has nothing that is not taken as a common one. */
static int take_none(void *data, int code)
{
	(void)data;
	(void)code;
	return -EINVAL;
}

int options_take_all(struct options *opts, int argc, char **argv)
{
	static const struct option longs[] = { OPTIONS_LONG };
	int r = options_take(opts, argc, argv, ":" OPTIONS_SHORT, longs, take_none, NULL);

	return r < 0 ? r : options_finish(opts, argc, argv);
}

int options_open_session(const struct options *opts, struct watt_session **ret)
{
	unsigned int errors = message_get_error_count();
	struct watt_session_opts session = opts->session;
	char late[160];
	int r;

	if (!session.open_wait_ms)
		session.open_wait_ms = OPTIONS_OPEN_WAIT_MS;
	r = watt_session_open(&session, ret);
	/* whoever hangs would hold up the doctor, too */
	if (r == 0 && *latecomers_list(*ret, late, sizeof(late)))
		message_note("not open yet: %s; what they measure counts from when they are", late);
	if (r == 0 && !*late)
		verdict_note_privilege(&opts->session);
	if (r == 0)
		return 0;
	if (message_get_error_count() > errors)
		return r;
	if (r == -ENODEV)
		message_error("nothing measures power here; 'wattribute doctor' says why");
	else
		message_error("cannot measure: %s", strerror(-r));
	return r;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Takes the common options. Whether a value makes sense on this machine is the library's word. */
#include "options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "caller.h"
#include "diags.h"
#include "latecomers.h"
#include "message.h"
#include "state_folder.h"
#include "status.h"

int options_bad_value(const char *option, const char *value, const char *expected)
{
	message_usage("%s: '%s' is not %s", option, value, expected);
	return -EINVAL;
}

/* Who calls by sudo is who gets the files: root's command lines are those of somebody else. */
static void set_owner(struct watt_options *session)
{
	uint32_t uid;

	if (caller_get_uid(&uid))
		watt_options_set_owner(session, uid);
}

void options_begin(struct options *opts)
{
	static struct watt_options *session; /* there is one command line */

	if (!session && watt_options_new(&session) < 0) {
		message_error("out of memory");
		exit(STATUS_FAILURE);
	}
	opts->session = session;
	watt_options_set_driven(session, 1);
	set_owner(session);
	watt_options_set_open_wait_ms(session, OPTIONS_OPEN_WAIT_MS);
	if (state_folder_set(session) < 0) {
		message_error("out of memory");
		exit(STATUS_FAILURE);
	}
	/* there they are seen by nobody else; on a command line by everybody */
	watt_options_set_redfish_login(session, getenv("WATTRIBUTE_REDFISH_USER"),
				       getenv("WATTRIBUTE_REDFISH_PASSWORD"));
}

int options_set(struct options *opts, const char *name, const char *value)
{
	if (watt_options_set(opts->session, name, value) == 0) {
		if (strcmp(name, "sources") == 0)
			opts->sources = value;
		opts->is_captured |= strcmp(name, "machine") == 0;
		opts->is_elsewhere |= opts->is_captured || strcmp(name, "procfs-root") == 0;
		return 0;
	}
	message_usage("--%s: %s", name, watt_options_get_problem(opts->session));
	return -EINVAL;
}

int options_complain(char *const *argv)
{
	const char *word = argv[optind - 1];
	bool is_long = optopt >= 256 || strncmp(word, "--", 2) == 0;

	if (optopt == 0)
		message_usage("unknown option '%s'", word);
	else if (is_long && strchr(word, '='))
		message_usage("option '%.*s' takes no value", (int)strcspn(word, "="), word);
	else if (is_long)
		message_usage("option '%s' needs a value", word);
	else
		message_usage("unknown option '-%c', or its value is missing", optopt);
	return -EINVAL;
}

static int take_common(struct options *opts, int code, const char *name, char *const *argv)
{
	switch (code) {
	case OPTIONS_SESSION:
		return options_set(opts, name, optarg);
	case OPTIONS_PRECISE:
		return options_set(opts, name, "true");
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
		return -ENOENT;
	}
}

int options_take(struct options *opts, int argc, char **argv, const char *letters,
		 const struct option *longs, int (*take_own)(void *data, int code), void *data)
{
	int code, index = 0, r;

	if (!opts->session)
		options_begin(opts);
	while ((code = getopt_long(argc, argv, letters, longs, &index)) != -1) {
		r = take_common(opts, code, longs[index].name, argv);
		if (r == -ENOENT)
			r = take_own(data, code);
		if (r < 0)
			return r;
	}
	return 0;
}

void options_apply(struct options *opts)
{
	watt_options_set_log(opts->session, message_log, NULL);
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
	char late[160];
	int r;

	r = watt_session_open(opts->session, ret);
	/* whoever hangs would hold up the doctor, too */
	if (r == 0 && *latecomers_list(*ret, late, sizeof(late)))
		message_note("not open yet: %s; what they measure counts from when they are", late);
	if (r == 0 && opts->is_captured && !opts->is_json)
		message_note("a captured machine is one instant of it: its counters stand still, "
			     "and tell no power");
	else if (r == 0 && !*late)
		diags_note_privilege(opts->session);
	if (r == 0)
		return 0;
	if (message_get_error_count() == errors && r == -ENODEV)
		message_error("nothing measures power here; 'wattribute doctor' says why");
	else if (message_get_error_count() == errors)
		message_error("cannot measure: %s", strerror(-r));
	return r == -ENOENT ? -EINVAL : r;
}

int options_status(int error)
{
	return error == -EINVAL ? STATUS_USAGE : STATUS_FAILURE;
}

/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file options.h
 * @brief Options: how a session is to measure. Each has a typed setter, and a name for text.
 *
 *     struct watt_options *options;
 *
 *     r = watt_options_new(&options);
 *     r = watt_options_set_period_ns(options, 1000000);
 *     r = watt_options_set(options, "sources", "powercap,hwmon");
 *     r = watt_session_open(options, &ses);
 *     watt_options_free(options);
 *
 * As they are new they choose what is best on this machine. Whoever is given options copies what
 * it needs: they may be changed, used again and freed at once.
 *
 * Setters return 0; -EINVAL: the value is not possible; -ENOENT: it names something that there is
 * not; -ENOMEM. They change nothing then, and watt_options_get_problem() says what is wrong and
 * what is possible. What only the machine tells, whether it has a domain, a channel or a file, is
 * found out when the options are used. Strings are copied. One thread per object at a time.
 */
#ifndef WATTRIBUTE_OPTIONS_H
#define WATTRIBUTE_OPTIONS_H

#include <wattribute/domain.h>

WATT_BEGIN_DECLS

struct watt_options;

/** How much a log line matters. */
enum watt_log_level {
	WATT_LOG_ERROR = 0,
	WATT_LOG_WARNING = 1,
	WATT_LOG_INFO = 2,
	WATT_LOG_DEBUG = 3,
};

/** What is told, kept and shown of the command lines of processes. Names of programs always are. */
enum watt_privacy {
	WATT_PRIVACY_NAMES = 1, /**< no command lines at all */
	WATT_PRIVACY_OWN = 2,   /**< those of one's own processes, without secrets */
	WATT_PRIVACY_USERS = 3, /**< those of all users, without secrets */
	WATT_PRIVACY_ALL = 4,   /**< those of all users, as they are */
};

/**
 * Receives what the library has to say. It may be called in any thread of the session's or the
 * caller's, two at once included, and must not call the session.
 */
typedef void (*watt_log_fn)(void *data, enum watt_log_level level, const char *text);

/** What there is to know of an option. Immutable. */
struct watt_option_info {
	size_t sz;        /**< sizeof(struct watt_option_info), the library's */
	const char *name; /**< "share-key": for watt_options_set(), and the command's --share-key */
	const char *values;  /**< what it takes, for people: "[DOMAIN=]KEY,..." */
	const char *summary; /**< one line for people */
};

/** 0, -EINVAL or -ENOMEM. */
WATT_API int watt_options_new(struct watt_options **ret);
/** NULL is allowed. Always returns NULL. */
WATT_API struct watt_options *watt_options_free(struct watt_options *options);
/** What was wrong with the newest call that failed, without its option's name; "": nothing. */
WATT_API const char *watt_options_get_problem(const struct watt_options *options);

/**
 * Sets an option as text, by the grammar that the command and the configuration file have too. Of
 * a list, "rate", "share-key" and "sensor-delay" add to what was said before; the last word on a
 * source, domain or channel holds. "sources" begins again.
 */
WATT_API int watt_options_set(struct watt_options *options, const char *name, const char *value);
/** By position, from 0; NULL: there are no more. Thread-safe. */
WATT_API const struct watt_option_info *watt_options_get_info(size_t index);

/** A machine that was captured, an archive by watt_capture_write() or a folder with the same in it:
 *  its sensors, CPUs and processes instead of those of this one. NULL: this one. */
WATT_API int watt_options_set_machine(struct watt_options *options, const char *path);
/** Where to look. NULL: the usual place. */
WATT_API int watt_options_set_sysfs_root(struct watt_options *options, const char *path);
WATT_API int watt_options_set_procfs_root(struct watt_options *options, const char *path);
WATT_API int watt_options_set_nvml_lib(struct watt_options *options, const char *path);
/** Folder where calibrations (watt_gpu_calibrate()) are kept and found; what root has found is
 *  looked for after it. NULL: /var/lib/wattribute. The library reads no environment: programs
 *  that want $STATE_DIRECTORY or $XDG_STATE_HOME say so here. */
WATT_API int watt_options_set_state_dir(struct watt_options *options, const char *path);
/** BMC to ask. NULL: none. */
WATT_API int watt_options_set_redfish_url(struct watt_options *options, const char *url);
/** Who knows what containers and pods are called: a kubelet, "https://NODE:10250", or an API
 *  server's list of this node's pods, which is watched,
 *  "https://HOST/api/v1/pods?fieldSelector=spec.nodeName=NODE". NULL: nobody is asked. */
WATT_API int watt_options_set_kubelet_url(struct watt_options *options, const char *url);
/** File with the token for it, read anew each time. NULL: that of the pod's own account. */
WATT_API int watt_options_set_kubelet_token(struct watt_options *options, const char *path);
/** Which one is trusted, as watt_options_set_redfish_tls(). NULL: one that the cluster's authority
 *  answers for, in a pod; else one that the system trusts. */
WATT_API int watt_options_set_kubelet_tls(struct watt_options *options, const char *trust);
/** An instrument that measures the machine, by lines as docs/sources/meter.md has them:
 *  "unix:PATH", "tcp:HOST:PORT" or "exec:COMMAND"; or a UPS that upsd knows, "nut:UPS@HOST", which
 *  feeds it alone, or all of them, "nut:HOST", to be shown. NULL: none. */
WATT_API int watt_options_set_meter(struct watt_options *options, const char *place);
/** File with lines "user,password" or "node,user,password,URL", which others may not read. NULL:
 *  none. */
WATT_API int watt_options_set_redfish_auth(struct watt_options *options, const char *path);
/** The same at once, for one BMC. NULL: none. */
WATT_API int watt_options_set_redfish_login(struct watt_options *options, const char *user,
					    const char *password);
/** Which BMC is trusted: a file of certificates, "sha256//" and the hash of its key, "insecure":
 *  any; NULL or "verify": one that the system trusts. */
WATT_API int watt_options_set_redfish_tls(struct watt_options *options, const char *trust);
/** File with options and rules, wattribute.yaml(5), for what is not said here. NULL: none. */
WATT_API int watt_options_set_config(struct watt_options *options, const char *path);

/** Uses this power source, and those that are added too, instead of the automatic choice. */
WATT_API int watt_options_add_source(struct watt_options *options, const char *name);
/** Leaves a power source out of the choice, or "drm", which tells who used a GPU. */
WATT_API int watt_options_drop_source(struct watt_options *options, const char *name);
/** Counts CPU time by "bpf" or "procfs"; NULL or "auto": the best that works. */
WATT_API int watt_options_set_usage(struct watt_options *options, const char *name);

/** 1: counts at each context switch what each process does beside taking CPU time: cycles,
 *  instructions, time beside a busy sibling. It needs BPF and costs some 100 ns a switch; what this
 *  machine can't count is said in the log. 0, as it is at first: nothing runs there. */
WATT_API int watt_options_set_precise(struct watt_options *options, int is_precise);

/** Length of a slice, 1 ms to 60 s; 0: 50 ms. */
WATT_API int watt_options_set_slice_ns(struct watt_options *options, uint64_t slice_ns);
/** Reading period of quick sensors, 1 ms to 60 s; 0: as a slice. */
WATT_API int watt_options_set_period_ns(struct watt_options *options, uint64_t period_ns);
/** That of one power source, 1 ms to 1 h. */
WATT_API int watt_options_set_source_period_ns(struct watt_options *options, const char *source,
					       uint64_t period_ns);
/** The age of the values of sensors, at most 60 s, instead of what their sources say of it.
 *  @param channel  a channel's name, or a pattern with *. */
WATT_API int watt_options_set_delay_ns(struct watt_options *options, const char *channel,
				       uint64_t delay_ns);

/** What becomes of idle energy. */
WATT_API int watt_options_set_idle_policy(struct watt_options *options,
					  enum watt_idle_policy policy);
/** By what dynamic energy is shared.
 *  @param domain  a path, or the name of a kind of domains; NULL: all of them. */
WATT_API int watt_options_set_share_key(struct watt_options *options, const char *domain,
					enum watt_share_key key);

/** File with what programs take, as a session learned it before (wattribute-profile(5)): programs in
 *  it are known at once, and go on being learned. It is read when the session is opened, and kept
 *  in what is recorded. Of a recording it stands in place of the live run's. NULL: nothing is known
 *  of any program. */
WATT_API int watt_options_set_prior(struct watt_options *options, const char *path);

/**
 * What is told of command lines. As it is new: WATT_PRIVACY_OWN of a live session; of a recording
 * WATT_PRIVACY_USERS of what is in it. What is left out here is in no snapshot, file or output.
 * Passwords, tokens and keys are recognized by how they are given to programs, as wattribute(1)
 * says; what is recognized by nothing stays.
 */
WATT_API int watt_options_set_privacy(struct watt_options *options, enum watt_privacy privacy);
/** Whose processes are one's own, for WATT_PRIVACY_OWN. As it is new: the effective user's. */
WATT_API int watt_options_set_owner(struct watt_options *options, uint32_t uid);

/**
 * 1: threads are entities, too, and each process is the sum of its own. Of a recording, where what
 * was recorded tells of threads: that by BPF always does.
 */
WATT_API int watt_options_set_threads(struct watt_options *options, int has_threads);
/**
 * For how many ms at most watt_session_open() waits for sensors behind slow buses, at most 60,000.
 * Those that take longer join when they are open (watt_session_get_source()). 0: 20.
 */
WATT_API int watt_options_set_open_wait_ms(struct watt_options *options, uint32_t open_wait_ms);
/**
 * 1: the caller has an event loop and does the session's work in watt_session_dispatch(). 0, as it
 * is at first: the library's own thread does it.
 */
WATT_API int watt_options_set_driven(struct watt_options *options, int is_driven);
/** Who hears what the library has to say. NULL: nobody does. */
WATT_API int watt_options_set_log(struct watt_options *options, watt_log_fn log, void *data);

WATT_END_DECLS

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file profile.h
 * @brief Profiles: what programs take, as a session has learned it, to look at or to keep.
 *
 * A profile has the domains whose share key is `learned`, and of each its programs with their watts
 * on a busy CPU, how sure these are, and what they are known from. As a file (watt_profile_to_json(),
 * wattribute-profile(5)) it can be the prior of a later session: option "prior".
 *
 * Immutable: any thread may read one.
 */
#ifndef WATTRIBUTE_PROFILE_H
#define WATTRIBUTE_PROFILE_H

#include <wattribute/options.h>
#include <wattribute/session.h>

WATT_BEGIN_DECLS

struct watt_profile;

/** Points of the curve of a domain: watts of all by the part of its CPUs that is busy. */
#define WATT_PROFILE_CURVE 9

/** A domain, and how its programs are known. Strings are the profile's. */
struct watt_profile_domain {
	size_t sz;        /**< sizeof(struct watt_profile_domain), the library's */
	const char *path; /**< as in watt_domain */
	enum watt_domain_kind kind;
	enum watt_share_key key;   /**< that divided its newest slice */
	uint64_t n_slices;         /**< that it was learned from; with a prior, those of it too */
	double mean_w;             /**< watts of a busy CPU, as a mean of all; 0: nothing known */
	double spread_w;           /**< standard deviation of a program's watts from that */
	uint32_t readiness_ppm;    /**< of the energy, what goes to whom something is known of */
	double significance_ratio; /**< see wattribute-learn(1); below 1: all may be equal */
	double curve_ratio[WATT_PROFILE_CURVE]; /**< from idle to all CPUs busy, about 1 */
};

/** A program in a domain. Strings are the profile's. */
struct watt_profile_program {
	size_t sz;          /**< sizeof(struct watt_profile_program), the library's */
	const char *name;   /**< path of the executable, or a name where that is not known */
	const char *cgroup; /**< of such a name: in which cgroup; NULL: not known, or an executable */
	int is_executable;
	double power_w;       /**< on a busy CPU */
	double uncertainty_w; /**< standard uncertainty of that */
	double cpu_s;         /**< CPU time that it was learned from */
	uint64_t n_slices;    /**< and in how many slices that was */
};

/**
 * What the session has learned by now, with what its prior knows of others. 0; -ENODATA: no domain
 * has the key `learned`; -ENOMEM. The caller frees it.
 */
WATT_API int watt_session_get_profile(struct watt_session *ses, struct watt_profile **ret);
/**
 * Reads the JSON text of a profile; what is wrong with it is told to log. 0; -EBADMSG: it is none;
 * -EOPNOTSUPP: this library was built without jansson; -ENOMEM.
 *
 * @param log  NULL: nobody is told.
 */
WATT_API int watt_profile_parse(const char *text, size_t len, watt_log_fn log, void *data,
				struct watt_profile **ret);
/** The same of a file. Also an error of the system. */
WATT_API int watt_profile_read(const char *path, watt_log_fn log, void *data,
			       struct watt_profile **ret);
/** NULL is allowed. Always returns NULL. */
WATT_API struct watt_profile *watt_profile_free(struct watt_profile *profile);

WATT_API size_t watt_profile_get_domain_count(const struct watt_profile *profile);
/** NULL: there are not so many. */
WATT_API const struct watt_profile_domain *
watt_profile_get_domain(const struct watt_profile *profile, size_t domain);
WATT_API size_t watt_profile_get_program_count(const struct watt_profile *profile, size_t domain);
/** Those that used most first. NULL: there are not so many. */
WATT_API const struct watt_profile_program *
watt_profile_get_program(const struct watt_profile *profile, size_t domain, size_t program);

/** The profile as JSON, docs/schema/wattribute-profile-1.json: see <wattribute/json.h>. */
WATT_API int watt_profile_to_json(const struct watt_profile *profile, uint32_t flags, char **ret);

WATT_END_DECLS

#endif

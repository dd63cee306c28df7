/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of a profile: what programs take in each domain, as plain values. Made once, then
 * shared and never changed. One thread while it is made.
 */
#ifndef WATT_BASE_PROFILE_H
#define WATT_BASE_PROFILE_H

#include <stdbool.h>

#include <wattribute/profile.h>

/* So many a profile has at most, and a reader refuses more. */
#define WATT_PROFILE_DOMAINS_MAX 1024
#define WATT_PROFILE_PROGRAMS_MAX 4096
/* Of a domain, in watts. */
#define WATT_PROFILE_WATTS_MAX 1e6

struct watt_profile_part {
	struct watt_profile_domain domain;
	struct watt_profile_program *programs;
	size_t n, cap;
};

struct watt_profile {
	struct watt_profile_part *parts;
	size_t n, cap;
};

/* NULL: no memory. */
struct watt_profile *watt_profile_new(void);
/* Copies the strings. The part, borrowed until the next call, or NULL: no memory. */
struct watt_profile_part *watt_profile_add_domain(struct watt_profile *profile,
						  const struct watt_profile_domain *domain);
/* The same. One that is there already becomes what both are. 0 or -ENOMEM. */
int watt_profile_add_program(struct watt_profile_part *part,
			     const struct watt_profile_program *program);
/* Puts those that used most first. */
void watt_profile_sort(struct watt_profile_part *part);
/* The part of a domain; where none has its path, the first of its kind; NULL: none. */
const struct watt_profile_part *watt_profile_find(const struct watt_profile *profile,
						  const char *path, enum watt_domain_kind kind);
/* By name and, of what is no executable, cgroup. NULL: it is not known. */
const struct watt_profile_program *watt_profile_find_program(const struct watt_profile_part *part,
							     const char *name, const char *cgroup,
							     bool is_executable);

#endif

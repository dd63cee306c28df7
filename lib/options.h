/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of options, for those who are given them. */
#ifndef WATT_OPTIONS_H
#define WATT_OPTIONS_H

#include <stdbool.h>

#include <wattribute/options.h>

#include "base/rules.h"

struct watt_options {
	watt_log_fn log; /* NULL: nobody listens */
	void *log_data;
	bool is_driven;
	bool has_threads;
	bool has_precise; /* it was said */
	bool is_precise;
	uint32_t open_wait_ms; /* 0: not said */
	/* NULL: not said */
	char *machine;
	char *sysfs_root;
	char *procfs_root;
	char *nvml_lib;
	char *state_dir;
	char *redfish_url;
	char *meter;
	char *redfish_auth;
	char *redfish_tls;
	char *redfish_user;
	char *redfish_password;
	char *kubelet_url;
	char *kubelet_token;
	char *kubelet_tls;
	char *config;
	char *usage;
	char *prior;
	/* 0: not said */
	uint64_t slice_ns;
	uint64_t period_ns;
	bool has_idle_policy;
	enum watt_idle_policy idle_policy;
	enum watt_privacy privacy; /* 0: not said */
	bool has_owner;
	uint32_t owner_uid;
	struct watt_rules sources; /* 1: use it; 0: leave it out */
	struct watt_rules rates;   /* of sources, as periods in ns */
	struct watt_rules share_keys;
	struct watt_rules delays;
	char problem[1024];
};

/* from NULL: as they are new. to is overwritten. 0 or -ENOMEM. */
int watt_options_init(struct watt_options *to, const struct watt_options *from);
/*
 * Takes what somebody else said for what these do not say; of lists, theirs come first, so that the
 * last word is ours. 0 or -ENOMEM.
 */
int watt_options_fill(struct watt_options *options, struct watt_options *others);
/* Accepts what is half there. */
void watt_options_done(struct watt_options *options);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One BMC to talk to: a session of its own, that is begun again when it ends and is ended when we
 * do; its clock; and what it says in words. It must not know what is read. One thread per object.
 */
#ifndef WATT_SOURCE_REDFISH_CLIENT_H
#define WATT_SOURCE_REDFISH_CLIENT_H

#include "source/power/redfish/bmc_clock.h"
#include "source/power/redfish/document.h"
#include "source/source.h"

struct watt_redfish_client;

struct watt_redfish_answer {
	uint64_t t_before_ns; /* CLOCK_MONOTONIC */
	uint64_t t_after_ns;
	char etag[128];
	uint32_t retry_after_s; /* after -EBUSY */
};

/*
 * Whom to ask and how is in env: redfish_url, redfish_auth, redfish_tls, redfish_user and
 * redfish_password. Asks nothing yet. 0, or what is wrong with them: -ENODEV: there is no URL;
 * -EACCES, -EINVAL, -EOPNOTSUPP, -ENOMEM. The sentence is cut to size.
 */
int watt_redfish_client_open(const struct watt_env *env, struct watt_redfish_client **ret,
			     char *problem, size_t size);
/* Ends the session. Accepts NULL; returns NULL. */
struct watt_redfish_client *watt_redfish_client_free(struct watt_redfish_client *client);
/*
 * Reads a document. -EACCES: we may not; -ENOENT: there is none; -EBUSY: not now; -EREMOTEIO: it
 * says that it failed; -EBADMSG: that is no document; and what watt_http_ask() gives.
 */
int watt_redfish_get(struct watt_redfish_client *client, const char *path, json_t **ret,
		     struct watt_redfish_answer *ret_answer);
/* From now on, no question takes longer; no longer than that all together; 0: no limit. */
void watt_redfish_set_limits(struct watt_redfish_client *client, uint64_t timeout_ns,
			     uint64_t deadline_ns);
const char *watt_redfish_get_problem(const struct watt_redfish_client *client);
const char *watt_redfish_get_url(const struct watt_redfish_client *client);
const struct watt_bmc_clock *watt_redfish_get_clock(const struct watt_redfish_client *client);
/* Where sessions are begun, as its root says; NULL: it has none. */
void watt_redfish_set_sessions(struct watt_redfish_client *client, const char *path);

#endif

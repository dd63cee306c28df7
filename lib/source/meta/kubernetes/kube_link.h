/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks a kubelet, or an API server, for the pods of this node. The token is read anew for each
 * question, since it changes. It must not know what becomes of the pods. One thread per object.
 */
#ifndef WATT_SOURCE_META_KUBE_LINK_H
#define WATT_SOURCE_META_KUBE_LINK_H

#include <stdatomic.h>

#include "base/pieces.h"
#include "source/source.h"

struct watt_kube_link;

/*
 * By kubelet_url, kubelet_tls and kubelet_token of env, which are copied. 0; -ENODEV: nobody is
 * named; -EINVAL: no URL, or one with a password in it; -EOPNOTSUPP: libcurl is not there;
 * -ENOENT, -EACCES: of the certificates; -ENOMEM. problem says it in words.
 */
int watt_kube_link_open(const struct watt_env *env, const atomic_bool *is_given_up,
			struct watt_kube_link **ret, char *problem, size_t size);
/* Accepts NULL; returns NULL. */
struct watt_kube_link *watt_kube_link_free(struct watt_kube_link *link);
/* Whether it is an API server, which can be watched. */
bool watt_kube_link_is_api(const struct watt_kube_link *link);
const char *watt_kube_link_get_url(const struct watt_kube_link *link);

/*
 * All pods, each handed to fn as it comes, with the key "items"; what else there is has its own.
 * 0, and the list was whole; -EACCES: who we are is not known, or may not; -EREMOTEIO: another
 * code than 200; -EBADMSG: no list; as watt_http_ask(), and what fn said.
 */
int watt_kube_link_list(struct watt_kube_link *link, uint64_t timeout_ns, watt_piece_fn fn,
			void *data);
/*
 * Of an API server: events since a version, until it ends them, which is 0; -ESTALE: too long
 * ago, list anew; as watt_kube_link_list().
 */
int watt_kube_link_watch(struct watt_kube_link *link, const char *version, watt_piece_fn fn,
			 void *data);
/* What was wrong with the newest question, in words. */
const char *watt_kube_link_get_problem(const struct watt_kube_link *link);

#endif

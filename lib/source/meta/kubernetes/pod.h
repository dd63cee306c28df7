/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pod as Kubernetes describes it, and the index of all that are known: who a container is, by
 * its id. What Kubernetes says is believed only where it is what it should be. One thread per
 * object.
 */
#ifndef WATT_SOURCE_META_POD_H
#define WATT_SOURCE_META_POD_H

#include <stdint.h>

#include <jansson.h>

#include "base/htab.h"
#include "source/source.h"

/* How many containers are known at most: more than a node may run. */
#define WATT_POD_CONTAINERS_MAX 16384

/* What somebody is called; also of containers that have ended and were started anew. */
struct watt_pod_container {
	struct watt_container is; /* strings point into storage */
	json_t *labels;           /* the pod's, and what else is known, as texts */
	char *storage;
};

struct watt_pod {
	const char *uid; /* as cgroups have it; storage of the first container, or of the pod */
	struct watt_pod_container *containers; /* the first is the pod alone, without an id */
	size_t n;
	size_t n_pending; /* containers that have no id yet */
};

/* 0; -EBADMSG: it is no pod; -ENOMEM. *ret is freed by watt_pod_done(). */
int watt_pod_read(const json_t *root, struct watt_pod *ret);
/* The same of a text; -EMSGSIZE: it is too large or too deep. */
int watt_pod_parse(const char *text, size_t len, struct watt_pod *ret);
void watt_pod_done(struct watt_pod *pod);

/* An instant by the clock that nobody sets, and by the one that people read. */
struct watt_pod_stamp {
	uint64_t mono_ns; /* CLOCK_MONOTONIC */
	uint64_t wall_ns; /* CLOCK_REALTIME */
};

/* All that were seen lately; a pod that is listed no more is remembered for a while. */
struct watt_pod_index {
	struct watt_htab containers; /* by id; pods by their uid */
};

/* 0 or -ENOMEM. */
int watt_pod_index_init(struct watt_pod_index *index);
void watt_pod_index_done(struct watt_pod_index *index);
/*
 * Takes what is in *pod, which is empty then. How many containers are new. When there are too
 * many, those that were not seen for longest go. Each is known since it was first seen, and told
 * with that time on the wall: a clock that is set forgets nobody, and nobody is known for longer.
 */
size_t watt_pod_index_take(struct watt_pod_index *index, struct watt_pod *pod,
			   const struct watt_pod_stamp *now);
/* Forgets who was not seen since then, CLOCK_MONOTONIC. How many. */
size_t watt_pod_index_forget(struct watt_pod_index *index, uint64_t before_ns);
/* -ENOENT: nobody knows it; -ENOMEM. */
int watt_pod_index_find(const struct watt_pod_index *index, const char *id,
			struct watt_answer *ret);
/*
 * A container that its pod does not tell of, though all that it tells of have ids: the one that
 * holds its namespaces. -ENOENT: there is no such pod, or a container has no id yet.
 */
int watt_pod_index_find_sandbox(const struct watt_pod_index *index, const char *pod_uid,
				const char *id, const char *runtime, struct watt_answer *ret);

#endif

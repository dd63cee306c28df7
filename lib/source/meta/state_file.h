/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files in which container runtimes keep their state: JSON that somebody else writes, read
 * with bounds and believed only where it is what it should be. Thread-safe.
 */
#ifndef WATT_SOURCE_META_STATE_FILE_H
#define WATT_SOURCE_META_STATE_FILE_H

#include <stddef.h>

#include <jansson.h>

#include "source/source.h"

#define WATT_STATE_SIZE_MAX ((size_t)4 << 20)
#define WATT_STATE_DATABASE_MAX ((size_t)64 << 20)
#define WATT_STATE_DEPTH_MAX 64
/* Longer names are no names; so many labels are kept, if they are not longer than that. */
#define WATT_STATE_NAME_MAX 255
#define WATT_STATE_LABELS_MAX 64
#define WATT_STATE_LABEL_MAX 1024
#define WATT_STATE_PATH_SIZE 1024

/* 0; -EBADMSG: no JSON, or an object has a key twice; -EMSGSIZE: too large, or too deep. */
int watt_state_parse(const char *text, size_t len, json_t **ret);
/* The same of a file below root, or as reading it failed. */
int watt_state_read(const struct watt_root *root, const char *path, json_t **ret);
/* A text of 1 to WATT_STATE_NAME_MAX bytes in an object; NULL: there is none. */
const char *watt_state_text(const json_t *object, const char *key);
/*
 * An answer of what was found; labels: an object, of which those that are texts are kept, or NULL.
 * -ENOENT: it has neither a name nor a pod's.
 */
int watt_state_keep(const struct watt_container *found, const json_t *labels,
		    struct watt_answer *ret);

/* What a file says of one container, by its id. */
typedef int (*watt_state_parse_fn)(const char *text, size_t len, const char *id,
				   struct watt_answer *ret);
/* Parses the file of this path below root, or says why it can't be read. */
__attribute__((format(printf, 5, 6))) int
watt_state_look_at(const struct watt_root *root, watt_state_parse_fn parse, const char *id,
		   struct watt_answer *ret, const char *format, ...);
/* Looks below a folder where a runtime keeps its things. */
typedef int (*watt_state_look_fn)(const struct watt_root *machine, const char *folder,
				  const char *id, struct watt_answer *ret);
/* The same of a folder in a user's home, for who runs containers without root. */
int watt_state_look_at_home(const struct watt_root *machine, uint32_t uid, const char *folder,
			    const char *id, watt_state_look_fn look, struct watt_answer *ret);

/* A provider that looks at these files, and has nothing of its own. */
struct watt_state_meta {
	struct watt_meta base;
	const struct watt_root *procfs;
};

int watt_state_open(const struct watt_env *env, const struct watt_meta_ops *ops,
		    struct watt_meta **ret);
void watt_state_close(struct watt_meta *base);
/*
 * Begins an answer. *ret_machine is to be closed. -ENOENT: the container is of none of these
 * runtimes (the last one NULL); where nobody knows of which it is, it may be one of theirs.
 */
int watt_state_begin(struct watt_meta *base, const struct watt_question *question,
		     const char *const *runtimes, struct watt_root *ret_machine);
/*
 * Whether one of these places (relative to the machine's root, the last one NULL) can be read, as
 * a probe says it. what: whose they are.
 */
int watt_state_probe(const struct watt_env *env, const char *const *places, const char *what,
		     struct watt_diag *diag);

/* ---- what the files say of one container, by its id; for the providers and their tests ---- */

/* config.v2.json of docker. */
int watt_docker_parse(const char *text, size_t len, const char *id, struct watt_answer *ret);
/* containers.json of containers/storage, which podman keeps. */
int watt_storage_parse(const char *text, size_t len, const char *id, struct watt_answer *ret);
/* The database of podman: its bytes. -EBADMSG: it is none, or was read while it was written. */
int watt_libpod_parse(const char *data, size_t len, const char *id, struct watt_answer *ret);
/* config.json of a bundle, with the annotations of containerd, CRI-O or nerdctl. */
int watt_bundle_parse(const char *text, size_t len, const char *id, struct watt_answer *ret);

#endif

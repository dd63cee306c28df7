/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a cgroup is, by its id: its path comes from a process that is in it, or from the mounted
 * hierarchy.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/util.h"
#include "source/host/cgroup_v1.h"
#include "source/host/cgroupfile.h"
#include "source/host/cgroupfs.h"
#include "source/host/procdir.h"
#include "source/meta/cgroup_watch.h"
#include "source/registry.h"

struct cgroups {
	struct watt_meta base;
	const struct watt_env *env;
	struct watt_cgroupfs fs;
	struct watt_cgroup_watch
		*watch; /* of the hierarchy that ids are of; NULL: it can't be watched */
	bool watches_v1;
	const char *v1_main; /* controller of the v1 hierarchy that tells most; NULL: none */
};

/* Whether the line is the cgroup with this id: 1, 0, or -ENOENT if that can't be told. */
static int line_has_id(const struct cgroups *cgroups, const struct watt_cgroup_line *line,
		       uint64_t id)
{
	uint64_t inode;

	if (id & WATT_CGROUP_ID_HASHED)
		return watt_cgroup_line_hash(line) == id;
	if (watt_cgroupfs_inode(&cgroups->fs, line, &inode) < 0)
		return -ENOENT;
	return inode == id;
}

/*
 * Looks for the line with this id; controller NULL: in any hierarchy. Inode numbers of v1
 * hierarchies clash, and roots are never told by a v1 id.
 */
static int search_line(const struct cgroups *cgroups, const char *text, uint64_t id, bool v1,
		       const char *controller, struct watt_cgroup_line *ret)
{
	struct watt_cgroup_line line;
	int r, result = -ENODATA;

	while ((r = watt_cgroup_line_next(&text, &line)) != 1) {
		if (r < 0 || line.is_v1 != v1 || (v1 && line.path_len < 2) ||
		    (controller && !watt_cgroup_line_has(&line, controller)))
			continue;
		r = line_has_id(cgroups, &line, id);
		if (r > 0) {
			*ret = line;
			return 0;
		}
		if (r == 0)
			result = -ENOENT;
	}
	return result;
}

/* -ENOENT: the process is in another one by now. */
static int pick_line(const struct cgroups *cgroups, const char *text, uint64_t id, bool v1,
		     struct watt_cgroup_line *ret)
{
	int r = -ENODATA;

	if (v1 && cgroups->v1_main)
		r = search_line(cgroups, text, id, v1, cgroups->v1_main, ret);
	if (r < 0)
		r = search_line(cgroups, text, id, v1, NULL, ret);
	/* no directory to compare with: its word is all there is */
	return r == -ENODATA ? watt_cgroup_line_pick_version(text, v1, ret) : r;
}

/* Path of the cgroup by what a process in it says. */
static int path_by_process(struct cgroups *cgroups, uint64_t id, bool v1, uint32_t pid, char *buf,
			   size_t size)
{
	struct watt_root process = WATT_ROOT_INIT;
	_cleanup_free_ char *text = NULL;
	struct watt_cgroup_line line;
	size_t len;
	int r;

	r = watt_procdir_open(&cgroups->env->procfs, pid, &process);
	if (r < 0)
		return r;
	r = watt_root_slurp(&process, "cgroup", WATT_CGROUP_FILE_MAX, &text, &len);
	watt_root_close(&process);
	if (r < 0)
		return r;
	r = pick_line(cgroups, text, id, v1, &line);
	if (r < 0)
		return r;
	if (line.path_len >= size)
		return -ENAMETOOLONG;
	memcpy(buf, line.path, line.path_len);
	buf[line.path_len] = '\0';
	return 0;
}

static int find_path(struct cgroups *cgroups, uint64_t id, bool v1, uint32_t pid, char *buf,
		     size_t size)
{
	int r = -ENOENT;

	if (pid)
		r = path_by_process(cgroups, id, v1, pid, buf, size);
	/* inode numbers of one v1 hierarchy mean something else in the next */
	if (r < 0 && !v1 && !(id & WATT_CGROUP_ID_HASHED))
		r = watt_cgroupfs_find(&cgroups->fs, id, buf, size);
	/* it is gone, and may have been heard of when it came */
	if (r < 0 && cgroups->watch && v1 == cgroups->watches_v1) {
		watt_cgroup_watch_read(cgroups->watch);
		r = watt_cgroup_watch_find(cgroups->watch, id, buf, size);
	}
	return r;
}

static int cgroup_answer(struct watt_meta *base, const struct watt_question *question,
			 struct watt_answer *ret)
{
	struct cgroups *cgroups = watt_container_of(base, struct cgroups, base);
	struct watt_answer answer = { .kind = WATT_ASK_CGROUP };
	char path[WATT_CGROUP_PATH_MAX];
	int r;

	r = find_path(cgroups, question->cgroup.id, question->cgroup.v1, question->cgroup.pid, path,
		      sizeof(path));
	if (r < 0)
		return r;
	answer.storage = malloc(watt_cgroup_parse_size(path));
	if (!answer.storage)
		return -ENOMEM;
	watt_cgroup_parse(path, answer.storage, &answer.cgroup);
	answer.cgroup.id = question->cgroup.id;
	answer.cgroup.v1 = question->cgroup.v1;
	*ret = answer;
	return 0;
}

static void open_watch(struct cgroups *cgroups)
{
	char place[64];

	cgroups->watches_v1 = cgroups->v1_main != NULL;
	snprintf(place, sizeof(place), "fs/cgroup/%s", cgroups->v1_main ? cgroups->v1_main : "");
	if (!cgroups->v1_main && !cgroups->fs.v2)
		return;
	if (watt_cgroup_watch_open(&cgroups->env->sysfs, cgroups->v1_main ? place : cgroups->fs.v2,
				   &cgroups->watch) == 0)
		cgroups->base.fd = watt_cgroup_watch_get_fd(cgroups->watch);
}

static void cgroup_listen(struct watt_meta *base)
{
	watt_cgroup_watch_read(watt_container_of(base, struct cgroups, base)->watch);
}

static int cgroup_open(const struct watt_env *env, struct watt_meta **ret)
{
	struct cgroups *cgroups = calloc(1, sizeof(*cgroups));

	if (!cgroups)
		return -ENOMEM;
	cgroups->base = (struct watt_meta){ &watt_meta_cgroup, -1 };
	cgroups->env = env;
	watt_cgroupfs_init(&cgroups->fs, &env->sysfs);
	cgroups->v1_main = watt_cgroup_v1_choose(&env->procfs, &env->sysfs);
	open_watch(cgroups);
	*ret = &cgroups->base;
	return 0;
}

static void cgroup_close(struct watt_meta *base)
{
	struct cgroups *cgroups = watt_container_of(base, struct cgroups, base);

	watt_cgroup_watch_close(cgroups->watch);
	free(cgroups);
}

static int cgroup_probe(const struct watt_env *env, struct watt_diag *diag)
{
	const char *v1 = watt_cgroup_v1_choose(&env->procfs, &env->sysfs);
	struct watt_cgroupfs fs;

	watt_cgroupfs_init(&fs, &env->sysfs);
	if (!v1 && !fs.v2) {
		snprintf(diag->path, sizeof(diag->path), "%.200s/fs/cgroup", env->sysfs.path);
		snprintf(diag->why, sizeof(diag->why), "there is no cgroup hierarchy");
		snprintf(diag->hint, sizeof(diag->hint),
			 "mount cgroup2 there: containers and services are told by it");
		diag->state = WATT_ABSENT;
		diag->error = -ENOENT;
		return -ENOENT;
	}
	snprintf(diag->path, sizeof(diag->path), "%.200s/%s", env->sysfs.path,
		 fs.v2 ? fs.v2 : "fs/cgroup");
	snprintf(diag->why, sizeof(diag->why), "%s: tells containers, pods and units",
		 v1 && fs.v2 ? "hierarchies of both versions" :
		 v1          ? "hierarchies of version 1" :
			       "the hierarchy of version 2");
	diag->state = WATT_AVAILABLE;
	return 0;
}

const struct watt_meta_ops watt_meta_cgroup = {
	.name = "cgroup",
	.summary = "cgroups, with their containers, pods and units",
	.answers = 1u << WATT_ASK_CGROUP,
	.probe = cgroup_probe,
	.open = cgroup_open,
	.answer = cgroup_answer,
	.listen = cgroup_listen,
	.close = cgroup_close,
};

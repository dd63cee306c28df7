/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a cgroup is, by its id: its path comes from a process that is in it, or from the mounted
 * hierarchy. Every answer is kept, since others hold pointers to it.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/util.h"
#include "source/host/cgroupfile.h"
#include "source/meta/meta.h"
#include "source/host/procdir.h"

/* One answer; the strings of pub point into storage. */
struct watt_cgroup_node {
	struct watt_cgroup_node *next;
	struct watt_cgroup pub;
	char *storage; /* NULL: the path was not to be had so far */
};

#define FIRST_BUCKETS 64

static struct watt_cgroup_node **bucket_of(struct watt_cgroup_node **table, size_t n, uint64_t id,
					   bool v1)
{
	return &table[watt_hash_u64(id ^ v1) & (n - 1)];
}

static int table_grow(struct watt_meta *meta)
{
	size_t i, n = meta->n_buckets ? meta->n_buckets * 2 : FIRST_BUCKETS;
	struct watt_cgroup_node **table;

	if (meta->n_cgroups < meta->n_buckets)
		return 0;
	table = calloc(n, sizeof(*table));
	if (!table)
		return -ENOMEM;
	for (i = 0; i < meta->n_buckets; i++) {
		struct watt_cgroup_node *node = meta->cgroups[i], *next, **bucket;

		for (; node; node = next) {
			next = node->next;
			bucket = bucket_of(table, n, node->pub.id, node->pub.v1);
			node->next = *bucket;
			*bucket = node;
		}
	}
	free(meta->cgroups);
	meta->cgroups = table;
	meta->n_buckets = n;
	return 0;
}

static struct watt_cgroup_node **find_node(struct watt_meta *meta, uint64_t id, bool v1)
{
	struct watt_cgroup_node **link = bucket_of(meta->cgroups, meta->n_buckets, id, v1);

	while (*link && ((*link)->pub.id != id || (*link)->pub.v1 != v1))
		link = &(*link)->next;
	return link;
}

/* Whether the line is the cgroup with this id: 1, 0, or -ENOENT if that can't be told. */
static int line_has_id(const struct watt_meta *meta, const struct watt_cgroup_line *line,
		       uint64_t id)
{
	uint64_t inode;

	if (id & WATT_CGROUP_ID_HASHED)
		return watt_cgroup_line_hash(line) == id;
	if (watt_cgroupfs_inode(&meta->cgroupfs, line, &inode) < 0)
		return -ENOENT;
	return inode == id;
}

/*
 * Looks for the line with this id; controller NULL: in any hierarchy. Inode numbers of v1
 * hierarchies clash, and roots are never told by a v1 id.
 */
static int search_line(const struct watt_meta *meta, const char *text, uint64_t id, bool v1,
		       const char *controller, struct watt_cgroup_line *ret)
{
	struct watt_cgroup_line line;
	int r, result = -ENODATA;

	while ((r = watt_cgroup_line_next(&text, &line)) != 1) {
		if (r < 0 || line.is_v1 != v1 || (v1 && line.path_len < 2) ||
		    (controller && !watt_cgroup_line_has(&line, controller)))
			continue;
		r = line_has_id(meta, &line, id);
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
static int pick_line(const struct watt_meta *meta, const char *text, uint64_t id, bool v1,
		     struct watt_cgroup_line *ret)
{
	int r = -ENODATA;

	if (v1 && meta->v1_main)
		r = search_line(meta, text, id, v1, meta->v1_main, ret);
	if (r < 0)
		r = search_line(meta, text, id, v1, NULL, ret);
	/* no directory to compare with: its word is all there is */
	return r == -ENODATA ? watt_cgroup_line_pick_version(text, v1, ret) : r;
}

/* Path of the cgroup by what a process in it says. */
static int path_by_process(struct watt_meta *meta, uint64_t id, bool v1, uint32_t pid, char *buf,
			   size_t size)
{
	struct watt_root process = WATT_ROOT_INIT;
	_cleanup_free_ char *text = NULL;
	struct watt_cgroup_line line;
	size_t len;
	int r;

	r = watt_procdir_open(&meta->env->procfs, pid, &process);
	if (r < 0)
		return r;
	r = watt_root_slurp(&process, "cgroup", WATT_CGROUP_FILE_MAX, &text, &len);
	watt_root_close(&process);
	if (r < 0)
		return r;
	r = pick_line(meta, text, id, v1, &line);
	if (r < 0)
		return r;
	if (line.path_len >= size)
		return -ENAMETOOLONG;
	memcpy(buf, line.path, line.path_len);
	buf[line.path_len] = '\0';
	return 0;
}

static int find_path(struct watt_meta *meta, uint64_t id, bool v1, uint32_t pid, char *buf,
		     size_t size)
{
	int r = -ENOENT;

	if (pid)
		r = path_by_process(meta, id, v1, pid, buf, size);
	/* inode numbers of one v1 hierarchy mean something else in the next */
	if (r < 0 && !v1 && !(id & WATT_CGROUP_ID_HASHED))
		r = watt_cgroupfs_find(&meta->cgroupfs, id, buf, size);
	return r;
}

/* Asks again for a path that was not to be had: another process may tell now. */
static int fill_node(struct watt_meta *meta, struct watt_cgroup_node *node, uint32_t pid)
{
	char path[WATT_CGROUP_PATH_MAX];
	uint64_t id = node->pub.id;
	uint32_t v1 = node->pub.v1;

	if (find_path(meta, id, v1, pid, path, sizeof(path)) < 0)
		return 0;
	node->storage = malloc(watt_cgroup_parse_size(path));
	if (!node->storage)
		return -ENOMEM;
	watt_cgroup_parse(path, node->storage, &node->pub);
	node->pub.id = id;
	node->pub.v1 = v1;
	return 0;
}

static int add_node(struct watt_meta *meta, uint64_t id, bool v1, struct watt_cgroup_node **link)
{
	struct watt_cgroup_node *node = calloc(1, sizeof(*node));

	if (!node)
		return -ENOMEM;
	node->pub.id = id;
	node->pub.v1 = v1;
	*link = node;
	meta->n_cgroups++;
	return 0;
}

static void remove_node(struct watt_meta *meta, struct watt_cgroup_node **link)
{
	struct watt_cgroup_node *node = *link;

	*link = node->next;
	free(node->storage);
	free(node);
	meta->n_cgroups--;
}

int watt_meta_get_cgroup(struct watt_meta *meta, uint64_t id, bool v1, uint32_t pid,
			 const struct watt_cgroup **ret)
{
	struct watt_cgroup_node **link;
	int r;

	r = table_grow(meta);
	if (r < 0)
		return r;
	link = find_node(meta, id, v1);
	if (!*link) {
		r = add_node(meta, id, v1, link);
		if (r < 0)
			return r;
	}
	if (!(*link)->storage) {
		r = fill_node(meta, *link, pid);
		if (r < 0)
			return r;
	}
	*ret = &(*link)->pub;
	return 0;
}

void watt_meta_forget_cgroup(struct watt_meta *meta, uint64_t id, bool v1)
{
	struct watt_cgroup_node **link;

	if (meta->n_buckets == 0)
		return;
	link = find_node(meta, id, v1);
	if (*link)
		remove_node(meta, link);
}

void watt_cgroups_done(struct watt_meta *meta)
{
	size_t i;

	for (i = 0; i < meta->n_buckets; i++)
		while (meta->cgroups[i])
			remove_node(meta, &meta->cgroups[i]);
	free(meta->cgroups);
	meta->cgroups = NULL;
	meta->n_buckets = 0;
}

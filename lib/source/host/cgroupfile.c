/* SPDX-License-Identifier: Apache-2.0 */
/* Parses /proc/PID/cgroup and picks a line. What a path means is container.c's business. */
#include "source/host/cgroupfile.h"

#include <errno.h>
#include <string.h>

#include "base/parse.h"
#include "base/util.h"
#include "source/source.h"

static const char *const v1_preference[] = { "cpuacct", "memory", "pids", "name=systemd" };

/* Behind the v2 path of a cgroup that was removed while somebody was in it. */
static void cut_removed(struct watt_cgroup_line *line)
{
	static const char mark[] = " (deleted)";
	size_t n = strlen(mark);

	if (line->is_v1 || line->path_len <= n ||
	    memcmp(line->path + line->path_len - n, mark, n) != 0)
		return;
	line->path_len -= n;
	line->is_removed = true;
}

int watt_cgroup_line_next(const char **cursor, struct watt_cgroup_line *ret)
{
	const char *p = *cursor, *end, *controllers, *path;

	if (*p == '\0')
		return 1;
	end = strchrnul(p, '\n');
	*cursor = *end ? end + 1 : end;
	controllers = memchr(p, ':', (size_t)(end - p));
	if (!controllers || controllers == p)
		return -EBADMSG;
	for (; p < controllers; p++)
		if (*p < '0' || *p > '9')
			return -EBADMSG;
	controllers++;
	/* a v1 hierarchy's name may hold anything; no name has ":/" in it that anybody saw */
	path = memmem(controllers, (size_t)(end - controllers), ":/", 2);
	if (!path || (size_t)(end - path) >= WATT_CGROUP_PATH_MAX)
		return -EBADMSG;
	*ret = (struct watt_cgroup_line){
		.controllers = controllers,
		.controllers_len = (size_t)(path - controllers),
		.path = path + 1,
		.path_len = (size_t)(end - path - 1),
		.is_v1 = path != controllers,
	};
	cut_removed(ret);
	return 0;
}

bool watt_cgroup_line_has(const struct watt_cgroup_line *line, const char *name)
{
	const char *p = line->controllers, *end = p + line->controllers_len;
	size_t len = strlen(name);

	while (p < end) {
		const char *comma = memchr(p, ',', (size_t)(end - p));

		if (!comma)
			comma = end;
		if ((size_t)(comma - p) == len && memcmp(p, name, len) == 0)
			return true;
		p = comma + 1;
	}
	return false;
}

/* Smaller is better. */
static size_t v1_rank(const struct watt_cgroup_line *line)
{
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(v1_preference); i++)
		if (watt_cgroup_line_has(line, v1_preference[i]))
			break;
	/* a root is what is left when no hierarchy has more to say */
	return line->path_len > 1 ? i : i + WATT_ARRAY_SIZE(v1_preference) + 1;
}

int watt_cgroup_line_pick_version(const char *text, bool is_v1, struct watt_cgroup_line *ret)
{
	struct watt_cgroup_line line, best;
	size_t best_rank = SIZE_MAX;
	int r;

	while ((r = watt_cgroup_line_next(&text, &line)) != 1) {
		size_t rank;

		if (r < 0 || line.is_v1 != is_v1)
			continue;
		rank = is_v1 ? v1_rank(&line) : 0;
		if (rank < best_rank) {
			best = line;
			best_rank = rank;
		}
	}
	if (best_rank == SIZE_MAX)
		return -ENOENT;
	*ret = best;
	return 0;
}

static unsigned int line_tells(const struct watt_cgroup_line *line)
{
	char path[WATT_CGROUP_PATH_MAX + 1];

	memcpy(path, line->path, line->path_len);
	path[line->path_len] = '\0';
	return watt_cgroup_tells(path);
}

/* The v1 line that tells most; of those that tell as much, the one that is preferred. */
static int pick_v1(const char *text, struct watt_cgroup_line *ret)
{
	struct watt_cgroup_line line;
	size_t best_rank = 0, rank;
	unsigned int most = 0, tells;
	bool found = false;
	int r;

	while ((r = watt_cgroup_line_next(&text, &line)) != 1) {
		if (r < 0 || !line.is_v1)
			continue;
		rank = v1_rank(&line);
		tells = line_tells(&line);
		/* only what is told apart for good: services are in some hierarchies and not in
		 * others, and one hierarchy is to be taken for all of them */
		if (tells < WATT_CGROUP_TELLS_NAME)
			tells = 0;
		if (found && (tells < most || (tells == most && rank >= best_rank)))
			continue;
		*ret = line;
		best_rank = rank;
		most = tells;
		found = true;
	}
	return found ? 0 : -ENOENT;
}

int watt_cgroup_line_pick(const char *text, struct watt_cgroup_line *ret)
{
	struct watt_cgroup_line v1, v2;
	bool has_v1, has_v2;

	has_v2 = watt_cgroup_line_pick_version(text, false, &v2) == 0;
	has_v1 = pick_v1(text, &v1) == 0;
	if (!has_v1 && !has_v2)
		return -EBADMSG;
	if (!has_v1 || !has_v2)
		*ret = has_v1 ? v1 : v2;
	else if (v2.path_len > 1)
		*ret = line_tells(&v1) > line_tells(&v2) ? v1 : v2;
	else
		*ret = v1.path_len > 1 ? v1 : v2;
	return 0;
}

/* FNV-1a: the same on every machine, so that a captured one gives the same ids anywhere. */
static uint64_t hash_bytes(uint64_t hash, const char *p, size_t n)
{
	for (; n > 0; n--, p++)
		hash = (hash ^ (unsigned char)*p) * 0x100000001b3ULL;
	return hash;
}

uint64_t watt_cgroup_line_hash(const struct watt_cgroup_line *line)
{
	uint64_t hash = 0xcbf29ce484222325ULL;

	hash = hash_bytes(hash, line->controllers, line->controllers_len);
	hash = hash_bytes(hash, ":", 1);
	hash = hash_bytes(hash, line->path, line->path_len);
	return watt_hash_u64(hash) | WATT_CGROUP_ID_HASHED;
}

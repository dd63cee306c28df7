/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Says who a process is, as the procfs source and meta see it: one line "key: value" for each
 * thing known. usage: who PID
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "source/config/config.h"
#include "source/registry.h"

static void say(const char *key, const char *value)
{
	if (value)
		printf("%s: %s\n", key, value);
}

static void say_cgroup(struct watt_meta *meta, const struct watt_usage *u)
{
	bool v1 = u->flags & WATT_USAGE_CGROUP_V1;
	const struct watt_cgroup *cgroup, *found;

	if (watt_meta_get_cgroup(meta, u->cgroup_id, v1, u->tgid, &cgroup) < 0)
		return;
	say("path", cgroup->path);
	say("runtime", cgroup->runtime);
	say("container", cgroup->container);
	say("pod", cgroup->pod_uid);
	say("unit", cgroup->unit);
	printf("v1: %u\n", cgroup->v1);
	/* once more, without the process */
	watt_meta_forget_cgroup(meta, u->cgroup_id, v1);
	if (watt_meta_get_cgroup(meta, u->cgroup_id, v1, 0, &found) == 0)
		say("found", found->path);
}

static int say_who(struct watt_meta *meta, const struct watt_usage *u)
{
	struct watt_identity id;

	if (watt_meta_read_process(meta, u->tgid, u->start_ns, &id) < 0)
		return 1;
	printf("id: %llx\n", (unsigned long long)u->cgroup_id);
	say("comm", u->comm);
	say("exe", id.exe);
	say("cmdline", id.cmdline);
	watt_identity_done(&id);
	say_cgroup(meta, u);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct watt_config config;
	static uint16_t slot[1];
	const struct watt_cpu_map map = { .n_cpus = 1, .n_slots = 1, .slot = slot };
	struct watt_env env = { .sysfs = WATT_ROOT_INIT,
				.procfs = WATT_ROOT_INIT,
				.config = &config };
	uint32_t pid = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 0;
	struct watt_usage_source *src;
	struct watt_usage_batch batch;
	struct watt_meta *meta;
	int status = 1;
	size_t i;

	if (watt_root_open(&env.procfs, "/proc") < 0 || watt_root_open(&env.sysfs, "/sys") < 0 ||
	    watt_usage_procfs.open(&env, &map, &src) < 0 || watt_meta_open(&env, &meta) < 0 ||
	    src->ops->sweep(src, true, &batch) < 0)
		return 1;
	for (i = 0; i < batch.n_records; i++)
		if (batch.records[i].tgid == pid)
			status = say_who(meta, &batch.records[i]);
	watt_meta_close(meta);
	src->ops->close(src);
	watt_root_close(&env.procfs);
	watt_root_close(&env.sysfs);
	return status;
}

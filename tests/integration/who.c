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

static int ask(const struct watt_env *env, const struct watt_meta_ops *ops,
	       const struct watt_question *question, struct watt_answer *ret)
{
	struct watt_meta *meta;
	int r;

	r = ops->open(env, &meta);
	if (r < 0)
		return r;
	r = ops->answer(meta, question, ret);
	ops->close(meta);
	return r;
}

static void say_cgroup(const struct watt_env *env, const struct watt_usage *u)
{
	struct watt_question q = { .kind = WATT_ASK_CGROUP,
				   .cgroup = { .id = u->cgroup_id,
					       .pid = u->tgid,
					       .v1 = u->flags & WATT_USAGE_CGROUP_V1 } };
	struct watt_answer answer;

	if (ask(env, &watt_meta_cgroup, &q, &answer) < 0)
		return;
	say("path", answer.cgroup.path);
	say("runtime", answer.cgroup.runtime);
	say("container", answer.cgroup.container);
	say("pod", answer.cgroup.pod_uid);
	say("unit", answer.cgroup.unit);
	printf("v1: %u\n", answer.cgroup.v1);
	watt_answer_done(&answer);
	/* once more, without the process */
	q.cgroup.pid = 0;
	if (ask(env, &watt_meta_cgroup, &q, &answer) < 0)
		return;
	say("found", answer.cgroup.path);
	watt_answer_done(&answer);
}

static int say_who(const struct watt_env *env, const struct watt_usage *u)
{
	struct watt_question q = { .kind = WATT_ASK_PROCESS, .process = { u->tgid, u->start_ns } };
	struct watt_answer answer;

	if (ask(env, &watt_meta_process, &q, &answer) < 0)
		return 1;
	printf("id: %llx\n", (unsigned long long)u->cgroup_id);
	say("comm", u->comm);
	say("exe", answer.identity.exe);
	say("cmdline", answer.identity.cmdline);
	watt_answer_done(&answer);
	say_cgroup(env, u);
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
	struct watt_activity_source *src;
	struct watt_usage_batch batch;
	int status = 1;
	size_t i;

	if (watt_root_open(&env.procfs, "/proc") < 0 || watt_root_open(&env.sysfs, "/sys") < 0 ||
	    watt_activity_procfs.open(&env, &map, &src) < 0 ||
	    src->ops->sweep(src, true, &batch) < 0)
		return 1;
	for (i = 0; i < batch.n_records; i++)
		if (batch.records[i].tgid == pid)
			status = say_who(&env, &batch.records[i]);
	src->ops->close(src);
	watt_root_close(&env.procfs);
	watt_root_close(&env.sysfs);
	return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Questions of attribution to meta providers, and their answers as ops. It must not wait. */
#include "naming.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/util.h"

int watt_naming_init(struct watt_naming *naming, const struct watt_env *env)
{
	return watt_inquiry_new(env, NULL, &naming->inquiry);
}

void watt_naming_connect(struct watt_naming *naming, struct watt_executor *executor)
{
	naming->executor = executor;
	naming->attrib = watt_executor_attrib(executor);
}

int watt_naming_stop(struct watt_naming *naming)
{
	return naming->inquiry ? watt_inquiry_stop(naming->inquiry) : 0;
}

void watt_naming_done(struct watt_naming *naming)
{
	naming->inquiry = watt_inquiry_free(naming->inquiry);
}

static int take_answer(struct watt_naming *naming, const struct watt_answer *answer)
{
	struct watt_op op = { 0 };

	switch (answer->kind) {
	case WATT_ASK_PROCESS:
		op.kind = WATT_OP_IDENTITY;
		op.identity = &answer->identity;
		break;
	case WATT_ASK_CGROUP:
		op.kind = WATT_OP_CGROUP;
		op.cgroup = &answer->cgroup;
		break;
	case WATT_ASK_USER:
		op.kind = WATT_OP_USER;
		op.user.uid = answer->user.uid;
		op.user.name = answer->user.name;
		break;
	case WATT_ASK_CONTAINER:
		op.kind = WATT_OP_CONTAINER;
		op.container = &answer->container;
		break;
	}
	return watt_executor_apply(naming->executor, &op, NULL);
}

int watt_naming_take_answers(struct watt_naming *naming)
{
	struct watt_answer answer;
	int r = 0;

	while (r == 0 && watt_inquiry_next(naming->inquiry, &answer) == 0) {
		r = take_answer(naming, &answer);
		watt_answer_done(&answer);
	}
	return r;
}

static void ask_processes(struct watt_naming *naming)
{
	struct watt_question q = { .kind = WATT_ASK_PROCESS };
	size_t room = watt_inquiry_room(naming->inquiry, q.kind);

	for (; room &&
	       watt_attrib_next_nameless(naming->attrib, &q.process.pid, &q.process.start_ns) == 0;
	     room--)
		watt_inquiry_ask(naming->inquiry, &q);
}

static void ask_cgroups(struct watt_naming *naming)
{
	struct watt_question q = { .kind = WATT_ASK_CGROUP };
	size_t room = watt_inquiry_room(naming->inquiry, q.kind);

	for (; room && watt_attrib_next_unknown_cgroup(naming->attrib, &q.cgroup.id, &q.cgroup.v1,
						       &q.cgroup.pid) == 0;
	     room--)
		watt_inquiry_ask(naming->inquiry, &q);
}

static void ask_users(struct watt_naming *naming)
{
	struct watt_question q = { .kind = WATT_ASK_USER };
	size_t room = watt_inquiry_room(naming->inquiry, q.kind);

	for (; room && watt_attrib_next_unknown_user(naming->attrib, &q.uid) == 0; room--)
		watt_inquiry_ask(naming->inquiry, &q);
}

/* Where no runtime can be asked, containers are called by their ids. */
static void ask_containers(struct watt_naming *naming)
{
	struct watt_question q = { .kind = WATT_ASK_CONTAINER };
	size_t room = watt_inquiry_room(naming->inquiry, q.kind);
	struct watt_cgroup c;

	for (; room && watt_attrib_next_unknown_container(naming->attrib, &c) == 0; room--) {
		if (!c.container || strlen(c.container) >= sizeof(q.container.id))
			continue;
		watt_strlcpy(q.container.id, c.container, sizeof(q.container.id));
		watt_strlcpy(q.container.runtime, c.runtime ? c.runtime : "",
			     sizeof(q.container.runtime));
		watt_strlcpy(q.container.pod_uid, c.pod_uid ? c.pod_uid : "",
			     sizeof(q.container.pod_uid));
		q.container.uid = c.path ? watt_cgroup_find_user(c.path) : 0;
		watt_inquiry_ask(naming->inquiry, &q);
	}
}

void watt_naming_ask(struct watt_naming *naming)
{
	watt_inquiry_tend(naming->inquiry, watt_now_ns());
	ask_cgroups(naming);
	ask_containers(naming);
	ask_users(naming);
	ask_processes(naming);
}

bool watt_naming_is_pending(const struct watt_naming *naming)
{
	return watt_inquiry_pending(naming->inquiry) > 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Names taken out of columns. Most texts may be missing: what was not known then. */
#include "record/who.h"

#include <errno.h>

#include "base/util.h"

struct text {
	enum watt_column_id column;
	const char **text;
};

static int get_texts(struct watt_values *values, const struct text *texts, size_t n)
{
	size_t i;
	int r = 0;

	for (i = 0; i < n && r == 0; i++)
		r = watt_values_get_text(values, texts[i].column, texts[i].text);
	return r;
}

int watt_who_next_identity(struct watt_who *who, struct watt_values *values, struct watt_op *ret)
{
	const uint32_t missing = WATT_IDENTITY_EXE | WATT_IDENTITY_CMDLINE | WATT_IDENTITY_CGROUP |
				 WATT_IDENTITY_UID;
	struct watt_identity *identity = &who->identity;
	const struct text texts[] = {
		{ WATT_COLUMN_IDENTITY_EXE, &identity->exe },
		{ WATT_COLUMN_IDENTITY_CMDLINE, &identity->cmdline },
		{ WATT_COLUMN_IDENTITY_VM, &identity->vm_name },
		{ WATT_COLUMN_IDENTITY_HYPERVISOR, &identity->hypervisor },
	};
	int r = watt_values_get_u32(values, WATT_COLUMN_IDENTITY_PID, UINT32_MAX, &identity->pid);

	if (r == 0)
		r = watt_values_get_u32(values, WATT_COLUMN_IDENTITY_PARENT, UINT32_MAX,
					&identity->parent_pid);
	if (r == 0)
		r = watt_values_get(values, WATT_COLUMN_IDENTITY_START, UINT64_MAX,
				    &identity->start_ns);
	if (r == 0)
		r = watt_values_get_u32(values, WATT_COLUMN_IDENTITY_UID, UINT32_MAX,
					&identity->uid);
	if (r == 0)
		r = watt_values_get_u32(values, WATT_COLUMN_IDENTITY_MISSING, missing,
					&identity->missing);
	if (r == 0)
		r = watt_values_get_comm(values, WATT_COLUMN_IDENTITY_COMM, identity->comm);
	if (r == 0)
		r = get_texts(values, texts, WATT_ARRAY_SIZE(texts));
	ret->identity = identity;
	return r;
}

int watt_who_next_cgroup(struct watt_who *who, struct watt_values *values, struct watt_op *ret)
{
	struct watt_cgroup *cgroup = &who->cgroup;
	const struct text texts[] = {
		{ WATT_COLUMN_CGROUP_PATH, &cgroup->path },
		{ WATT_COLUMN_CGROUP_RUNTIME, &cgroup->runtime },
		{ WATT_COLUMN_CGROUP_CONTAINER, &cgroup->container },
		{ WATT_COLUMN_CGROUP_POD, &cgroup->pod_uid },
		{ WATT_COLUMN_CGROUP_UNIT, &cgroup->unit },
		{ WATT_COLUMN_CGROUP_USER_UNIT, &cgroup->user_unit },
	};
	int r = watt_values_get(values, WATT_COLUMN_CGROUP_ID, UINT64_MAX, &cgroup->id);

	if (r == 0)
		r = watt_values_get_u32(values, WATT_COLUMN_CGROUP_V1, 1, &cgroup->v1);
	ret->cgroup = cgroup;
	if (r == 0)
		r = get_texts(values, texts, WATT_ARRAY_SIZE(texts));
	cgroup->job = NULL;
	/* chunks of old recordings have no such column */
	if (r == 0 && watt_values_cursor(values, WATT_COLUMN_CGROUP_JOB)->n)
		r = watt_values_get_text(values, WATT_COLUMN_CGROUP_JOB, &cgroup->job);
	return r;
}

int watt_who_next_user(struct watt_values *values, struct watt_op *ret)
{
	int r = watt_values_get_u32(values, WATT_COLUMN_USER_UID, UINT32_MAX, &ret->user.uid);

	if (r == 0)
		r = watt_values_get_text(values, WATT_COLUMN_USER_NAME, &ret->user.name);
	if (r == 0 && !ret->user.name)
		return watt_values_refuse(values, WATT_COLUMN_USER_NAME);
	return r;
}

static int read_label(struct watt_values *values, struct watt_label *ret)
{
	int r = watt_values_get_text(values, WATT_COLUMN_LABEL_KEY, &ret->key);

	if (r == 0 && !ret->key)
		r = watt_values_refuse(values, WATT_COLUMN_LABEL_KEY);
	if (r == 0)
		r = watt_values_get_text(values, WATT_COLUMN_LABEL_VALUE, &ret->value);
	return r == 0 && !ret->value ? watt_values_refuse(values, WATT_COLUMN_LABEL_VALUE) : r;
}

int watt_who_next_container(struct watt_who *who, struct watt_values *values, struct watt_op *ret)
{
	struct watt_container *container = &who->container;
	const struct text texts[] = {
		{ WATT_COLUMN_CONTAINER_ID, &container->id },
		{ WATT_COLUMN_CONTAINER_RUNTIME, &container->runtime },
		{ WATT_COLUMN_CONTAINER_NAME, &container->name },
		{ WATT_COLUMN_CONTAINER_IMAGE, &container->image },
		{ WATT_COLUMN_CONTAINER_POD, &container->pod_uid },
		{ WATT_COLUMN_CONTAINER_POD_NAME, &container->pod_name },
		{ WATT_COLUMN_CONTAINER_NAMESPACE, &container->pod_namespace },
	};
	uint32_t i;
	int r = get_texts(values, texts, WATT_ARRAY_SIZE(texts));

	if (r == 0)
		r = watt_values_get_u32(values, WATT_COLUMN_CONTAINER_LABELS, WATT_LABELS_MAX,
					&container->n_labels);
	for (i = 0; r == 0 && i < container->n_labels; i++)
		r = read_label(values, &who->labels[i]);
	container->labels = who->labels;
	ret->container = container;
	return r;
}

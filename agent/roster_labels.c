/* SPDX-License-Identifier: Apache-2.0 */
/* What users are called in metrics: labels by Prometheus' conventions, only those that are known. */
#include "roster.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "xalloc.h"

static void add_pid(struct bytes *labels, const struct watt_entity *entity)
{
	char text[16];

	if (!entity->identity || !entity->identity->pid)
		return;
	snprintf(text, sizeof(text), "%" PRIu32, entity->identity->pid);
	exposition_add_label(labels, "pid", text);
}

static void add_container(struct bytes *labels, const struct watt_container *container)
{
	if (!container)
		return;
	exposition_add_label(labels, "container", container->name);
	exposition_add_label(labels, "image", container->image);
	exposition_add_label(labels, "runtime", container->runtime);
}

static void add_pod(struct bytes *labels, const struct watt_container *container)
{
	if (!container)
		return;
	exposition_add_label(labels, "pod", container->pod_name);
	exposition_add_label(labels, "namespace", container->pod_namespace);
	exposition_add_label(labels, "pod_uid", container->pod_uid);
}

/* A kworker says behind a '-' what it does at the moment; it would be another series each time. */
static void add_comm(struct bytes *labels, const char *name)
{
	char comm[64];

	snprintf(comm, sizeof(comm), "%s", name);
	if (strncmp(comm, "kworker/", 8) == 0)
		comm[strcspn(comm, "-+")] = '\0';
	exposition_add_label(labels, "comm", comm);
}

static void add_process(struct bytes *labels, const struct watt_entity *entity)
{
	add_pid(labels, entity);
	add_comm(labels, entity->name);
	if (entity->identity)
		exposition_add_label(labels, "exe", entity->identity->exe);
	if (entity->cgroup) {
		exposition_add_label(labels, "container_id", entity->cgroup->container);
		exposition_add_label(labels, "pod_uid", entity->cgroup->pod_uid);
		exposition_add_label(labels, "unit", entity->cgroup->unit);
	}
}

static void add_vm(struct bytes *labels, const struct watt_entity *entity)
{
	add_pid(labels, entity);
	exposition_add_label(labels, "vm",
			     entity->identity && entity->identity->vm_name ?
				     entity->identity->vm_name :
				     entity->name);
	if (entity->identity)
		exposition_add_label(labels, "hypervisor", entity->identity->hypervisor);
}

static const char *id_of(const struct watt_entity *entity)
{
	return entity->container && entity->container->id ? entity->container->id : entity->name;
}

char *roster_labels(enum level_kind kind, const struct watt_row *row)
{
	const struct watt_entity *entity = row->entity;
	struct bytes labels = { 0 };

	exposition_add_label(&labels, "kind", watt_entity_kind_name(entity->kind));
	switch (kind) {
	case LEVEL_PROCESS:
		add_process(&labels, entity);
		break;
	case LEVEL_CONTAINER:
		exposition_add_label(&labels, "container_id", id_of(entity));
		add_container(&labels, entity->container);
		add_pod(&labels, entity->container);
		break;
	case LEVEL_POD:
		if (!entity->container || !entity->container->pod_uid)
			exposition_add_label(&labels, "pod_uid", entity->name);
		add_pod(&labels, entity->container);
		break;
	case LEVEL_UNIT:
		exposition_add_label(&labels, "unit", entity->name);
		break;
	case LEVEL_USER:
		exposition_add_label(&labels, "user", entity->name);
		break;
	case LEVEL_VM:
		add_vm(&labels, entity);
		break;
	case LEVEL_N:
		break;
	}
	return xrealloc(labels.data, labels.n + 1, 1);
}

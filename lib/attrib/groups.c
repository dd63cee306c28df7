/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sums over processes: cgroups and what they stand for (containers, pods, units), and users.
 * Their numbers come with usage; their names are asked for and come later.
 */
#include "attrib/state.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "attrib/reserve.h"
#include "base/util.h"

/* Interrupts are the kernel's. */
static struct watt_member *add_kernel_member(struct watt_attrib *at, struct watt_account *account)
{
	account->parent_id = at->kernel->id;
	return watt_member_get(&at->accounts, account,
			       (struct watt_account *const[WATT_MEMBER_SUMS]){
				       [WATT_MEMBER_OWNER] = at->kernel,
				       [WATT_MEMBER_TRACKED] = NULL,
			       });
}

int watt_groups_init(struct watt_attrib *at)
{
	int r;

	r = watt_htab_init(&at->cgroups);
	if (r < 0)
		return r;
	r = watt_htab_init(&at->users);
	if (r < 0)
		return r;
	at->idle = watt_accounts_add(&at->accounts, WATT_ENTITY_IDLE, watt_name_new("idle"));
	at->unattributed = watt_accounts_add(&at->accounts, WATT_ENTITY_UNATTRIBUTED,
					     watt_name_new("unattributed"));
	at->irq = watt_accounts_add(&at->accounts, WATT_ENTITY_IRQ, watt_name_new("irq"));
	at->softirq =
		watt_accounts_add(&at->accounts, WATT_ENTITY_SOFTIRQ, watt_name_new("softirq"));
	at->kernel = watt_accounts_add(&at->accounts, WATT_ENTITY_KERNEL, watt_name_new("kernel"));
	if (!at->idle || !at->unattributed || !at->irq || !at->softirq || !at->kernel)
		return -ENOMEM;
	return add_kernel_member(at, at->irq) && add_kernel_member(at, at->softirq) ? 0 : -ENOMEM;
}

struct watt_account *watt_groups_add_outside(struct watt_attrib *at)
{
	static const struct watt_identity identity = {
		.missing = WATT_IDENTITY_EXE | WATT_IDENTITY_CMDLINE | WATT_IDENTITY_CGROUP |
			   WATT_IDENTITY_UID,
		.comm = "outside",
	};
	struct watt_name *name = watt_name_new_identity(&identity);
	struct watt_account *account;

	if (!name)
		return NULL;
	name->text = "outside this pid namespace";
	account = watt_accounts_add(&at->accounts, WATT_ENTITY_PROCESS, name);
	if (account)
		account->count = 1;
	return account;
}

static void free_nodes(struct watt_htab *table)
{
	struct watt_htab_iter it = { 0 };
	struct watt_hnode *node;

	while ((node = watt_htab_iterate(table, &it)))
		free(watt_container_of(node, struct watt_number_node, node));
	watt_htab_done(table);
}

void watt_groups_done(struct watt_attrib *at)
{
	free_nodes(&at->cgroups);
	free_nodes(&at->users);
	free(at->asks.processes);
	free(at->asks.cgroups);
	free(at->asks.users);
	free(at->asks.containers);
}

static struct watt_number_node *find_number(const struct watt_htab *table, uint64_t number, bool v1)
{
	struct watt_hnode *node = watt_htab_first(table, watt_hash_u64(number));

	for (; node; node = watt_htab_next(node)) {
		struct watt_number_node *n = watt_container_of(node, struct watt_number_node, node);

		if (n->number == number && n->v1 == v1)
			return n;
	}
	return NULL;
}

static struct watt_number_node *add_number(struct watt_attrib *at, struct watt_htab *table,
					   uint64_t number, bool v1, enum watt_entity_kind kind,
					   struct watt_name *name_take)
{
	struct watt_number_node *n = calloc(1, sizeof(*n));

	if (!n) {
		watt_name_unref(name_take);
		return NULL;
	}
	n->number = number;
	n->v1 = v1;
	n->account = watt_accounts_add(&at->accounts, kind, name_take);
	if (!n->account) {
		free(n);
		return NULL;
	}
	watt_htab_insert(table, &n->node, watt_hash_u64(number));
	return n;
}

/* Sweeps until a cgroup that nobody could name is asked for again, by another process in it. */
#define ASK_AGAIN_SWEEPS 20

static void ask_cgroup(struct watt_attrib *at, struct watt_number_node *n, uint32_t pid)
{
	struct watt_asks *asks = &at->asks;

	n->asked_sweep = at->tasks.sweep;
	if (watt_grow((void **)&asks->cgroups, &asks->cap_cgroups, asks->n_cgroups,
		      sizeof(*asks->cgroups)) < 0)
		return;
	asks->cgroups[asks->n_cgroups++] = (struct watt_cgroup_ask){ n->number, pid, n->v1 };
	n->is_asked = true;
}

struct watt_account *watt_groups_get_cgroup(struct watt_attrib *at, uint64_t id, bool v1,
					    uint32_t pid)
{
	struct watt_number_node *n = find_number(&at->cgroups, id, v1);
	struct watt_cgroup unknown = { .id = id, .v1 = v1 };

	if (!n) {
		n = add_number(at, &at->cgroups, id, v1, WATT_ENTITY_CGROUP,
			       watt_name_new_cgroup(&unknown));
		if (!n)
			return NULL;
		ask_cgroup(at, n, pid);
	} else if (!n->account->name->cgroup.path && !n->is_asked &&
		   at->tasks.sweep - n->asked_sweep >= ASK_AGAIN_SWEEPS) {
		ask_cgroup(at, n, pid);
	}
	return n->account;
}

void watt_groups_drop_cgroup(struct watt_attrib *at, const struct watt_account *account)
{
	const struct watt_cgroup *cgroup = &account->name->cgroup;
	struct watt_number_node *n = find_number(&at->cgroups, cgroup->id, cgroup->v1);

	if (!n || n->account != account)
		return;
	watt_htab_remove(&at->cgroups, &n->node);
	free(n);
}

struct watt_account *watt_groups_get_user(struct watt_attrib *at, uint32_t uid)
{
	struct watt_number_node *n = find_number(&at->users, uid, false);
	struct watt_asks *asks = &at->asks;
	char text[16];

	if (n)
		return n->account;
	snprintf(text, sizeof(text), "%" PRIu32, uid);
	if (watt_grow((void **)&asks->users, &asks->cap_users, asks->n_users,
		      sizeof(*asks->users)) == 0)
		asks->users[asks->n_users++] = uid;
	n = add_number(at, &at->users, uid, false, WATT_ENTITY_USER, watt_name_new(text));
	return n ? n->account : NULL;
}

static void ask_container(struct watt_attrib *at, const struct watt_account *container)
{
	struct watt_asks *asks = &at->asks;

	if (watt_grow((void **)&asks->containers, &asks->cap_containers, asks->n_containers,
		      sizeof(*asks->containers)) == 0)
		asks->containers[asks->n_containers++] = container->id;
}

int watt_groups_ask_again(struct watt_attrib *at)
{
	struct watt_htab_iter it = { 0 };
	struct watt_hnode *node;
	struct watt_asks *asks = &at->asks;
	size_t i;

	while ((node = watt_htab_iterate(&at->tasks.processes, &it))) {
		struct watt_process *process = watt_container_of(node, struct watt_process, node);
		struct watt_number_node *n;

		if (process->flags & WATT_USAGE_NO_CGROUP)
			continue;
		n = find_number(&at->cgroups, process->cgroup_id,
				process->flags & WATT_USAGE_CGROUP_V1);
		if (n && !n->is_asked)
			ask_cgroup(at, n, process->pid);
	}
	asks->n_containers = 0;
	for (i = 0; i < at->accounts.n; i++)
		if (at->accounts.list[i]->kind == WATT_ENTITY_CONTAINER)
			ask_container(at, at->accounts.list[i]);
	asks->n_users = 0;
	it = (struct watt_htab_iter){ 0 };
	while ((node = watt_htab_iterate(&at->users, &it))) {
		int r = watt_grow((void **)&asks->users, &asks->cap_users, asks->n_users,
				  sizeof(*asks->users));

		if (r < 0)
			return r;
		asks->users[asks->n_users++] =
			(uint32_t)watt_container_of(node, struct watt_number_node, node)->number;
	}
	return 0;
}

int watt_attrib_next_unknown_cgroup(struct watt_attrib *at, uint64_t *ret_id, bool *ret_v1,
				    uint32_t *ret_pid)
{
	const struct watt_cgroup_ask *ask;
	struct watt_number_node *n;

	if (!at->asks.n_cgroups)
		return 1;
	ask = &at->asks.cgroups[--at->asks.n_cgroups];
	n = find_number(&at->cgroups, ask->id, ask->v1);
	if (n)
		n->is_asked = false;
	*ret_id = ask->id;
	*ret_v1 = ask->v1;
	*ret_pid = ask->pid;
	return 0;
}

int watt_attrib_next_unknown_user(struct watt_attrib *at, uint32_t *ret_uid)
{
	if (!at->asks.n_users)
		return 1;
	*ret_uid = at->asks.users[--at->asks.n_users];
	return 0;
}

int watt_attrib_set_user(struct watt_attrib *at, uint32_t uid, const char *text)
{
	struct watt_number_node *n = find_number(&at->users, uid, false);
	struct watt_name *name;

	if (!n)
		return -ESRCH;
	name = watt_name_new(text);
	if (!name)
		return -ENOMEM;
	watt_name_unref(n->account->name);
	n->account->name = name;
	return 0;
}

static struct watt_account *add_sum(struct watt_attrib *at, const struct watt_account *part,
				    enum watt_entity_kind kind, const char *text)
{
	struct watt_account *sum = watt_accounts_add(&at->accounts, kind, watt_name_new(text));

	if (sum)
		sum->cgroup = watt_name_ref(part->name);
	return sum;
}

/* Makes the cgroup a part of the sum of this kind and name. *ret is NULL without a name. */
static int join(struct watt_attrib *at, struct watt_account *part, enum watt_entity_kind kind,
		const char *text, struct watt_account **ret)
{
	*ret = NULL;
	if (!text)
		return 0;
	*ret = watt_accounts_find(&at->accounts, kind, text);
	if (!*ret)
		*ret = add_sum(at, part, kind, text);
	return *ret ? 0 : -ENOMEM;
}

/* The container of that name which is in this pod, or may be: ids are unique, names are not. */
static struct watt_account *find_container(const struct watt_attrib *at, const char *text,
					   const struct watt_account *pod)
{
	struct watt_account *c = watt_accounts_find(&at->accounts, WATT_ENTITY_CONTAINER, text);

	while (c && pod && c->home && c->home->kind == WATT_ENTITY_POD && c->home != pod)
		c = watt_accounts_find_next(c);
	return c;
}

/*
 * What a container is in has all of it: its pod, or else a unit. A container that shows up in two
 * units, which no runtime does, is in neither.
 */
static int join_container(struct watt_attrib *at, const struct watt_account *part, const char *text,
			  struct watt_account *pod, struct watt_account *unit,
			  struct watt_account **ret)
{
	struct watt_account *home = pod ? pod : unit, *container;

	*ret = NULL;
	if (!text)
		return 0;
	container = find_container(at, text, pod);
	if (!container) {
		container = add_sum(at, part, WATT_ENTITY_CONTAINER, text);
		if (!container)
			return -ENOMEM;
		watt_account_set_home(container, home);
		ask_container(at, container);
	} else if (pod) {
		watt_account_set_home(container, pod);
	} else if (container->home && container->home->kind == WATT_ENTITY_UNIT &&
		   container->home != unit) {
		watt_account_set_home(container, NULL);
	}
	*ret = container;
	return 0;
}

static int join_sums(struct watt_attrib *at, struct watt_account *part,
		     const struct watt_cgroup *cgroup)
{
	const char *unit_text = cgroup->user_unit ? cgroup->user_unit : cgroup->unit;
	struct watt_account *container = NULL, *pod = NULL, *unit = NULL, *job = NULL;
	int r;

	r = join(at, part, WATT_ENTITY_POD, cgroup->pod_uid, &pod);
	if (r == 0)
		r = join(at, part, WATT_ENTITY_UNIT, unit_text, &unit);
	if (r == 0)
		r = join(at, part, WATT_ENTITY_JOB, cgroup->job, &job);
	if (r == 0)
		r = join_container(at, part, cgroup->container, pod, unit, &container);
	if (r < 0)
		return r;
	/* somebody may have told which pod the container is in, when no path does */
	if (!pod && container && container->home && container->home->kind == WATT_ENTITY_POD)
		pod = container->home;
	/* the first one is its parent */
	if (container)
		watt_account_link(&at->accounts, part, container);
	if (pod)
		watt_account_link(&at->accounts, part, pod);
	if (job)
		watt_account_link(&at->accounts, part, job);
	if (unit)
		watt_account_link(&at->accounts, part, unit);
	return 0;
}

int watt_attrib_set_cgroup(struct watt_attrib *at, const struct watt_cgroup *cgroup)
{
	struct watt_number_node *n = find_number(&at->cgroups, cgroup->id, cgroup->v1);
	struct watt_name *name;

	if (!n)
		return -ESRCH;
	name = watt_name_new_cgroup(cgroup);
	if (!name)
		return -ENOMEM;
	watt_name_unref(n->account->name);
	n->account->name = name;
	watt_name_unref(n->account->cgroup);
	n->account->cgroup = watt_name_ref(name);
	at->has_late_cgroups = true;
	return join_sums(at, n->account, cgroup);
}

/* Who was in a cgroup before it had a name, and may never run again. */
void watt_groups_spread_names(struct watt_attrib *at)
{
	size_t i;

	if (!at->has_late_cgroups)
		return;
	for (i = 0; i < at->accounts.n; i++) {
		struct watt_account *account = at->accounts.list[i];
		const struct watt_number_node *n;

		if (!account->cgroup || account->cgroup->cgroup.path)
			continue;
		n = find_number(&at->cgroups, account->cgroup->cgroup.id,
				account->cgroup->cgroup.v1);
		if (!n || n->account->name == account->cgroup)
			continue;
		watt_name_unref(account->cgroup);
		account->cgroup = watt_name_ref(n->account->name);
	}
	at->has_late_cgroups = false;
}

int watt_attrib_next_unknown_container(struct watt_attrib *at, struct watt_cgroup *ret)
{
	struct watt_asks *asks = &at->asks;

	while (asks->n_containers) {
		const struct watt_account *container = watt_accounts_find_id(
			&at->accounts, asks->containers[--asks->n_containers]);

		if (!container || !container->cgroup)
			continue;
		*ret = container->cgroup->cgroup;
		return 0;
	}
	return 1;
}

static void set_title(struct watt_account *account, struct watt_name *title_take)
{
	watt_name_unref(account->title);
	account->title = title_take;
}

/* Its cgroups are in the pod then: they bring along what they have. */
static int put_into_pod(struct watt_attrib *at, struct watt_account *container,
			const struct watt_container *told)
{
	struct watt_account *pod;
	size_t i, u;

	pod = watt_accounts_find(&at->accounts, WATT_ENTITY_POD, told->pod_uid);
	if (!pod) {
		pod = watt_accounts_add(&at->accounts, WATT_ENTITY_POD,
					watt_name_new(told->pod_uid));
		if (!pod)
			return -ENOMEM;
		if (container->cgroup)
			pod->cgroup = watt_name_ref(container->cgroup);
	}
	for (i = 0; i < at->accounts.n; i++) {
		struct watt_account *part = at->accounts.list[i];

		for (u = 0; u < WATT_ACCOUNT_UPS && part->up[u]; u++)
			if (part->up[u] == container)
				break;
		if (u < WATT_ACCOUNT_UPS && part->up[u])
			watt_account_link(&at->accounts, part, pod);
	}
	watt_account_set_home(container, pod);
	return 0;
}

/* Several may tell of one container: what the newest does not know stays as it was told. */
static struct watt_container complete(const struct watt_account *account,
				      const struct watt_container *told)
{
	struct watt_container whole = *told;
	const struct watt_container *before;

	if (!account->title || !account->title->has_container)
		return whole;
	before = &account->title->container;
	whole.runtime = told->runtime ? told->runtime : before->runtime;
	whole.name = told->name ? told->name : before->name;
	whole.image = told->image ? told->image : before->image;
	if (!told->pod_uid) {
		whole.pod_uid = before->pod_uid;
		whole.pod_name = before->pod_name;
		whole.pod_namespace = before->pod_namespace;
	}
	if (!told->n_labels) {
		whole.labels = before->labels;
		whole.n_labels = before->n_labels;
	}
	return whole;
}

static int name_container(struct watt_attrib *at, const struct watt_container *told)
{
	struct watt_account *pod = NULL, *container;
	struct watt_container whole;
	struct watt_name *title;

	if (told->pod_uid)
		pod = watt_accounts_find(&at->accounts, WATT_ENTITY_POD, told->pod_uid);
	container = find_container(at, told->id, pod);
	if (!container)
		return -ESRCH;
	whole = complete(container, told);
	title = watt_name_new_container(&whole);
	if (!title)
		return -ENOMEM;
	set_title(container, title);
	watt_reserve_parse(&title->container, &container->request);
	if (!told->pod_uid || (pod && container->home == pod))
		return 0;
	return put_into_pod(at, container, told);
}

static int name_pod(struct watt_attrib *at, const struct watt_container *told)
{
	struct watt_account *pod =
		watt_accounts_find(&at->accounts, WATT_ENTITY_POD, told->pod_uid);
	struct watt_name *title;

	if (!pod)
		return -ESRCH;
	title = watt_name_new_pod(told);
	if (!title)
		return -ENOMEM;
	set_title(pod, title);
	return 0;
}

int watt_attrib_set_container(struct watt_attrib *at, const struct watt_container *container)
{
	int r = 0;

	if (container->id)
		r = name_container(at, container);
	if (r == 0 && container->pod_uid && (container->pod_name || !container->id))
		r = name_pod(at, container);
	return r;
}

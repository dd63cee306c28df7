/* SPDX-License-Identifier: Apache-2.0 */
/* Who holds which part of the CPUs is looked up at most once a second, or when a holder ends. */
#include "attrib/reserve.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "attrib/state.h"
#include "base/parse.h"
#include "base/util.h"

#define LOOK_NS 1000000000ULL
#define MAX_AMOUNT (1ULL << 50)
#define ANY UINT_MAX

/* What is asked for, as Kubernetes labels it in plain numbers, and how many of our units one is. */
static const struct {
	const char *label;
	uint64_t units;
} kinds[WATT_N_REQUESTS] = {
	[WATT_REQUEST_CPU] = { "io.kubernetes.container.requests.cpu", 1000 },
	[WATT_REQUEST_MEMORY] = { "io.kubernetes.container.requests.memory", 1 },
};

static uint64_t parse_amount(const char *text, uint64_t units)
{
	uint64_t num, den;

	if (watt_parse_ratio(text, &num, &den) < 0)
		return 0;
	return (uint64_t)WATT_MIN((watt_u128)num * units / den, (watt_u128)MAX_AMOUNT);
}

void watt_reserve_parse(const struct watt_container *container, struct watt_request *ret)
{
	uint32_t i;
	int kind;

	*ret = (struct watt_request){ 0 };
	for (i = 0; i < container->n_labels; i++)
		for (kind = 0; kind < WATT_N_REQUESTS; kind++)
			if (strcmp(container->labels[i].key, kinds[kind].label) == 0)
				ret->amount[kind] =
					parse_amount(container->labels[i].value, kinds[kind].units);
}

/* The container of a cgroup, where it has reserved something of one kind, or of any. */
static struct watt_account *holder_of(const struct watt_account *cgroup, unsigned int wanted)
{
	size_t i;
	int kind;

	for (i = 0; cgroup && i < WATT_ACCOUNT_UPS && cgroup->up[i]; i++)
		for (kind = 0; kind < WATT_N_REQUESTS; kind++)
			if (cgroup->up[i]->kind == WATT_ENTITY_CONTAINER && wanted & 1u << kind &&
			    cgroup->up[i]->request.amount[kind])
				return cgroup->up[i];
	return NULL;
}

/* What a domain's idle energy is divided by: memory where that is known, CPUs elsewhere. */
static enum watt_request_kind kind_of(const struct watt_attrib *at, size_t domain)
{
	return at->tree.domains[domain].kind == WATT_DOMAIN_DRAM && at->memory_bytes ?
		       WATT_REQUEST_MEMORY :
		       WATT_REQUEST_CPU;
}

static void drop_all(struct watt_attrib *at)
{
	size_t i;

	for (i = 0; i < at->n_reserves; i++)
		watt_actor_add_users(at->reserves[i].actor, -1);
	at->n_reserves = 0;
}

static bool is_earlier(const struct watt_process *process, const struct watt_reserve *reserve)
{
	return process->start_ns != reserve->start_ns ? process->start_ns < reserve->start_ns :
							process->pid < reserve->pid;
}

/* Its place among the reserves, a new one behind all of them. NULL: no memory. */
static struct watt_reserve *place_of(struct watt_attrib *at, struct watt_account *holder)
{
	size_t i = holder->reserve;

	if (i < at->n_reserves && at->reserves[i].holder == holder)
		return &at->reserves[i];
	if (watt_grow((void **)&at->reserves, &at->cap_reserves, at->n_reserves,
		      sizeof(*at->reserves)) < 0)
		return NULL;
	holder->reserve = at->n_reserves;
	at->reserves[at->n_reserves] = (struct watt_reserve){ .holder = holder,
							      .start_ns = UINT64_MAX,
							      .request = holder->request };
	return &at->reserves[at->n_reserves++];
}

/* By number of the process: the table that they come from has no order. */
static int compare(const void *a, const void *b)
{
	const struct watt_reserve *left = a, *right = b;

	if (left->start_ns != right->start_ns)
		return left->start_ns < right->start_ns ? -1 : 1;
	return left->pid < right->pid ? -1 : left->pid > right->pid;
}

static int look(struct watt_attrib *at)
{
	struct watt_htab_iter it = { 0 };
	struct watt_reserve *reserve;
	struct watt_hnode *node;

	drop_all(at);
	while ((node = watt_htab_iterate(&at->tasks.processes, &it))) {
		struct watt_process *process = watt_container_of(node, struct watt_process, node);
		struct watt_account *holder = holder_of(process->cgroup, ANY);

		if (!holder || !process->account || process->account == at->outside)
			continue;
		reserve = place_of(at, holder);
		if (!reserve)
			return -ENOMEM;
		if (!is_earlier(process, reserve))
			continue;
		if (reserve->actor)
			watt_actor_add_users(reserve->actor, -1);
		reserve->start_ns = process->start_ns;
		reserve->pid = process->pid;
		reserve->actor = watt_sweep_get_actor(at, process);
		if (!reserve->actor)
			return -ENOMEM;
		watt_actor_add_users(reserve->actor, 1);
	}
	if (at->n_reserves)
		qsort(at->reserves, at->n_reserves, sizeof(*at->reserves), compare);
	return 0;
}

static bool is_due(const struct watt_attrib *at, uint64_t t_ns)
{
	size_t i;

	if (t_ns - at->reserved_ns >= LOOK_NS)
		return true;
	for (i = 0; i < at->n_reserves; i++)
		if (!watt_member_get_user(at->reserves[i].actor)->is_alive)
			return true;
	return false;
}

int watt_reserves_push(struct watt_attrib *at, struct watt_slice *slice)
{
	const struct watt_uses *uses = &slice->uses[WATT_ACTIVITY_CPU_TIME];
	uint32_t place;
	size_t i;
	int r;

	if (at->idle_policy != WATT_IDLE_REQUESTS)
		return 0;
	if (is_due(at, slice->t1_ns)) {
		r = look(at);
		if (r < 0)
			return r;
		at->reserved_ns = slice->t1_ns;
	}
	for (place = 0; place < uses->n_places; place++)
		slice->capacity.amount[WATT_REQUEST_CPU] += (uint64_t)uses->n_units[place] * 1000;
	slice->capacity.amount[WATT_REQUEST_MEMORY] = at->memory_bytes;
	if (!at->n_reserves)
		return 0;
	slice->reserves = calloc(at->n_reserves, sizeof(*slice->reserves));
	if (!slice->reserves)
		return -ENOMEM;
	for (i = 0; i < at->n_reserves; i++) {
		slice->reserves[i] = at->reserves[i];
		watt_actor_add_users(at->reserves[i].actor, 1);
	}
	slice->n_reserves = at->n_reserves;
	return 0;
}

void watt_reserves_done(struct watt_attrib *at)
{
	free(at->reserves);
}

static int make_room(struct watt_attrib *at, size_t n)
{
	struct watt_share *shares;

	if (n <= at->cap_shares)
		return 0;
	shares = reallocarray(at->shares, n, sizeof(*shares));
	if (!shares)
		return -ENOMEM;
	at->shares = shares;
	at->cap_shares = n;
	return 0;
}

/* Those who hold something get their parts of it; *ret_rest_nj is what nobody has reserved. */
static int64_t give_reserved(struct watt_attrib *at, struct watt_ledger *ledger,
			     const struct watt_slice *slice, size_t domain, int64_t idle_nj,
			     int64_t *ret_rest_nj)
{
	enum watt_request_kind kind = kind_of(at, domain);
	uint64_t capacity = slice->capacity.amount[kind], sum = 0;
	size_t i, n = slice->n_reserves;
	int64_t given_nj = 0;

	for (i = 0; i < n; i++) {
		const struct watt_reserve *reserve = &slice->reserves[i];

		sum += reserve->request.amount[kind];
		at->shares[i] =
			(struct watt_share){ .weight = reserve->request.amount[kind],
					     .carry = &reserve->actor->self->carry[domain] };
	}
	at->shares[n] = (struct watt_share){ .weight = capacity > sum ? capacity - sum : 0,
					     .carry = &ledger->unreserved_carry };
	if (!sum && !at->shares[n].weight) {
		*ret_rest_nj = idle_nj;
		return 0;
	}
	watt_share_split(at->shares, n + 1, idle_nj);
	for (i = 0; i < n; i++) {
		watt_member_add_energy(slice->reserves[i].actor, domain, at->shares[i].amount);
		given_nj += at->shares[i].amount;
	}
	*ret_rest_nj = at->shares[n].amount;
	return given_nj;
}

static bool is_sharing_rest(const struct watt_part *part, enum watt_request_kind kind)
{
	return part->use->actor &&
	       !holder_of(part->use->actor->sums[WATT_MEMBER_CGROUP], 1u << kind);
}

/* What is not reserved goes to who ran without a reservation. */
static int64_t give_rest(struct watt_attrib *at, const struct watt_key_slice *view, size_t n,
			 size_t domain, int64_t rest_nj)
{
	enum watt_request_kind kind = kind_of(at, domain);
	int64_t given_nj = 0;
	size_t i, k = 0;

	for (i = 0; i < n; i++)
		if (is_sharing_rest(&view->parts[i], kind))
			at->shares[k++] = (struct watt_share){
				.weight = view->parts[i].weight,
				.carry = &view->parts[i].use->actor->self->carry[domain]
			};
	if (!k || rest_nj <= 0)
		return 0;
	watt_share_split(at->shares, k, rest_nj);
	for (i = 0, k = 0; i < n; i++) {
		if (!is_sharing_rest(&view->parts[i], kind))
			continue;
		watt_member_add_energy(view->parts[i].use->actor, domain, at->shares[k].amount);
		given_nj += at->shares[k++].amount;
	}
	return given_nj;
}

/* Containers request CPUs and memory of the machine, and nothing that a GPU has. */
static bool is_of_gpu(const struct watt_ledger *ledger)
{
	return ledger->key == WATT_KEY_GPU_TIME || ledger->key == WATT_KEY_GPU_MEMORY ||
	       watt_tree_key_of_kind(ledger->domain->kind) == WATT_KEY_GPU_TIME;
}

int watt_reserves_share(struct watt_attrib *at, struct watt_ledger *ledger,
			const struct watt_slice *slice, const struct watt_key_slice *view, size_t n,
			int64_t idle_nj, int64_t *ret_given_nj)
{
	size_t domain = (size_t)(ledger->domain - at->tree.domains);
	int64_t rest_nj, given_nj;
	int r;

	*ret_given_nj = 0;
	if (at->idle_policy != WATT_IDLE_REQUESTS || is_of_gpu(ledger) || idle_nj <= 0)
		return 0;
	r = make_room(at, WATT_MAX(n, slice->n_reserves + 1));
	if (r < 0)
		return r;
	given_nj = give_reserved(at, ledger, slice, domain, idle_nj, &rest_nj);
	watt_ledger_check(at, given_nj + rest_nj == idle_nj);
	*ret_given_nj = given_nj + give_rest(at, view, n, domain, rest_nj);
	watt_ledger_check(at, *ret_given_nj <= idle_nj);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The accounts of a session. Sums only ever add; what ends is retired into what stays. */
#include "attrib/account.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "attrib/doubt.h"
#include "attrib/member.h"
#include "base/util.h"

int watt_accounts_init(struct watt_accounts *accounts, size_t n_domains)
{
	int r;

	*accounts = (struct watt_accounts){
		.n_domains = n_domains, .cap_domains = n_domains, .n_windows = 1, .next_id = 1
	};
	r = watt_htab_init(&accounts->by_name);
	return r < 0 ? r : watt_htab_init(&accounts->by_id);
}

static bool is_found_by_name(enum watt_entity_kind kind)
{
	return kind == WATT_ENTITY_EXITED || kind == WATT_ENTITY_CONTAINER ||
	       kind == WATT_ENTITY_POD || kind == WATT_ENTITY_UNIT || kind == WATT_ENTITY_JOB;
}

uint64_t watt_account_name_key(enum watt_entity_kind kind, const char *text)
{
	uint64_t hash = kind;

	for (; *text; text++)
		hash = hash * 31 + (unsigned char)*text;
	return watt_hash_u64(hash);
}

static void account_free(struct watt_account *account)
{
	watt_members_free(account);
	watt_name_unref(account->name);
	watt_name_unref(account->title);
	watt_name_unref(account->cgroup);
	free(account->energy_nj);
	free(account);
}

void watt_accounts_done(struct watt_accounts *accounts)
{
	size_t i;

	/* members know their sums */
	for (i = 0; i < accounts->n; i++)
		watt_members_free(accounts->list[i]);
	for (i = 0; i < accounts->n; i++)
		account_free(accounts->list[i]);
	free(accounts->list);
	watt_htab_done(&accounts->by_name);
	watt_htab_done(&accounts->by_id);
	*accounts = (struct watt_accounts){ 0 };
}

/* What accounts have room for, and what is in it. */
struct shape {
	size_t n_domains, n_windows;
	size_t cap_domains, cap_windows;
	bool has_threads;
};

static void copy_numbers(struct watt_account *to, const struct watt_account *from,
			 const struct shape *shape)
{
	size_t n = shape->n_domains, i;

	memcpy(to->energy_nj, from->energy_nj, n * sizeof(*to->energy_nj));
	if (from->retired_nj && to->retired_nj)
		memcpy(to->retired_nj, from->retired_nj, n * sizeof(*to->retired_nj));
	if (from->carry && to->carry)
		memcpy(to->carry, from->carry, n * sizeof(*to->carry));
	for (i = 0; i < shape->n_windows; i++)
		memcpy(watt_account_get_base(to, i), watt_account_get_base(from, i),
		       n * sizeof(*to->bases_nj));
	memcpy(to->looks, from->looks, shape->n_windows * sizeof(*to->looks));
	memcpy(to->doubts, from->doubts, n * sizeof(*to->doubts));
	for (i = 0; i <= shape->n_windows; i++)
		memcpy(&to->spans[i * to->cap_domains], &from->spans[i * from->cap_domains],
		       n * sizeof(*to->spans));
}

/* Other room for what it holds of domains and windows: one piece of memory. */
static int resize(struct watt_account *account, const struct shape *shape)
{
	bool is_sum = watt_entity_kind_is_sum(account->kind);
	bool has_parts = is_sum || (shape->has_threads && account->kind == WATT_ENTITY_PROCESS);
	size_t cap = shape->cap_domains, n = (has_parts ? 4 : 2) * cap;
	size_t n_numbers = n + shape->cap_windows * cap;
	struct watt_account moved = *account;
	watt_i128 *numbers;
	size_t i;

	numbers = calloc(
		1, n_numbers * sizeof(*numbers) + shape->cap_windows * sizeof(struct watt_look) +
			   cap * sizeof(struct watt_doubt) +
			   (shape->cap_windows + 1) * cap * sizeof(struct watt_doubt_span));
	if (!numbers)
		return -ENOMEM;
	moved.cap_domains = cap;
	moved.energy_nj = numbers;
	moved.carry = is_sum ? NULL : (int64_t *)(numbers + cap);
	moved.retired_nj = has_parts ? numbers + 2 * cap : NULL;
	moved.check_nj = has_parts ? numbers + 3 * cap : NULL;
	moved.bases_nj = numbers + n;
	moved.looks = (struct watt_look *)(numbers + n_numbers);
	moved.doubts = (struct watt_doubt *)(moved.looks + shape->cap_windows);
	moved.spans = (struct watt_doubt_span *)(moved.doubts + cap);
	for (i = 0; i < cap; i++)
		moved.doubts[i].variation = -1;
	if (account->energy_nj)
		copy_numbers(&moved, account, shape);
	free(account->energy_nj);
	*account = moved;
	return 0;
}

/* Those that have more room than they need do no harm. */
static int resize_all(struct watt_accounts *accounts, const struct shape *shape)
{
	size_t i;
	int r = 0;

	for (i = 0; i < accounts->n && r == 0; i++) {
		r = resize(accounts->list[i], shape);
		if (r == 0 && shape->cap_domains != accounts->cap_domains)
			r = watt_members_resize(accounts->list[i], shape->n_domains,
						shape->cap_domains);
	}
	return r;
}

static struct shape get_shape(const struct watt_accounts *accounts)
{
	return (struct shape){ accounts->n_domains, accounts->n_windows, accounts->cap_domains,
			       accounts->n_windows, accounts->has_threads };
}

int watt_accounts_grow(struct watt_accounts *accounts, size_t n_domains)
{
	struct shape shape = get_shape(accounts);
	int r;

	if (n_domains > accounts->cap_domains) {
		shape.cap_domains = WATT_MAX(n_domains, accounts->cap_domains + 8);
		r = resize_all(accounts, &shape);
		if (r < 0)
			return r;
		accounts->cap_domains = shape.cap_domains;
	}
	accounts->n_domains = n_domains;
	return 0;
}

int watt_accounts_add_windows(struct watt_accounts *accounts, size_t n_windows)
{
	struct shape shape = get_shape(accounts);
	int r;

	shape.cap_windows = n_windows;
	r = resize_all(accounts, &shape);
	if (r == 0)
		accounts->n_windows = n_windows;
	return r;
}

/* name_take: NULL, where there is no memory for it. */
static struct watt_account *add(struct watt_accounts *accounts, enum watt_entity_kind kind,
				struct watt_name *name_take, uint64_t id)
{
	struct shape shape = get_shape(accounts);
	struct watt_account *account = NULL;

	if (name_take &&
	    watt_grow((void **)&accounts->list, &accounts->cap, accounts->n, sizeof(account)) == 0)
		account = calloc(1, sizeof(*account));
	if (account)
		account->kind = kind;
	if (account && resize(account, &shape) < 0) {
		free(account);
		account = NULL;
	}
	if (!account) {
		watt_name_unref(name_take);
		return NULL;
	}
	account->id = id;
	account->name = name_take;
	account->is_alive = true;
	accounts->list[accounts->n++] = account;
	accounts->n_of_kind[kind]++;
	watt_htab_insert(&accounts->by_id, &account->by_id, watt_hash_u64(id));
	if (is_found_by_name(kind))
		watt_htab_insert(&accounts->by_name, &account->by_name,
				 watt_account_name_key(kind, account->name->text));
	return account;
}

struct watt_account *watt_accounts_add(struct watt_accounts *accounts, enum watt_entity_kind kind,
				       struct watt_name *name_take)
{
	struct watt_account *account = add(accounts, kind, name_take, accounts->next_id);

	if (account)
		accounts->next_id++;
	return account;
}

/* Above those that are counted; a double, as JavaScript has for every number, holds it exactly. */
#define KEYED_IDS (1ULL << 52)

struct watt_account *watt_accounts_add_keyed(struct watt_accounts *accounts,
					     enum watt_entity_kind kind,
					     struct watt_name *name_take, uint64_t key)
{
	uint64_t id = KEYED_IDS | key % KEYED_IDS;

	while (watt_accounts_find_id(accounts, id))
		id = KEYED_IDS | (id + 1) % KEYED_IDS;
	return add(accounts, kind, name_take, id);
}

struct watt_account *watt_accounts_find_id(const struct watt_accounts *accounts, uint64_t id)
{
	struct watt_hnode *node = watt_htab_first(&accounts->by_id, watt_hash_u64(id));

	for (; node; node = watt_htab_next(node)) {
		struct watt_account *a = watt_container_of(node, struct watt_account, by_id);

		if (a->id == id)
			return a;
	}
	return NULL;
}

static struct watt_account *pick(struct watt_hnode *node, enum watt_entity_kind kind,
				 const char *text)
{
	for (; node; node = watt_htab_next(node)) {
		struct watt_account *a = watt_container_of(node, struct watt_account, by_name);

		if (a->kind == kind && !strcmp(a->name->text, text))
			return a;
	}
	return NULL;
}

struct watt_account *watt_accounts_find(const struct watt_accounts *accounts,
					enum watt_entity_kind kind, const char *text)
{
	return pick(watt_htab_first(&accounts->by_name, watt_account_name_key(kind, text)), kind,
		    text);
}

struct watt_account *watt_accounts_find_next(const struct watt_account *account)
{
	return pick(watt_htab_next(&account->by_name), account->kind, account->name->text);
}

void watt_account_merge(const struct watt_accounts *accounts, struct watt_account *to,
			const struct watt_account *from)
{
	size_t w, i;

	for (i = 0; i < accounts->n_domains; i++)
		to->energy_nj[i] += from->energy_nj[i];
	for (w = 0; w < accounts->n_windows; w++) {
		watt_i128 *base_nj = watt_account_get_base(to, w);

		for (i = 0; i < accounts->n_domains; i++)
			base_nj[i] += watt_account_get_base(from, w)[i];
		to->looks[w].base_cpu_ns += from->looks[w].base_cpu_ns;
	}
	watt_doubt_merge(accounts, to, from);
	to->cpu_ns += from->cpu_ns;
	to->count += from->count;
}

void watt_account_retire(const struct watt_accounts *accounts, struct watt_account *sum,
			 const watt_i128 *energy_nj)
{
	size_t i;

	for (i = 0; i < accounts->n_domains; i++)
		sum->retired_nj[i] += energy_nj[i];
}

void watt_account_link(const struct watt_accounts *accounts, struct watt_account *part,
		       struct watt_account *sum)
{
	size_t i;

	for (i = 0; i < WATT_ACCOUNT_UPS && part->up[i]; i++)
		if (part->up[i] == sum)
			return;
	if (i == WATT_ACCOUNT_UPS)
		return;
	part->up[i] = sum;
	if (!part->parent_id)
		part->parent_id = sum->id;
	sum->users++;
	watt_account_merge(accounts, sum, part);
}

void watt_account_set_home(struct watt_account *account, struct watt_account *home)
{
	if (account->home)
		account->home->users--;
	if (home)
		home->users++;
	account->home = home;
	account->parent_id = home ? home->id : 0;
}

void watt_accounts_purge(struct watt_accounts *accounts,
			 bool (*is_over)(const struct watt_account *account))
{
	size_t i, kept = 0, u;

	for (i = 0; i < accounts->n; i++) {
		struct watt_account *account = accounts->list[i];

		if (!is_over(account)) {
			accounts->list[kept++] = account;
			continue;
		}
		for (u = 0; u < WATT_ACCOUNT_UPS && account->up[u]; u++)
			account->up[u]->users--;
		watt_account_set_home(account, NULL);
		accounts->n_of_kind[account->kind]--;
		watt_htab_remove(&accounts->by_id, &account->by_id);
		if (is_found_by_name(account->kind))
			watt_htab_remove(&accounts->by_name, &account->by_name);
		account_free(account);
	}
	accounts->n = kept;
}

void watt_accounts_rebase(struct watt_accounts *accounts, size_t reader)
{
	size_t i;

	for (i = 0; i < accounts->n; i++) {
		struct watt_account *account = accounts->list[i];

		memcpy(watt_account_get_base(account, reader), account->energy_nj,
		       accounts->n_domains * sizeof(*account->energy_nj));
		memset(watt_account_get_spans(account, reader), 0,
		       accounts->n_domains * sizeof(*account->spans));
		account->looks[reader].base_cpu_ns = account->cpu_ns - account->ahead_cpu_ns;
	}
}

bool watt_entity_kind_is_leaf(enum watt_entity_kind kind)
{
	switch (kind) {
	case WATT_ENTITY_PROCESS:
	case WATT_ENTITY_KTHREAD:
	case WATT_ENTITY_VM:
	case WATT_ENTITY_EXITED:
	case WATT_ENTITY_IRQ:
	case WATT_ENTITY_SOFTIRQ:
		return true;
	default:
		return false;
	}
}

bool watt_entity_kind_is_sum(enum watt_entity_kind kind)
{
	return !watt_entity_kind_is_leaf(kind) && kind != WATT_ENTITY_IDLE &&
	       kind != WATT_ENTITY_UNATTRIBUTED && kind != WATT_ENTITY_THREAD;
}

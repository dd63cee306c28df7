/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the keys of the domains have learned, taken out: as a profile for people and later sessions,
 * and as it is for a recording that goes on in another file.
 */
#include "attrib/state.h"

#include <errno.h>
#include <string.h>

#include "base/profile.h"
#include "base/words.h"

/* Of what is saved; another meaning of a number is another version. */
#define SAVED_VERSION 1

static const struct watt_key *learner_of(const struct watt_ledger *ledger)
{
	const struct watt_key *key = &ledger->chain.keys[0];

	return key->ops && key->ops->tell ? key : NULL;
}

int watt_ledger_open_keys(const struct watt_attrib *at, struct watt_ledger *ledger)
{
	const struct watt_domain *domain = ledger->domain;
	const struct watt_key *key = &ledger->chain.keys[0];
	int r = watt_key_chain_init(&ledger->chain, at->keys, domain);

	if (r == 0 && key->ops->set_prior)
		key->ops->set_prior(key->state,
				    watt_profile_find(at->prior, domain->path, domain->kind));
	return r;
}

int watt_attrib_get_profile(const struct watt_attrib *at, struct watt_profile **ret)
{
	struct watt_profile *profile = watt_profile_new();
	size_t i;
	int r = profile ? 0 : -ENOMEM;

	for (i = 0; i < at->n_ledgers && r == 0; i++) {
		const struct watt_domain *domain = at->ledgers[i].domain;
		const struct watt_key *key = learner_of(&at->ledgers[i]);
		struct watt_profile_domain head = { .path = domain->path,
						    .kind = domain->kind,
						    .key = at->ledgers[i].key };
		struct watt_profile_part *part;

		if (!key)
			continue;
		part = watt_profile_add_domain(profile, &head);
		r = part ? key->ops->tell(key->state, part) : -ENOMEM;
	}
	if (r == 0 && !profile->n)
		r = -ENODATA;
	if (r < 0) {
		watt_profile_free(profile);
		return r;
	}
	*ret = profile;
	return 0;
}

static int visit(struct watt_ledger *ledger, struct watt_words *words)
{
	const struct watt_key *key = learner_of(ledger);
	uint64_t version = SAVED_VERSION;

	watt_words_u64(words, &version, SAVED_VERSION);
	watt_baseline_visit(&ledger->baseline, words);
	key->ops->visit(key->state, words);
	return watt_words_end(words);
}

int watt_attrib_save_learned(const struct watt_attrib *at, size_t domain, struct watt_words *ret)
{
	int r;

	if (domain >= at->n_ledgers || !learner_of(&at->ledgers[domain]))
		return -ENODATA;
	*ret = (struct watt_words){ 0 };
	r = visit(&at->ledgers[domain], ret);
	if (r < 0)
		watt_words_done(ret);
	return r;
}

int watt_attrib_load_learned(struct watt_attrib *at, const char *path, struct watt_words *words)
{
	size_t i;

	for (i = 0; i < at->n_ledgers; i++)
		if (!strcmp(at->ledgers[i].domain->path, path))
			break;
	if (i == at->n_ledgers || !learner_of(&at->ledgers[i]))
		return -ENODATA;
	return visit(&at->ledgers[i], words);
}

bool watt_attrib_knows_names(const struct watt_attrib *at)
{
	return at->asks.n_processes == 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words of the user about sharing. Every domain named must be there: a choice that has no effect
 * is a mistake, and who makes it is told what there is.
 */
#include "attrib/keys.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* "a, b, c", as much of it as fits. */
static void add_word(char *buf, size_t size, const char *word)
{
	size_t used = strlen(buf);

	snprintf(buf + used, size - used, "%s%s", used ? ", " : "", word);
}

static int check_key(enum watt_share_key key, const struct watt_key_ops *const *keys,
		     const struct watt_log *log)
{
	char known[128] = "auto";

	for (; *keys; keys++) {
		if ((*keys)->id == key)
			return 0;
		if (!(*keys)->suits)
			add_word(known, sizeof(known), watt_share_key_name((*keys)->id));
	}
	if (key == WATT_KEY_AUTO)
		return 0;
	watt_log(log, WATT_LOG_ERROR, "no share key '%s' is there; there are: %s",
		 watt_share_key_name(key), known);
	return -ENOENT;
}

/* Its memory, say: who has the GPU causes it, and that CPUs run beside it says nothing. */
static bool is_in_gpu(const struct watt_tree *tree, const struct watt_domain *domain)
{
	for (; domain->parent >= 0; domain = &tree->domains[domain->parent])
		if (tree->domains[domain->parent].kind == WATT_DOMAIN_GPU)
			return true;
	return false;
}

/* What CPUs use is learned where it is measured: a model knows no more than CPU time itself. */
static enum watt_share_key find_auto(const struct watt_tree *tree, const struct watt_domain *domain)
{
	enum watt_share_key key = watt_tree_key_of_kind(domain->kind);

	if (domain->origin != WATT_ORIGIN_MEASURED)
		return key;
	/* and what nobody is known to cause, where it turns out that programs do */
	if (key == WATT_KEY_CPU_TIME || (key == WATT_KEY_NONE && !is_in_gpu(tree, domain)))
		return WATT_KEY_LEARNED;
	return key;
}

static void set_key(const struct watt_tree *tree, struct watt_domain *domain,
		    enum watt_share_key key)
{
	domain->key = key == WATT_KEY_AUTO ? find_auto(tree, domain) : key;
}

static bool is_named(const struct watt_domain *domain, const char *name)
{
	return !strcmp(domain->path, name) || !strcmp(watt_domain_kind_name(domain->kind), name);
}

static int complain_domain(const struct watt_tree *tree, const char *name,
			   const struct watt_log *log)
{
	char known[768] = "";
	size_t i;

	for (i = 0; i < tree->n_domains; i++)
		add_word(known, sizeof(known), tree->domains[i].path);
	watt_log(log, WATT_LOG_ERROR,
		 "no domain here is called '%s', nor is one of that kind; there are: %s", name,
		 known);
	return -ENOENT;
}

static int apply(const struct watt_rule *rule, struct watt_tree *tree, const struct watt_log *log)
{
	bool any = !rule->name;
	size_t i;

	for (i = 0; i < tree->n_domains; i++) {
		/* what an instance has is the GPU's to divide */
		if (tree->domains[i].kind == WATT_DOMAIN_GPU_INSTANCE ||
		    (rule->name && !is_named(&tree->domains[i], rule->name)))
			continue;
		set_key(tree, &tree->domains[i], (enum watt_share_key)rule->value);
		any = true;
	}
	return any ? 0 : complain_domain(tree, rule->name, log);
}

int watt_keys_apply(const struct watt_rules *rules, const struct watt_key_ops *const *keys,
		    struct watt_tree *tree, const struct watt_log *log)
{
	size_t i;
	int r = 0;

	for (i = 0; rules && i < rules->n && r == 0; i++) {
		r = check_key((enum watt_share_key)rules->list[i].value, keys, log);
		if (r == 0)
			r = apply(&rules->list[i], tree, log);
	}
	return r;
}

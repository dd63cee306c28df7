/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words of the user about sharing. Every domain named must be there: a choice that has no effect
 * is a mistake, and who makes it is told what there is.
 */
#include "attrib/keys.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

#define KEY_AUTO (-1)

/* "a, b, c", as much of it as fits. */
static void add_word(char *buf, size_t size, const char *word)
{
	size_t used = strlen(buf);

	snprintf(buf + used, size - used, "%s%s", used ? ", " : "", word);
}

static int parse_key(const char *text, const struct watt_key_ops *const *keys,
		     const struct watt_log *log, int *ret)
{
	char known[128] = "auto";

	if (!strcmp(text, "auto")) {
		*ret = KEY_AUTO;
		return 0;
	}
	for (; *keys; keys++) {
		if (!strcmp(text, watt_share_key_name((*keys)->id))) {
			*ret = (int)(*keys)->id;
			return 0;
		}
		add_word(known, sizeof(known), watt_share_key_name((*keys)->id));
	}
	watt_log(log, WATT_LOG_ERROR, "no share key is called '%s'; there are: %s", text, known);
	return -EINVAL;
}

/* What CPUs use is learned where it is measured: a model knows no more than CPU time itself. */
static enum watt_share_key find_auto(const struct watt_domain *domain)
{
	enum watt_share_key key = watt_tree_key_of_kind(domain->kind);

	if (key == WATT_KEY_CPU_TIME && domain->origin == WATT_ORIGIN_MEASURED)
		return WATT_KEY_LEARNED;
	return key;
}

static void set_key(struct watt_domain *domain, int key)
{
	domain->key = key == KEY_AUTO ? find_auto(domain) : (enum watt_share_key)key;
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
	return -EINVAL;
}

/* One word of the list, which is ours to write into. */
static int apply_word(char *word, const struct watt_key_ops *const *keys, struct watt_tree *tree,
		      const struct watt_log *log)
{
	char *equals = strrchr(word, '=');
	bool any = false;
	int key, r;
	size_t i;

	r = parse_key(equals ? equals + 1 : word, keys, log, &key);
	if (r < 0)
		return r;
	if (equals)
		*equals = '\0';
	for (i = 0; i < tree->n_domains; i++) {
		if (equals && !is_named(&tree->domains[i], word))
			continue;
		set_key(&tree->domains[i], key);
		any = true;
	}
	return any || !equals ? 0 : complain_domain(tree, word, log);
}

int watt_keys_apply(const char *text, const struct watt_key_ops *const *keys,
		    struct watt_tree *tree, const struct watt_log *log)
{
	char *copy, *rest, *word;
	int r = 0;

	if (!text)
		return 0;
	copy = rest = strdup(text);
	if (!copy)
		return -ENOMEM;
	while (r == 0 && (word = strsep(&rest, ",")))
		r = apply_word(word, keys, tree, log);
	free(copy);
	return r;
}

int watt_idle_policy_parse(const char *text, const struct watt_log *log, enum watt_idle_policy *ret)
{
	static const enum watt_idle_policy policies[] = { WATT_IDLE_SEPARATE,
							  WATT_IDLE_PROPORTIONAL };
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(policies); i++) {
		if (!text || !strcmp(text, watt_idle_policy_name(policies[i]))) {
			*ret = policies[i];
			return 0;
		}
	}
	if (!strcmp(text, "requests"))
		watt_log(
			log, WATT_LOG_ERROR,
			"idle policy 'requests' needs the resource requests of pods, which are not "
			"read; there are: separate, proportional");
	else
		watt_log(log, WATT_LOG_ERROR,
			 "no idle policy is called '%s'; there are: separate, proportional", text);
	return -EINVAL;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules: what somebody chose for things by their names, "NAME=VALUE,...". The one grammar of such
 * texts, for options and for recordings. It must not know which things there are.
 */
#ifndef WATT_BASE_RULES_H
#define WATT_BASE_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct watt_rule {
	char *name; /* NULL: everything */
	uint64_t value;
};

/* In the order in which they were made: the last one on a thing holds. */
struct watt_rules {
	struct watt_rule *list;
	size_t n, cap;
};

/* How values are written. */
struct watt_rule_syntax {
	/* 0, or an errno: -EINVAL, -ENOENT: no value, or none that is known; -ERANGE */
	int (*parse)(const char *text, uint64_t *ret);
	void (*print)(uint64_t value, char *buf, size_t size);
	const char *expected; /* "a delay such as CHANNEL=20ms (0 to 60 s)" */
	bool needs_name;
};

/* Rates as their period in ns, enum watt_share_key, delays in ns. */
extern const struct watt_rule_syntax watt_rate_syntax;
extern const struct watt_rule_syntax watt_share_key_syntax;
extern const struct watt_rule_syntax watt_delay_syntax;

/* 0; -EINVAL: a name that can't be written, as "" or one with a comma; -ENOMEM. */
int watt_rules_add(struct watt_rules *rules, const char *name, uint64_t value);
/* Adds copies of all of them; more NULL: there are none. 0, or -ENOMEM and nothing is added. */
int watt_rules_join(struct watt_rules *rules, const struct watt_rules *more);
/*
 * Adds those of a text. 0; as syntax->parse() of the first word that is wrong, which *ret_word
 * then holds and the caller frees, and nothing is added; -ENOMEM.
 */
int watt_rules_parse(struct watt_rules *rules, const struct watt_rule_syntax *syntax,
		     const char *text, char **ret_word);
/* As text, which the caller frees; *ret NULL: there are none. NULL is allowed. 0 or -ENOMEM. */
int watt_rules_print(const struct watt_rules *rules, const struct watt_rule_syntax *syntax,
		     char **ret);
/* Leaves none. */
void watt_rules_clear(struct watt_rules *rules);

#endif

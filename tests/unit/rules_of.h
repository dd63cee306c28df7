/* SPDX-License-Identifier: Apache-2.0 */
/* Rules in one expression, for tests of what is done by them. */
#ifndef WATT_TESTS_RULES_OF_H
#define WATT_TESTS_RULES_OF_H

#include "base/rules.h"
#include "unit.h"

/* Those of a text that is right; NULL: none. To be cleared. */
static inline struct watt_rules rules_of(const char *text, const struct watt_rule_syntax *syntax)
{
	struct watt_rules rules = { 0 };
	char *word;

	if (text)
		assert_int_equal(watt_rules_parse(&rules, syntax, text, &word), 0);
	return rules;
}

#endif

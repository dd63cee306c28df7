/* SPDX-License-Identifier: Apache-2.0 */
/* Rules by name, and how they are written. */
#include "base/rules.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <wattribute/domain.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/parse.h"
#include "base/util.h"

/* ---- values ---- */

#define MIN_PERIOD_NS WATT_NSEC_PER_MSEC
#define MAX_PERIOD_NS (3600 * WATT_NSEC_PER_SEC)
#define MAX_DELAY_NS (60 * WATT_NSEC_PER_SEC)

static int parse_rate(const char *text, uint64_t *ret)
{
	uint64_t period_ns;
	int r = watt_parse_rate(text, &period_ns);

	if (r < 0)
		return -EINVAL;
	if (period_ns < MIN_PERIOD_NS || period_ns > MAX_PERIOD_NS)
		return -ERANGE;
	*ret = period_ns;
	return 0;
}

static void print_period(uint64_t period_ns, char *buf, size_t size)
{
	uint64_t rate_uhz = 1000000 * WATT_NSEC_PER_SEC / period_ns;

	snprintf(buf, size, "%llu.%06lluHz", (unsigned long long)(rate_uhz / 1000000),
		 (unsigned long long)(rate_uhz % 1000000));
}

static int parse_share_key(const char *text, uint64_t *ret)
{
	unsigned int key;

	for (key = 0; key <= WATT_KEY_AUTO; key++) {
		const char *name = watt_share_key_name((enum watt_share_key)key);

		if (strcmp(name, "unknown") != 0 && strcmp(name, text) == 0) {
			*ret = key;
			return 0;
		}
	}
	return -ENOENT;
}

static void print_share_key(uint64_t key, char *buf, size_t size)
{
	snprintf(buf, size, "%s", watt_share_key_name((enum watt_share_key)key));
}

static int parse_delay(const char *text, uint64_t *ret)
{
	uint64_t delay_ns;

	if (watt_parse_time(text, WATT_NSEC_PER_MSEC, &delay_ns) < 0)
		return -EINVAL;
	if (delay_ns > MAX_DELAY_NS)
		return -ERANGE;
	*ret = delay_ns;
	return 0;
}

/* In milliseconds, the unit of bare numbers, which all versions of recordings have. */
static void print_delay(uint64_t delay_ns, char *buf, size_t size)
{
	snprintf(buf, size, "%llu.%06llu", (unsigned long long)(delay_ns / WATT_NSEC_PER_MSEC),
		 (unsigned long long)(delay_ns % WATT_NSEC_PER_MSEC));
}

const struct watt_rule_syntax watt_rate_syntax = {
	.parse = parse_rate,
	.print = print_period,
	.expected = "a rate such as 100Hz or SOURCE=1kHz (one in an hour to 1 kHz)",
};

const struct watt_rule_syntax watt_share_key_syntax = {
	.parse = parse_share_key,
	.print = print_share_key,
	.expected = "a share key such as auto or DOMAIN=none",
};

const struct watt_rule_syntax watt_delay_syntax = {
	.parse = parse_delay,
	.print = print_delay,
	.expected = "a delay such as CHANNEL=20ms (0 to 60 s)",
	.needs_name = true,
};

/* ---- lists ---- */

int watt_rules_add(struct watt_rules *rules, const char *name, uint64_t value)
{
	char *copy = NULL;
	int r;

	if (name && (!*name || strchr(name, ',')))
		return -EINVAL;
	r = watt_grow((void **)&rules->list, &rules->cap, rules->n, sizeof(*rules->list));
	if (r < 0)
		return r;
	if (name && !(copy = strdup(name)))
		return -ENOMEM;
	rules->list[rules->n++] = (struct watt_rule){ .name = copy, .value = value };
	return 0;
}

static void cut(struct watt_rules *rules, size_t n)
{
	while (rules->n > n)
		free(rules->list[--rules->n].name);
}

void watt_rules_clear(struct watt_rules *rules)
{
	cut(rules, 0);
	free(rules->list);
	*rules = (struct watt_rules){ 0 };
}

int watt_rules_join(struct watt_rules *rules, const struct watt_rules *more)
{
	size_t n = rules->n, i;
	int r = 0;

	for (i = 0; more && i < more->n && r == 0; i++)
		r = watt_rules_add(rules, more->list[i].name, more->list[i].value);
	if (r < 0)
		cut(rules, n);
	return r;
}

/* One word, which is ours to write into; whole again if it is wrong. */
static int parse_word(struct watt_rules *rules, const struct watt_rule_syntax *syntax, char *word)
{
	char *equals = strrchr(word, '=');
	uint64_t value = 0;
	int r;

	if (!equals && syntax->needs_name)
		return -EINVAL;
	r = syntax->parse(equals ? equals + 1 : word, &value);
	if (r < 0)
		return r;
	if (equals)
		*equals = '\0';
	r = watt_rules_add(rules, equals ? word : NULL, value);
	if (r < 0 && equals)
		*equals = '=';
	return r;
}

int watt_rules_parse(struct watt_rules *rules, const struct watt_rule_syntax *syntax,
		     const char *text, char **ret_word)
{
	_cleanup_free_ char *copy = strdup(text);
	char *rest = copy, *word = NULL;
	size_t n = rules->n;
	int r = 0;

	if (!copy)
		return -ENOMEM;
	while (r == 0 && (word = strsep(&rest, ",")))
		r = parse_word(rules, syntax, word);
	if (r == 0)
		return 0;
	cut(rules, n);
	if (r == -ENOMEM)
		return r;
	*ret_word = strdup(word);
	return *ret_word ? r : -ENOMEM;
}

int watt_rules_print(const struct watt_rules *rules, const struct watt_rule_syntax *syntax,
		     char **ret)
{
	char value[64], *text = NULL;
	size_t i, len;
	FILE *out;

	*ret = NULL;
	if (!rules || !rules->n)
		return 0;
	out = open_memstream(&text, &len);
	if (!out)
		return -ENOMEM;
	for (i = 0; i < rules->n; i++) {
		const char *name = rules->list[i].name;

		syntax->print(rules->list[i].value, value, sizeof(value));
		fprintf(out, "%s%s%s%s", i ? "," : "", name ? name : "", name ? "=" : "", value);
	}
	if (fclose(out) != 0) {
		free(text);
		return -ENOMEM;
	}
	*ret = text;
	return 0;
}

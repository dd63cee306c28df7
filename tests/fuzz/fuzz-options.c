/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options as arbitrary text, "NAME=VALUE": refused with a sentence and nothing changed, or taken;
 * what is taken is written, read again and the same; domains and channels are still ones that the
 * stages know.
 */
#include "fuzz.h"

#include <errno.h>
#include <string.h>

#include <wattribute/options.h>

#include "attrib/keys.h"
#include "base/util.h"
#include "options.h"
#include "timeline/timeline.h"

static const struct watt_channel channels[] = {
	{ .name = "t/in", .source = "t", .domain = "in", .kind = WATT_DOMAIN_TOTAL },
	{ .name = "t/package-0", .source = "t", .domain = "package-0", .kind = WATT_DOMAIN_PACKAGE },
	{ .name = "t/gpu", .source = "t", .domain = "gpu", .kind = WATT_DOMAIN_GPU },
};
static const struct watt_channel *const list[] = { &channels[0], &channels[1], &channels[2] };

static void hear(void *data, enum watt_log_level level, const char *text)
{
	check(level == WATT_LOG_ERROR && *text);
	++*(unsigned int *)data;
}

/* Refused with one sentence, or taken with none. */
static void check_said(int r, unsigned int *said)
{
	check(r == -ENOMEM || (r == 0 && *said == 0) || (r == -ENOENT && *said == 1));
	*said = 0;
}

static void try_keys(const struct watt_rules *rules, const struct watt_log *log, unsigned int *said)
{
	struct watt_tree tree = { 0 };
	size_t i;

	if (watt_tree_build(list, WATT_ARRAY_SIZE(list), &tree) < 0)
		return;
	check_said(watt_keys_apply(rules, watt_key_registry, &tree, log), said);
	for (i = 0; i < tree.n_domains; i++)
		check(watt_key_find(watt_key_registry, tree.domains[i].key, &tree.domains[i]) !=
		      NULL);
	watt_tree_done(&tree);
}

/* A reading is never younger than it was read, nor older than a minute before. */
static void try_delays(const struct watt_rules *rules, const struct watt_log *log,
		       unsigned int *said)
{
	const struct watt_sample sample = { 100000000000, 100000000000, 1, 1, WATT_STATUS_OK };
	struct watt_curve_stats stats = { 0 };
	struct watt_timeline *tl;

	if (watt_timeline_new(list, WATT_ARRAY_SIZE(list), &tl) < 0)
		return;
	check_said(watt_timeline_set_delays(tl, rules, log), said);
	if (watt_timeline_push(tl, &sample) == 0) {
		watt_timeline_get_stats(tl, 1, &stats);
		check(stats.first_ns <= 100000000000 && stats.first_ns >= 40000000000);
	}
	watt_timeline_free(tl);
}

/* Rates are shown in whole microhertz: only the others come back as they were. */
static void try_text(const struct watt_rules *rules, const struct watt_rule_syntax *syntax)
{
	struct watt_rules again = { 0 };
	char *text = NULL, *word = NULL;
	size_t i;

	if (watt_rules_print(rules, syntax, &text) < 0 || !text)
		return;
	check(watt_rules_parse(&again, syntax, text, &word) == 0);
	check(again.n == rules->n);
	for (i = 0; i < again.n; i++) {
		check(!again.list[i].name == !rules->list[i].name);
		check(!again.list[i].name || !strcmp(again.list[i].name, rules->list[i].name));
		check(again.list[i].value == rules->list[i].value);
	}
	watt_rules_clear(&again);
	free(text);
}

static void try_options(char *text, const struct watt_log *log, unsigned int *said)
{
	char *equals = strchr(text, '=');
	struct watt_options *options;
	int r;

	if (!equals || watt_options_new(&options) < 0)
		return;
	*equals = '\0';
	r = watt_options_set(options, text, equals + 1);
	check(r == 0 || r == -EINVAL || r == -ENOENT || r == -ENOMEM);
	check(r == 0 || *watt_options_get_problem(options));
	check(r == 0 || (!options->sources.n && !options->rates.n && !options->share_keys.n &&
			 !options->delays.n && !options->slice_ns && !options->period_ns));
	try_text(&options->share_keys, &watt_share_key_syntax);
	try_text(&options->delays, &watt_delay_syntax);
	try_keys(&options->share_keys, log, said);
	try_delays(&options->delays, log, said);
	watt_options_free(options);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned int said = 0;
	const struct watt_log log = { hear, &said };
	char *text;

	if (size > 4096)
		return 0;
	text = strndup((const char *)data, size);
	if (!text)
		return 0;
	try_options(text, &log, &said);
	free(text);
	return 0;
}

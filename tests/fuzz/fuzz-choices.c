/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What people choose about attribution, as arbitrary text: it is refused with a sentence, or the
 * domains and channels are still ones that the stages know.
 */
#include "fuzz.h"

#include <errno.h>
#include <string.h>

#include "attrib/keys.h"
#include "base/util.h"
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
	check(r == -ENOMEM || (r == 0 && *said == 0) || (r == -EINVAL && *said == 1));
	*said = 0;
}

static void try_keys(const char *text, const struct watt_log *log, unsigned int *said)
{
	enum watt_idle_policy policy = WATT_IDLE_SEPARATE;
	struct watt_tree tree = { 0 };
	size_t i;

	if (watt_tree_build(list, WATT_ARRAY_SIZE(list), &tree) < 0)
		return;
	check_said(watt_keys_apply(text, watt_key_registry, &tree, log), said);
	for (i = 0; i < tree.n_domains; i++)
		check(watt_key_find(watt_key_registry, tree.domains[i].key) != NULL);
	watt_tree_done(&tree);
	check_said(watt_idle_policy_parse(text, log, &policy), said);
	check(policy == WATT_IDLE_SEPARATE || policy == WATT_IDLE_PROPORTIONAL);
}

/* A reading is never younger than it was read, nor older than a minute before. */
static void try_delays(const char *text, const struct watt_log *log, unsigned int *said)
{
	const struct watt_sample sample = { 100000000000, 100000000000, 1, 1, WATT_STATUS_OK };
	struct watt_curve_stats stats = { 0 };
	struct watt_timeline *tl;

	if (watt_timeline_new(list, WATT_ARRAY_SIZE(list), &tl) < 0)
		return;
	check_said(watt_timeline_set_delays(tl, text, log), said);
	if (watt_timeline_push(tl, &sample) == 0) {
		watt_timeline_get_stats(tl, 1, &stats);
		check(stats.first_ns <= 100000000000 && stats.first_ns >= 40000000000);
	}
	watt_timeline_free(tl);
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
	try_keys(text, &log, &said);
	try_delays(text, &log, &said);
	free(text);
	return 0;
}

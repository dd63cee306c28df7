/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `wattribute sources`: the domain tree with every channel that measures it, and what each says
 * now. Power of a counter comes from two readings; all else is the library's word.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <wattribute/json.h>
#include <wattribute/session.h>
#include <wattribute/units.h>
#include <wattribute/view.h>

#include "command.h"
#include "domain_tree.h"
#include "latecomers.h"
#include "message.h"
#include "options.h"
#include "page.h"
#include "status.h"
#include "table.h"
#include "text.h"
#include "usage.h"
#include "xalloc.h"

#define SETTLE_MS 150
#define BETWEEN_MS 300

static const char help_text[] =
	"Usage: wattribute sources [OPTION...]\n"
	"The domain tree, and every channel that measures a domain: its unit, its timing,\n"
	"where its numbers come from, whether it is used, and its value now.\n\n"
	"      --json           one JSON document\n\n" OPTIONS_HELP
	"\nUSE: sum = added to the machine's energy; part = inside a domain that is added;\n"
	"whole = its parts are added, as it came after them;\n"
	"outside = a supply, that sees the machine from outside; output = what comes out\n"
	"of it; alone = its relation to the others is unknown, never added; duplicate =\n"
	"measures what another channel measures already, never added; helps = tells when\n"
	"the energy of the channel above was used, or what that one does not see.\n"
	"\nSensors behind slow buses are waited for, for 3 s at most; those that are not\n"
	"open then are listed below the tree.\n";

struct listing {
	struct watt_session *ses;
	struct table *table;
	struct watt_sample *first;  /* per channel: the first of the two readings */
	int *first_r;               /* what reading it returned */
	size_t n_first;             /* channels that there were then: more may have come */
	struct watt_snapshot *snap; /* its window lies between the two readings */
};

/* In the middle of the times between which it was read. */
static double middle_ns(const struct watt_sample *sample)
{
	return ((double)sample->t_before_ns + (double)sample->t_after_ns) / 2;
}

/* Power between two readings of a counter. */
static double counter_power_w(const struct watt_channel *channel, const struct watt_sample *a,
			      const struct watt_sample *b)
{
	double energy_nj =
		(double)(b->raw - a->raw) * (double)channel->scale_num / (double)channel->scale_den;

	if (middle_ns(b) <= middle_ns(a))
		return NAN;
	if (energy_nj < 0 && channel->wrap_nj)
		energy_nj += (double)channel->wrap_nj;
	return energy_nj < 0 ? NAN : energy_nj / (middle_ns(b) - middle_ns(a));
}

static void format_value(const struct listing *list, size_t i, char *buf)
{
	const struct watt_channel *channel = watt_session_get_channel(list->ses, i);
	bool has_first = i < list->n_first && list->first_r[i] == 0;
	struct watt_sample now = { .status = WATT_STATUS_PENDING };
	double power_w;

	if (watt_session_get_sample(list->ses, i, &now) < 0 || now.status != WATT_STATUS_OK) {
		bool is_idle = now.status == WATT_STATUS_PENDING &&
			       watt_session_channel_is_duplicate(list->ses, i) > 0;

		/* What is not used need not be read. */
		snprintf(buf, WATT_UNITS_SIZE, "%s",
			 is_idle ? "not read" : watt_status_name((enum watt_status)now.status));
		return;
	}
	if (watt_quantity_is_context(channel->quantity)) {
		watt_units_quantity(buf, channel->quantity,
				    (double)now.raw * (double)channel->scale_num /
					    (double)channel->scale_den /
					    watt_quantity_per_unit(channel->quantity),
				    4);
		return;
	}
	if (channel->quantity == WATT_QUANTITY_POWER)
		power_w = (double)now.raw * (double)channel->scale_num /
			  (double)channel->scale_den / 1e6;
	else if (has_first && list->first[i].status == WATT_STATUS_OK)
		power_w = counter_power_w(channel, &list->first[i], &now);
	else
		power_w = NAN;
	if (isnan(power_w))
		snprintf(buf, WATT_UNITS_SIZE, "%s", watt_status_name(WATT_STATUS_PENDING));
	else if (channel->max_power_uw && power_w * 1e6 > (double)channel->max_power_uw)
		snprintf(buf, WATT_UNITS_SIZE, "implausible"); /* and counted as a reset */
	else
		watt_units_power(buf, power_w, watt_units_digits(channel->uncertainty_ppm));
}

/* How often there is a new value, or how often one is looked for. */
static int format_period(const struct listing *list, size_t i, const struct watt_channel *channel,
			 char *buf, size_t size)
{
	struct watt_reader_stats reader = { .sz = sizeof(reader) };
	char number[WATT_UNITS_SIZE];

	if (!(channel->flags & WATT_CHANNEL_PERIOD_UNKNOWN))
		return snprintf(buf, size, "%s",
				channel->period_ns ?
					watt_units_time(number, (double)channel->period_ns / 1e9,
							3) :
					"unknown");
	if (watt_session_get_reader_stats(list->ses, i, &reader) < 0 || !reader.period_ns)
		return snprintf(buf, size, "unknown, found out");
	return snprintf(buf, size, "unknown, asked each %s",
			watt_units_time(number, (double)reader.period_ns / 1e9, 3));
}

/* "1 ms, mean of 1 s, 20 ms late" */
static void format_timing(const struct listing *list, size_t i, const struct watt_channel *channel,
			  char *buf, size_t size)
{
	char number[WATT_UNITS_SIZE];
	int n = format_period(list, i, channel, buf, size);

	if (channel->window_ns)
		n += snprintf(buf + n, size - (size_t)n, ", mean of %s",
			      watt_units_time(number, (double)channel->window_ns / 1e9, 3));
	if (channel->delay_ns)
		snprintf(buf + n, size - (size_t)n, ", %s late",
			 watt_units_time(number, (double)channel->delay_ns / 1e9, 3));
	else if (channel->flags & WATT_CHANNEL_AGE_UNKNOWN)
		snprintf(buf + n, size - (size_t)n, ", how late is found out");
}

/* "duplicate", and whether it agrees with the channel that is used. */
static void format_duplicate(const struct listing *list, size_t i, char *buf, size_t size)
{
	int64_t difference_ppm = 0;
	int r = watt_session_get_crosscheck(list->ses, i, &difference_ppm);

	if (r == 0)
		snprintf(buf, size, "duplicate, agrees");
	else if (r == 1)
		snprintf(buf, size, "duplicate, DIFFERS by %.1f %%",
			 fabs((double)difference_ppm) / 1e4);
	else
		snprintf(buf, size, "duplicate");
}

/* Whether its parts are added: it came after them, or it would be. */
static bool is_whole(const struct listing *list, const struct watt_domain *domain)
{
	size_t n = watt_session_get_domain_count(list->ses), i;

	for (i = 0; i < n; i++) {
		const struct watt_domain *part = watt_session_get_domain(list->ses, i);

		if (!part->is_summed)
			continue;
		while (part != domain && part->parent >= 0)
			part = watt_session_get_domain(list->ses, (size_t)part->parent);
		if (part == domain)
			return true;
	}
	return false;
}

/* A total that was found to count less than what it should contain. */
static bool is_below_its_parts(const struct listing *list, size_t i)
{
	int index = watt_session_get_channel_domain(list->ses, i);
	const struct watt_domain_state *state =
		index < 0 || !list->snap ?
			NULL :
			watt_snapshot_get_domain_state(list->snap, (size_t)index);

	return state && state->status == WATT_STATUS_OK && !state->is_usable;
}

static bool is_supply(const struct watt_domain *domain)
{
	return domain->kind == WATT_DOMAIN_SUPPLY;
}

static bool is_output(const struct listing *list, const struct watt_domain *domain)
{
	return domain && domain->parent >= 0 &&
	       is_supply(watt_session_get_domain(list->ses, (size_t)domain->parent));
}

static void format_use(const struct listing *list, size_t i, const struct watt_domain *domain,
		       char *buf, size_t size)
{
	const char *use = "none";

	if (watt_session_get_channel(list->ses, i)->flags & WATT_CHANNEL_HELPS) {
		snprintf(buf, size, "helps");
		return;
	}
	if (watt_session_channel_is_duplicate(list->ses, i) > 0) {
		format_duplicate(list, i, buf, size);
		return;
	}
	if (watt_quantity_is_context(watt_session_get_channel(list->ses, i)->quantity))
		use = "context";
	else if (is_output(list, domain))
		use = "output";
	else if (watt_session_get_channel(list->ses, i)->flags & WATT_CHANNEL_OVERLAP_UNKNOWN)
		use = "alone";
	else if (is_below_its_parts(list, i))
		use = "NOT USED: less than its parts";
	else if (domain)
		use = domain->is_summed      ? "sum" :
		      is_whole(list, domain) ? "whole" :
		      domain->parent >= 0    ? "part" :
		      is_supply(domain)      ? "outside" :
					       "alone";
	snprintf(buf, size, "%s", use);
}

static void add_channel(struct listing *list, size_t i, const char *stem, const char *name,
			const struct watt_domain *domain)
{
	const struct watt_channel *channel = watt_session_get_channel(list->ses, i);
	char value[WATT_UNITS_SIZE], timing[96], accuracy[WATT_UNITS_SIZE], use[64];

	format_value(list, i, value);
	format_timing(list, i, channel, timing, sizeof(timing));
	text_uncertainty(accuracy, channel->uncertainty_ppm);
	table_add(list->table, "%s%s", stem, name);
	table_add(list->table, "%s", value);
	table_add(list->table, "%s %s", watt_quantity_unit(channel->quantity),
		  watt_semantics_name(channel->semantics));
	table_add(list->table, "%s", timing);
	table_add(list->table, "%s%s%s", watt_origin_name(channel->origin),
		  channel->uncertainty_ppm ? " " : "", channel->uncertainty_ppm ? accuracy : "");
	format_use(list, i, domain, use, sizeof(use));
	table_add(list->table, "%s", use);
	table_add(list->table, "%s", channel->name);
}

static void format_computed(const struct watt_domain_state *state, char *buf)
{
	double power_w = state ? watt_view_power_w(state, state->window_nj) : NAN;

	if (state && state->status == WATT_STATUS_OK && !state->is_usable)
		snprintf(buf, WATT_UNITS_SIZE, "not usable");
	else if (isnan(power_w))
		snprintf(buf, WATT_UNITS_SIZE, "%s",
			 watt_status_name(state && state->status ? state->status :
								   WATT_STATUS_PENDING));
	else
		watt_units_power(buf, power_w, 3);
}

/* A domain that no channel measures: it is computed from others. */
static void add_computed(struct listing *list, size_t index, const char *stem,
			 const struct watt_domain *domain)
{
	char value[WATT_UNITS_SIZE];

	format_computed(watt_snapshot_get_domain_state(list->snap, index), value);
	table_add(list->table, "%s%s", stem, domain->name);
	table_add(list->table, "%s", value);
	table_add(list->table, "J computed");
	table_add(list->table, "-");
	table_add(list->table, "%s", watt_origin_name(domain->origin));
	table_add(list->table, "%s", domain->is_summed ? "sum" : "part");
	table_add(list->table, "-");
}

static void add_domain(struct listing *list, const struct domain_tree_node *node)
{
	const struct watt_domain *domain = watt_session_get_domain(list->ses, node->index);
	bool has_name = false;
	size_t i;

	if (domain->channel >= 0) {
		add_channel(list, (size_t)domain->channel, node->stem, domain->name, domain);
		has_name = true;
	}
	for (i = 0; i < watt_session_get_channel_count(list->ses); i++) {
		if (watt_session_get_channel_domain(list->ses, i) != (int)node->index ||
		    (int)i == domain->channel)
			continue;
		add_channel(list, i, has_name ? node->below : node->stem,
			    has_name ? "" : domain->name, domain);
		has_name = true;
	}
	if (!has_name)
		add_computed(list, node->index, node->stem, domain);
}

static void add_all(struct listing *list)
{
	size_t n = watt_session_get_domain_count(list->ses), i;
	auto_free const struct watt_domain **domains = xcalloc(n, sizeof(*domains));
	auto_free struct domain_tree_node *nodes = NULL;

	for (i = 0; i < n; i++)
		domains[i] = watt_session_get_domain(list->ses, i);
	nodes = domain_tree_draw(domains, n);
	for (i = 0; i < n; i++)
		add_domain(list, &nodes[i]);
	for (i = 0; i < watt_session_get_channel_count(list->ses); i++)
		if (watt_session_get_channel_domain(list->ses, i) < 0)
			add_channel(list, i, "", watt_session_get_channel(list->ses, i)->domain,
				    NULL);
}

static void print_table(struct listing *list, bool is_terminal)
{
	char usage[USAGE_TEXT_SIZE];

	list->table = table_new();
	table_add_column(list->table, "DOMAIN", 0);
	table_add_column(list->table, "NOW", TABLE_RIGHT);
	table_add_column(list->table, "UNIT", 0);
	table_add_column(list->table, "EVERY", TABLE_CUT);
	table_add_column(list->table, "ORIGIN", 0);
	table_add_column(list->table, "USE", 0);
	table_add_column(list->table, "CHANNEL", TABLE_CUT);
	add_all(list);
	table_print(list->table, stdout, is_terminal ? page_get_width(stdout, 1000) : 0);
	list->table = table_free(list->table);
	printf("\nWho was running: %s. Energy is shared among them by the key of each domain: ",
	       usage_text(list->ses, usage, sizeof(usage)));
}

/* "cpu_time" for each domain that has a key of its own. */
static void print_keys(const struct watt_session *ses)
{
	bool seen[64] = { false };
	size_t i, n_seen = 0;

	for (i = 0; i < watt_session_get_domain_count(ses); i++) {
		enum watt_share_key key = watt_session_get_domain(ses, i)->key;

		if (key >= ARRAY_SIZE(seen) || seen[key])
			continue;
		seen[key] = true;
		printf("%s%s", n_seen++ ? ", " : "", watt_share_key_name(key));
	}
	puts(".");
}

/* "Nobody's so far, as programs are not seen to cause it: node/residual (t = 0.3), ..." */
static void print_rests(const struct watt_session *ses, const struct watt_snapshot *snap,
			bool is_significant)
{
	const char *begin = is_significant ?
				    "Shared among programs, as they cause it: " :
				    "Nobody's so far, as programs are not seen to cause it: ";
	char name[128];
	size_t i, n = 0;

	for (i = 0; i < watt_snapshot_get_domain_count(snap); i++) {
		const struct watt_domain_state *state = watt_snapshot_get_domain_state(snap, i);

		if (isnan(state->significance_t) || !!state->is_significant != is_significant)
			continue;
		text_clean(name, sizeof(name), watt_session_get_domain(ses, i)->path);
		printf("%s%s (t = %.1f)", n++ ? ", " : begin, name, state->significance_t);
	}
	fputs(n ? ".\n" : "", stdout);
}

/* "Who uses gpu-0000:0d:00_0, ... is not told any more." */
static void print_untold(const struct watt_session *ses, enum watt_status which)
{
	enum watt_status status, of_whole;
	char name[128];
	size_t i, n = 0;

	for (i = 0; i < watt_session_get_domain_count(ses); i++) {
		const struct watt_domain *domain = watt_session_get_domain(ses, i);

		if (watt_session_get_users_status(ses, i, &status) < 0 || status != which)
			continue;
		if (domain->parent >= 0 &&
		    watt_session_get_users_status(ses, (size_t)domain->parent, &of_whole) == 0 &&
		    of_whole == which)
			continue;
		text_clean(name, sizeof(name), domain->path);
		printf("%s%s", n++ ? ", " : "Who uses ", name);
	}
	if (n)
		printf(" %s.\n", usage_untold(which));
}

/* "Power supplies: supply-3-0058 is 93.1 % efficient, ...": what comes out, of what goes in. */
static void print_efficiencies(const struct watt_session *ses)
{
	uint32_t efficiency_ppm;
	size_t i, n = 0;

	for (i = 0; i < watt_session_get_channel_count(ses); i++) {
		if (watt_session_get_efficiency(ses, i, &efficiency_ppm) < 0)
			continue;
		printf("%s%s is %.1f %% efficient",
		       n++ ? ", " : "Power supplies: ", watt_session_get_channel(ses, i)->domain,
		       (double)efficiency_ppm / 1e4);
	}
	if (n)
		puts(".");
}

static void print_latecomers(const struct watt_session *ses)
{
	char late[160];

	if (*latecomers_list(ses, late, sizeof(late)))
		printf("Not open yet: %s.\n", late);
	if (*latecomers_list_broken(ses, late, sizeof(late)))
		printf("Broken: %s. What is wrong: wattribute doctor\n", late);
}

static int print_json(const struct watt_session *ses)
{
	auto_free char *text = NULL;
	int r;

	r = watt_sources_to_json(ses, WATT_JSON_PRETTY, &text);
	if (r < 0) {
		message_error("no JSON: %s", strerror(-r));
		return r;
	}
	puts(text);
	return 0;
}

/* A snapshot opens the window that the next one closes. */
static int open_window(struct watt_session *ses)
{
	struct watt_snapshot *snap = NULL;
	int r;

	r = watt_session_snapshot(ses, &snap);
	watt_snapshot_unref(snap);
	return r;
}

static int list_all(struct watt_session *ses, bool is_json)
{
	size_t n = watt_session_get_channel_count(ses), i;
	struct listing list = { .ses = ses };
	auto_free struct watt_sample *first = xcalloc(n, sizeof(*first));
	auto_free int *first_r = xcalloc(n, sizeof(*first_r));
	int r;

	list.first = first;
	list.first_r = first_r;
	list.n_first = n;
	r = watt_session_start(ses);
	if (r == 0)
		r = watt_session_wait(ses, SETTLE_MS);
	for (i = 0; i < n && r >= 0; i++)
		first_r[i] = watt_session_get_sample(ses, i, &first[i]);
	if (r >= 0)
		r = open_window(ses);
	if (r >= 0)
		r = watt_session_wait(ses, BETWEEN_MS);
	if (r >= 0)
		r = watt_session_snapshot(ses, &list.snap);
	if (r < 0) {
		message_error("cannot read: %s", strerror(-r));
		return r;
	}
	if (is_json) {
		r = print_json(ses);
	} else {
		print_table(&list, isatty(STDOUT_FILENO));
		print_keys(ses);
		print_untold(ses, WATT_STATUS_FORBIDDEN);
		print_untold(ses, WATT_STATUS_STALE);
		print_rests(ses, list.snap, true);
		print_rests(ses, list.snap, false);
		print_efficiencies(ses);
		print_latecomers(ses);
	}
	watt_snapshot_unref(list.snap);
	return r;
}

int cmd_sources(int argc, char **argv)
{
	struct options opts = { 0 };
	struct watt_session *ses = NULL;
	int r;

	if (options_take_all(&opts, argc, argv) < 0)
		return STATUS_USAGE;
	if (opts.is_help) {
		fputs(help_text, stdout);
		return STATUS_OK;
	}
	r = options_open_session(&opts, &ses);
	if (r < 0)
		return options_status(r);
	r = list_all(ses, opts.is_json);
	watt_session_close(ses);
	return r < 0 ? STATUS_FAILURE : STATUS_OK;
}

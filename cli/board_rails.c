/* SPDX-License-Identifier: Apache-2.0 */
/* Lists a board's channels, listens to them, and takes the median of each one's readings. */
#include "board_rails.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "xalloc.h"

#define STEP_MS 10u
#define MAX_READS 128

/* How long the readings of one rail took. */
struct ear {
	uint64_t took_ns[MAX_READS];
};

/* Letters and digits in small letters; all else in between is one '_'. */
static void clean_label(const char *label, char *buf, size_t size)
{
	size_t n = 0;

	for (; label && *label && n + 1 < size; label++) {
		if (isalnum((unsigned char)*label))
			buf[n++] = (char)tolower((unsigned char)*label);
		else if (n && buf[n - 1] != '_')
			buf[n++] = '_';
	}
	while (n && buf[n - 1] == '_')
		n--;
	buf[n] = '\0';
}

/* "0040" of "hwmon/1-0040/vdd_in" */
static void take_address(const char *channel, char buf[5])
{
	const char *device = strchr(channel, '/');
	const char *digits;

	buf[0] = '\0';
	if (!device++)
		return;
	digits = device + strspn(device, "0123456789");
	if (digits == device || *digits++ != '-' || strspn(digits, "0123456789abcdef") != 4 ||
	    (digits[4] != '/' && digits[4]))
		return;
	memcpy(buf, digits, 4);
	buf[4] = '\0';
}

/* One that nobody knows has its device in its domain: "1-0040:vdd_in", "1-0040". */
static bool is_placed(const struct board_rail *rail)
{
	const char *name = strrchr(rail->domain, '/');

	return rail->clean[0] && strcmp(name ? name + 1 : rail->domain, rail->clean) == 0;
}

/* What monitors supply rails; all else has an order of its own. */
static bool is_of_a_board(const struct watt_channel *channel)
{
	return strcmp(channel->source, "hwmon") == 0 || strcmp(channel->source, "iio") == 0;
}

static bool is_context(const struct watt_channel *channel)
{
	return strcmp(channel->source, "context") == 0;
}

static void take_rail(struct board_rail *rail, const struct watt_channel *channel, size_t index)
{
	rail->index = index;
	rail->channel = channel->name;
	rail->source = channel->source;
	rail->label = channel->label ? channel->label : "";
	rail->is_context = is_context(channel);
	rail->quantity = channel->quantity;
	rail->domain = channel->domain ? channel->domain : "";
	rail->kind = channel->kind;
	rail->is_alone = channel->flags & WATT_CHANNEL_OVERLAP_UNKNOWN;
	rail->status = WATT_STATUS_PENDING;
	clean_label(rail->label, rail->clean, sizeof(rail->clean));
	rail->is_known = !rail->is_alone || is_placed(rail);
	take_address(channel->name, rail->address);
}

static void hear(struct board_rails *rails, struct ear *ears)
{
	struct watt_sample sample;
	size_t i;

	for (i = 0; i < rails->n; i++) {
		struct board_rail *rail = &rails->list[i];
		const struct watt_channel *channel =
			watt_session_get_channel(rails->ses, rail->index);

		if (watt_session_get_sample(rails->ses, rail->index, &sample) < 0)
			continue;
		rail->status = (enum watt_status)sample.status;
		if (sample.status != WATT_STATUS_OK || sample.t_before_ns == rail->begun_ns ||
		    rail->n_reads == MAX_READS)
			continue;
		rail->begun_ns = sample.t_before_ns;
		rail->value = (double)sample.raw * (double)channel->scale_num /
			      (double)channel->scale_den / watt_quantity_per_unit(rail->quantity);
		ears[i].took_ns[rail->n_reads++] = sample.t_after_ns - sample.t_before_ns;
	}
}

static int compare_times(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static int listen_for(struct board_rails *rails, uint32_t listen_ms)
{
	auto_free struct ear *ears = xcalloc(rails->n, sizeof(*ears));
	uint32_t ms;
	size_t i;
	int r = watt_session_start(rails->ses);

	for (ms = 0; ms < listen_ms && r >= 0; ms += STEP_MS) {
		r = watt_session_wait(rails->ses, STEP_MS);
		hear(rails, ears);
	}
	for (i = 0; i < rails->n; i++) {
		struct board_rail *rail = &rails->list[i];

		if (!rail->n_reads)
			continue;
		qsort(ears[i].took_ns, rail->n_reads, sizeof(*ears[i].took_ns), compare_times);
		rail->read_ns = ears[i].took_ns[rail->n_reads / 2];
	}
	return r < 0 ? r : 0;
}

static size_t take_all(struct board_rails *rails, size_t n,
		       bool (*is_wanted)(const struct watt_channel *channel))
{
	size_t i, before = rails->n;

	for (i = 0; i < n; i++) {
		const struct watt_channel *channel = watt_session_get_channel(rails->ses, i);

		if (is_wanted(channel))
			take_rail(&rails->list[rails->n++], channel, i);
	}
	return rails->n - before;
}

int board_rails_listen(struct board_rails *rails, const struct watt_options *options,
		       uint32_t listen_ms)
{
	size_t n;
	int r = watt_session_open(options, &rails->ses);

	if (r == -ENODEV)
		return 0;
	if (r < 0)
		return r;
	n = watt_session_get_channel_count(rails->ses);
	rails->list = xcalloc(n, sizeof(*rails->list));
	take_all(rails, n, is_of_a_board);
	rails->n_context = take_all(rails, n, is_context);
	return rails->n ? listen_for(rails, listen_ms) : 0;
}

void board_rails_clear(struct board_rails *rails)
{
	free(rails->list);
	watt_session_close(rails->ses);
	*rails = (struct board_rails){ 0 };
}

/* Whether no rail before it is read by the same call. */
static bool is_first_of_call(const struct board_rails *rails, size_t index)
{
	size_t i;

	for (i = 0; i < index; i++)
		if (rails->list[i].n_reads &&
		    rails->list[i].begun_ns == rails->list[index].begun_ns)
			return false;
	return true;
}

/* What comes after it by name. */
static bool is_after(const struct board_rail *rail, const char *source)
{
	return rail->source && (!source || strcmp(rail->source, source) > 0);
}

static uint64_t sum_source(const struct board_rails *rails, const char *source)
{
	uint64_t sum_ns = 0;
	size_t i;

	for (i = 0; i < rails->n; i++)
		if (rails->list[i].n_reads && rails->list[i].source &&
		    strcmp(rails->list[i].source, source) == 0 && is_first_of_call(rails, i))
			sum_ns += rails->list[i].read_ns;
	return sum_ns;
}

/* By name, so that each comes once. */
const char *board_rails_next_source(const struct board_rails *rails, const char *source,
				    uint64_t *ret_sweep_ns)
{
	const char *next = NULL;
	size_t i;

	for (i = 0; i < rails->n; i++) {
		const struct board_rail *rail = &rails->list[i];

		if (rail->n_reads && is_after(rail, source) && (!next || !is_after(rail, next)))
			next = rail->source;
	}
	if (next)
		*ret_sweep_ns = sum_source(rails, next);
	return next;
}

const char *board_rails_place(const struct board_rails *rails, const struct board_rail *rail,
			      char *buf, size_t size)
{
	size_t i, n = 0;

	for (i = 0; i < rails->n; i++)
		n += strcmp(rails->list[i].clean, rail->clean) == 0;
	if (rail->is_known)
		snprintf(buf, size, "%s", rail->domain);
	else if (n > 1 && rail->address[0])
		snprintf(buf, size, "%s-%s", rail->clean, rail->address);
	else
		snprintf(buf, size, "%s", rail->clean);
	return buf;
}

static const struct {
	const char *name;
	unsigned int hz;
} tiers[] = {
	[BOARD_TIER_FAST] = { "fast", 1000 },
	[BOARD_TIER_MEDIUM] = { "medium", 100 },
	[BOARD_TIER_SLOW] = { "slow", 10 },
};

enum board_tier board_tier_of(uint64_t read_ns)
{
	enum board_tier tier = BOARD_TIER_FAST;

	while (tier < BOARD_TIER_SLOW && read_ns > 100000000u / tiers[tier].hz)
		tier++;
	return tier;
}

const char *board_tier_name(enum board_tier tier)
{
	return tiers[tier].name;
}

unsigned int board_tier_hz(enum board_tier tier)
{
	return tiers[tier].hz;
}

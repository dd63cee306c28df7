/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Divides what comes out of a supply by what goes in, from the last readings. It must not read
 * anything itself.
 */
#include "base/efficiency.h"

#include <errno.h>
#include <string.h>

static bool is_supply(const struct watt_channel *channel)
{
	return channel->kind == WATT_DOMAIN_SUPPLY && channel->quantity == WATT_QUANTITY_POWER;
}

/* An output's place is right below its supply's. */
static bool is_output_of(const struct watt_channel *channel, const struct watt_channel *supply)
{
	size_t len = strlen(supply->domain);

	return channel->quantity == WATT_QUANTITY_POWER &&
	       !strncmp(channel->domain, supply->domain, len) && channel->domain[len] == '/' &&
	       !strchr(channel->domain + len + 1, '/');
}

static int read_uw(const struct watt_efficiency_view *view, size_t i, double *ret_uw)
{
	const struct watt_channel *channel = view->channel(view->of, i);
	struct watt_sample sample = { .status = WATT_STATUS_PENDING };

	if (view->sample(view->of, i, &sample) < 0 || sample.status != WATT_STATUS_OK)
		return -ENODATA;
	*ret_uw = (double)sample.raw * (double)channel->scale_num / (double)channel->scale_den;
	return 0;
}

int watt_efficiency_read(const struct watt_efficiency_view *view, size_t supply,
			 struct watt_efficiency *ret)
{
	const struct watt_channel *input = view->channel(view->of, supply);
	struct watt_efficiency sides = { 0 };
	size_t n_outputs = 0, i;
	double out_uw;
	int r = 0;

	if (!is_supply(input))
		return -ENOENT;
	for (i = 0; i < view->n && r == 0; i++) {
		if (!is_output_of(view->channel(view->of, i), input))
			continue;
		n_outputs++;
		r = read_uw(view, i, &out_uw);
		if (r == 0)
			sides.out_uw += out_uw;
	}
	if (!n_outputs)
		return -ENOENT;
	if (r == 0)
		r = read_uw(view, supply, &sides.in_uw);
	if (r == 0)
		*ret = sides;
	return r;
}

int watt_efficiency_sum(const struct watt_efficiency_view *view, struct watt_efficiency *ret)
{
	struct watt_efficiency sum = { 0 }, sides;
	int found = -ENOENT, r;
	size_t i;

	for (i = 0; i < view->n; i++) {
		r = watt_efficiency_read(view, i, &sides);
		if (r == -ENODATA && found < 0)
			found = r;
		if (r < 0)
			continue;
		found = 0;
		sum.in_uw += sides.in_uw;
		sum.out_uw += sides.out_uw;
	}
	if (found == 0)
		*ret = sum;
	return found;
}

int watt_efficiency_ppm(const struct watt_efficiency *sides, uint32_t *ret_ppm)
{
	if (sides->in_uw <= 0 || sides->out_uw < 0 || sides->out_uw > sides->in_uw)
		return -ENODATA;
	*ret_ppm = (uint32_t)(sides->out_uw / sides->in_uw * 1e6 + 0.5);
	return 0;
}

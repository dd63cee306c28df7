/* SPDX-License-Identifier: Apache-2.0 */
/* The curves of all channels. Time is what the samples say; no clock is read here. */
#include "timeline/timeline.h"

#include <errno.h>
#include <stdlib.h>

#include "timeline/curve.h"
#include "timeline/delays.h"

struct watt_timeline {
	size_t n_curves;
	struct watt_curve *curves;
};

int watt_timeline_grow(struct watt_timeline *tl, const struct watt_channel *const *channels,
		       size_t n_channels)
{
	struct watt_curve *curves;

	if (n_channels <= tl->n_curves)
		return 0;
	curves = reallocarray(tl->curves, n_channels, sizeof(*curves));
	if (!curves)
		return -ENOMEM;
	tl->curves = curves;
	for (; tl->n_curves < n_channels; tl->n_curves++)
		watt_curve_init(&curves[tl->n_curves], channels[tl->n_curves]);
	return 0;
}

int watt_timeline_new(const struct watt_channel *const *channels, size_t n_channels,
		      struct watt_timeline **ret)
{
	struct watt_timeline *tl = calloc(1, sizeof(*tl));

	if (!tl)
		return -ENOMEM;
	if (watt_timeline_grow(tl, channels, n_channels) < 0) {
		free(tl);
		return -ENOMEM;
	}
	*ret = tl;
	return 0;
}

int watt_timeline_set_delays(struct watt_timeline *tl, const struct watt_rules *delays,
			     const struct watt_log *log)
{
	return watt_delays_apply(delays, tl->curves, tl->n_curves, log);
}

struct watt_timeline *watt_timeline_free(struct watt_timeline *tl)
{
	size_t i;

	if (!tl)
		return NULL;
	for (i = 0; i < tl->n_curves; i++)
		watt_curve_done(&tl->curves[i]);
	free(tl->curves);
	free(tl);
	return NULL;
}

int watt_timeline_push(struct watt_timeline *tl, const struct watt_sample *sample)
{
	if (sample->channel >= tl->n_curves || sample->t_after_ns < sample->t_before_ns)
		return -EINVAL;
	return watt_curve_push(&tl->curves[sample->channel], sample);
}

int watt_timeline_energy_nj(const struct watt_timeline *tl, size_t channel, uint64_t t_ns,
			    watt_i128 *ret_nj)
{
	if (channel >= tl->n_curves)
		return -EINVAL;
	return watt_curve_energy_nj(&tl->curves[channel], t_ns, ret_nj);
}

void watt_timeline_forget(struct watt_timeline *tl, size_t channel, uint64_t t_ns)
{
	if (channel < tl->n_curves)
		watt_curve_forget(&tl->curves[channel], t_ns);
}

void watt_timeline_get_stats(const struct watt_timeline *tl, size_t channel,
			     struct watt_curve_stats *ret)
{
	if (channel >= tl->n_curves)
		return;
	*ret = tl->curves[channel].stats;
	ret->patience_ns = watt_curve_patience_ns(&tl->curves[channel]);
}

bool watt_timeline_find_gap(const struct watt_timeline *tl, size_t channel, uint64_t t0_ns,
			    uint64_t t1_ns, struct watt_gap *ret)
{
	return channel < tl->n_curves &&
	       watt_curve_find_gap(&tl->curves[channel], t0_ns, t1_ns, ret);
}

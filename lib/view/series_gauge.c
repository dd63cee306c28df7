/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of context over the windows of a series: what a mean is made of, and its extremes. */
#include "view/series.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

/* Channels stay in order, and what comes later is behind: it is where it was, or new. */
static struct watt_series_gauge *find(struct watt_series *series, const struct watt_gauge *gauge,
				      size_t at)
{
	size_t i;

	if (at < series->n_gauges && strcmp(series->gauges[at].name, gauge->name) == 0)
		return &series->gauges[at];
	for (i = 0; i < series->n_gauges; i++)
		if (strcmp(series->gauges[i].name, gauge->name) == 0)
			return &series->gauges[i];
	return NULL;
}

static struct watt_series_gauge *add(struct watt_series *series, const struct watt_gauge *gauge)
{
	struct watt_series_gauge *sum;
	char *name;

	if (watt_grow((void **)&series->gauges, &series->gauges_cap, series->n_gauges,
		      sizeof(*series->gauges)) < 0 ||
	    watt_grow((void **)&series->gauge_means, &series->gauge_means_cap, series->n_gauges,
		      sizeof(*series->gauge_means)) < 0)
		return NULL;
	name = strdup(gauge->name);
	if (!name)
		return NULL;
	series->gauge_means[series->n_gauges] = (struct watt_series_means){ 0 };
	sum = &series->gauges[series->n_gauges++];
	*sum = (struct watt_series_gauge){ .sz = sizeof(*sum),
					   .name = name,
					   .quantity = gauge->quantity,
					   .mean = NAN,
					   .least = NAN,
					   .greatest = NAN };
	return sum;
}

/* Each window's mean counts for as long as it is known. */
static void sum_up(struct watt_series_gauge *sum, const struct watt_gauge *gauge)
{
	sum->status = gauge->status;
	if (isnan(gauge->mean) || gauge->known_ns == 0)
		return;
	sum->known_ns += gauge->known_ns;
	sum->mean = isnan(sum->mean) ?
			    gauge->mean :
			    sum->mean + (gauge->mean - sum->mean) * (double)gauge->known_ns /
						(double)sum->known_ns;
	sum->least = fmin(sum->least, gauge->mean);
	sum->greatest = fmax(sum->greatest, gauge->mean);
}

/* In the window that is added now. */
static int keep_mean(struct watt_series *series, size_t gauge, double mean)
{
	struct watt_series_means *means = &series->gauge_means[gauge];

	while (means->n <= series->info.n_windows) {
		if (watt_grow((void **)&means->list, &means->cap, means->n, sizeof(*means->list)) <
		    0)
			return -ENOMEM;
		means->list[means->n++] = NAN;
	}
	means->list[series->info.n_windows] = mean;
	return 0;
}

int watt_series_add_gauges(struct watt_series *series, const struct watt_view *view)
{
	size_t i;

	for (i = 0; i < view->n_gauges; i++) {
		struct watt_series_gauge *sum = find(series, view->gauges[i], i);

		if (!sum)
			sum = add(series, view->gauges[i]);
		if (!sum)
			return -ENOMEM;
		sum_up(sum, view->gauges[i]);
		if (keep_mean(series, (size_t)(sum - series->gauges),
			      watt_gauge_get_now(view->gauges[i])) < 0)
			return -ENOMEM;
	}
	return 0;
}

void watt_series_gauges_done(struct watt_series *series)
{
	size_t i;

	for (i = 0; i < series->n_gauges; i++) {
		free((char *)series->gauges[i].name);
		free(series->gauge_means[i].list);
	}
	free(series->gauges);
	free(series->gauge_means);
}

const struct watt_series_gauge *watt_series_get_gauge(const struct watt_series *series,
						      size_t index)
{
	return series && index < series->n_gauges ? &series->gauges[index] : NULL;
}

double watt_series_get_gauge_mean(const struct watt_series *series, size_t gauge_index,
				  size_t window_index)
{
	if (!series || gauge_index >= series->n_gauges ||
	    window_index >= series->gauge_means[gauge_index].n)
		return NAN;
	return series->gauge_means[gauge_index].list[window_index];
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Kalman filter whose state is what each stretch of the mean's window should have had more than
 * the curve has. If a mean says more than all doubts explain, something happened that was not seen,
 * and it is believed of the newest.
 */
#include "timeline/mean_filter.h"

#include <stdlib.h>
#include <string.h>

/* A mean of more stretches than that is told of its newest ones alone. */
#define MAX_STRETCHES 32
/* Of what is owed, a part is paid by each stretch, which is at most a part of its energy. */
#define PAY 2
#define MOST_PAY 4
/* The square of so many standard deviations as are no accident. */
#define SURPRISE 9

#define NJ_PER_UJ 1000

struct watt_mean_filter {
	struct stretch {
		uint64_t from_ns, to_ns;
		double missed_uj;                    /* so much more should have been in it */
	} list[MAX_STRETCHES];                       /* oldest first */
	double doubts[MAX_STRETCHES][MAX_STRETCHES]; /* covariances of what they missed, uJ^2 */
	size_t n;
	double owed_uj; /* to all of them, and to those that are over */
};

/* Of whole uJ, as far as double tells them apart. */
static double to_uj(watt_i128 energy_nj)
{
	watt_i128 energy_uj = energy_nj / NJ_PER_UJ;

	return (double)energy_uj;
}

struct watt_mean_filter *watt_mean_filter_new(void)
{
	return calloc(1, sizeof(struct watt_mean_filter));
}

struct watt_mean_filter *watt_mean_filter_free(struct watt_mean_filter *filter)
{
	free(filter);
	return NULL;
}

static void drop_oldest(struct watt_mean_filter *filter, size_t n)
{
	size_t i;

	if (!n)
		return;
	filter->n -= n;
	memmove(filter->list, filter->list + n, filter->n * sizeof(filter->list[0]));
	for (i = 0; i < filter->n; i++)
		memmove(filter->doubts[i], filter->doubts[i + n] + n, filter->n * sizeof(double));
}

static void begin_stretch(struct watt_mean_filter *filter, const struct watt_mean_news *news)
{
	double doubt_uj = (double)WATT_MAX(news->doubt_uj, 1);
	size_t n = 0, i;

	while (n < filter->n && filter->list[n].to_ns <= news->mean_from_ns)
		n++;
	drop_oldest(filter, WATT_MAX(n, filter->n == MAX_STRETCHES ? 1 : 0));
	n = filter->n++;
	filter->list[n] = (struct stretch){ .from_ns = news->from_ns, .to_ns = news->to_ns };
	for (i = 0; i < n; i++)
		filter->doubts[i][n] = filter->doubts[n][i] = 0;
	filter->doubts[n][n] = doubt_uj * doubt_uj;
}

void watt_mean_filter_note(struct watt_mean_filter *filter, const struct watt_mean_news *news)
{
	begin_stretch(filter, news);
}

/* How much of a stretch the mean is of. */
static double part_of(const struct stretch *stretch, uint64_t from_ns)
{
	if (from_ns <= stretch->from_ns)
		return 1;
	return (double)(stretch->to_ns - from_ns) / (double)(stretch->to_ns - stretch->from_ns);
}

/* What is off, divided among all by how much it may be theirs. */
static void divide(struct watt_mean_filter *filter, const double *pull, double off_uj, double all)
{
	size_t i, k;

	for (i = 0; i < filter->n; i++) {
		filter->list[i].missed_uj += off_uj * pull[i] / all;
		for (k = 0; k < filter->n; k++)
			filter->doubts[i][k] -= pull[i] * pull[k] / all;
	}
	for (i = 0; i + 1 < filter->n; i++)
		filter->owed_uj += off_uj * pull[i] / all;
}

static void hear(struct watt_mean_filter *filter, const struct watt_mean_news *news)
{
	double off_uj = to_uj(news->told_nj - news->expected_nj);
	double part[MAX_STRETCHES], pull[MAX_STRETCHES] = { 0 };
	double all = (double)news->noise_uj * (double)news->noise_uj, more;
	size_t newest = filter->n - 1, i, k;

	for (i = 0; i < filter->n; i++) {
		part[i] = part_of(&filter->list[i], news->mean_from_ns);
		off_uj -= part[i] * filter->list[i].missed_uj;
	}
	for (i = 0; i < filter->n; i++) {
		for (k = 0; k < filter->n; k++)
			pull[i] += filter->doubts[i][k] * part[k];
		all += part[i] * pull[i];
	}
	more = off_uj * off_uj - all;
	if (off_uj * off_uj > SURPRISE * all) {
		filter->doubts[newest][newest] += more;
		pull[newest] += more;
		all += more;
	}
	if (all > 0)
		divide(filter, pull, off_uj, all);
}

/* Not all at once: a debt that was a mistake would be one more. */
static double get_pay_uj(const struct watt_mean_filter *filter, double energy_uj)
{
	double most_uj = (energy_uj < 0 ? -energy_uj : energy_uj) / MOST_PAY;
	double pay_uj = filter->owed_uj / PAY;

	return pay_uj > most_uj ? most_uj : pay_uj < -most_uj ? -most_uj : pay_uj;
}

watt_i128 watt_mean_filter_take(struct watt_mean_filter *filter, const struct watt_mean_news *news)
{
	double expected_uj = to_uj(news->expected_nj), pay_uj;
	struct stretch *newest;
	watt_i128 put_nj;

	begin_stretch(filter, news);
	hear(filter, news);
	newest = &filter->list[filter->n - 1];
	pay_uj = get_pay_uj(filter, expected_uj + newest->missed_uj);
	put_nj = (watt_i128)((newest->missed_uj + pay_uj) * NJ_PER_UJ) + news->expected_nj;
	put_nj = WATT_MAX(put_nj, news->least_nj);
	pay_uj = to_uj(put_nj - news->expected_nj) - newest->missed_uj;
	newest->missed_uj = -pay_uj;
	filter->owed_uj -= pay_uj;
	return put_nj;
}

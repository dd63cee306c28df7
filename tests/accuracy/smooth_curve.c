/* SPDX-License-Identifier: Apache-2.0 */
/* Conjugate gradients on the normal equations, whose rows are kept as intervals and never formed. */
#include "smooth_curve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RIDGE 1e-12
#define TOLERANCE 1e-8

struct reading {
	double from, to; /* in bins */
	double power_w, weight;
};

struct smooth_curve {
	uint64_t from_ns, bin_ns;
	double lambda;
	size_t n;
	double *power_w;
	struct reading *readings;
	size_t n_readings, cap_readings;
};

static void *allocate(size_t n, size_t size)
{
	void *memory = calloc(n, size);

	if (!memory)
		abort();
	return memory;
}

struct smooth_curve *smooth_curve_new(uint64_t from_ns, uint64_t to_ns, uint64_t bin_ns,
				      double lambda)
{
	struct smooth_curve *curve = allocate(1, sizeof(*curve));

	*curve = (struct smooth_curve){ .from_ns = from_ns, .bin_ns = bin_ns, .lambda = lambda };
	curve->n = (size_t)((to_ns - from_ns + bin_ns - 1) / bin_ns);
	curve->power_w = allocate(curve->n, sizeof(double));
	return curve;
}

void smooth_curve_free(struct smooth_curve *curve)
{
	if (!curve)
		return;
	free(curve->power_w);
	free(curve->readings);
	free(curve);
}

static double to_bins(const struct smooth_curve *curve, uint64_t t_ns)
{
	double bins = ((double)t_ns - (double)curve->from_ns) / (double)curve->bin_ns;

	return fmin(fmax(bins, 0), (double)curve->n);
}

void smooth_curve_add(struct smooth_curve *curve, uint64_t from_ns, uint64_t to_ns, double power_w,
		      double weight)
{
	double from = to_bins(curve, from_ns), to = to_bins(curve, to_ns);

	if (to <= from)
		return;
	if (curve->n_readings == curve->cap_readings) {
		curve->cap_readings = curve->cap_readings ? 2 * curve->cap_readings : 256;
		curve->readings = reallocarray(curve->readings, curve->cap_readings,
					       sizeof(*curve->readings));
		if (!curve->readings)
			abort();
	}
	curve->readings[curve->n_readings++] = (struct reading){ from, to, power_w, weight };
}

/* How much of a bin lies in a reading, as a part of the reading. */
static double part(const struct reading *reading, size_t bin)
{
	double from = fmax(reading->from, (double)bin), to = fmin(reading->to, (double)bin + 1);

	return to > from ? (to - from) / (reading->to - reading->from) : 0;
}

static size_t first_bin(const struct reading *reading)
{
	return (size_t)reading->from;
}

static size_t end_bin(const struct reading *reading)
{
	return (size_t)ceil(reading->to);
}

/* ret = (sum of weighted rows, smoothness and ridge) times x */
static void multiply(const struct smooth_curve *curve, const double *x, double *ret)
{
	size_t i, b;

	for (b = 0; b < curve->n; b++)
		ret[b] = RIDGE * x[b];
	for (i = 0; i < curve->n_readings; i++) {
		const struct reading *reading = &curve->readings[i];
		double mean = 0;

		for (b = first_bin(reading); b < end_bin(reading); b++)
			mean += part(reading, b) * x[b];
		for (b = first_bin(reading); b < end_bin(reading); b++)
			ret[b] += reading->weight * part(reading, b) * mean;
	}
	for (b = 1; b + 1 < curve->n; b++) {
		double second = curve->lambda * (x[b - 1] - 2 * x[b] + x[b + 1]);

		ret[b - 1] += second;
		ret[b] -= 2 * second;
		ret[b + 1] += second;
	}
}

static double dot(const double *a, const double *b, size_t n)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

static void iterate(struct smooth_curve *curve, double *residual, double *way, double *image)
{
	double *x = curve->power_w, size = dot(residual, residual, curve->n), begin = size, next;
	size_t i, b;

	memcpy(way, residual, curve->n * sizeof(*way));
	for (i = 0; i < 20 * curve->n && size > begin * TOLERANCE * TOLERANCE; i++) {
		double step;

		multiply(curve, way, image);
		step = size / dot(way, image, curve->n);
		for (b = 0; b < curve->n; b++) {
			x[b] += step * way[b];
			residual[b] -= step * image[b];
		}
		next = dot(residual, residual, curve->n);
		for (b = 0; b < curve->n; b++)
			way[b] = residual[b] + next / size * way[b];
		size = next;
	}
}

void smooth_curve_solve(struct smooth_curve *curve)
{
	double *work = allocate(3 * curve->n, sizeof(double));
	size_t i, b;

	for (i = 0; i < curve->n_readings; i++) {
		const struct reading *reading = &curve->readings[i];

		for (b = first_bin(reading); b < end_bin(reading); b++)
			work[b] += reading->weight * part(reading, b) * reading->power_w;
	}
	iterate(curve, work, work + curve->n, work + 2 * curve->n);
	for (b = 0; b < curve->n; b++)
		curve->power_w[b] = fmax(curve->power_w[b], 0);
	free(work);
}

double smooth_curve_energy_j(const struct smooth_curve *curve, uint64_t from_ns, uint64_t to_ns)
{
	const struct reading whole = { to_bins(curve, from_ns), to_bins(curve, to_ns), 0, 0 };
	double mean_w = 0;
	size_t b;

	if (whole.to <= whole.from)
		return 0;
	for (b = first_bin(&whole); b < end_bin(&whole); b++)
		mean_w += part(&whole, b) * curve->power_w[b];
	return mean_w * (whole.to - whole.from) * (double)curve->bin_ns / 1e9;
}

double smooth_curve_power_w(const struct smooth_curve *curve, uint64_t t_ns)
{
	double at = to_bins(curve, t_ns) - 0.5;
	size_t b;

	if (at <= 0)
		return curve->power_w[0];
	b = (size_t)at;
	if (b + 1 >= curve->n)
		return curve->power_w[curve->n - 1];
	return curve->power_w[b] + (at - (double)b) * (curve->power_w[b + 1] - curve->power_w[b]);
}

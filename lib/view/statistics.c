/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mean, sample standard deviation, and the interval by Student's t: a few runs are too few for
 * the normal distribution.
 */
#include "view/statistics.h"

#include <math.h>

#include "base/util.h"

double watt_statistics_t95(size_t degrees_of_freedom)
{
	static const double exact[] = {
		NAN,   12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
		2.201, 2.179,  2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080,
		2.074, 2.069,  2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
	};
	double z = 1.959964, n = (double)degrees_of_freedom;

	if (degrees_of_freedom < WATT_ARRAY_SIZE(exact))
		return exact[degrees_of_freedom];
	/* Cornish-Fisher; right to 0.001 from here on. */
	return z + (z * z * z + z) / (4 * n) +
	       (5 * pow(z, 5) + 16 * pow(z, 3) + 3 * z) / (96 * n * n);
}

struct watt_statistics watt_statistics_of(const double *values, size_t n)
{
	struct watt_statistics ret = { .mean = NAN, .sd = NAN, .ci95 = NAN };
	double sum_of_squares = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		double delta;

		if (!isfinite(values[i]))
			continue;
		if (ret.n++ == 0)
			ret.mean = 0;
		delta = values[i] - ret.mean;
		ret.mean += delta / (double)ret.n;
		sum_of_squares += delta * (values[i] - ret.mean);
	}
	if (ret.n < 2)
		return ret;
	ret.sd = sqrt(sum_of_squares / (double)(ret.n - 1));
	ret.ci95 = watt_statistics_t95(ret.n - 1) * ret.sd / sqrt((double)ret.n);
	return ret;
}

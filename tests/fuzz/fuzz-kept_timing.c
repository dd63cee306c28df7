/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as what a calibration has kept. */
#include "fuzz.h"

#include <errno.h>
#include <string.h>

#include "source/power/nvml/kept_timing.h"

#define MOST_NS 10000000000ULL
#define MOST_PPM 1000000u

static void check_way(const struct watt_gpu_timing *timing, int r)
{
	check(timing->period_ns <= MOST_NS && timing->window_ns <= MOST_NS &&
	      timing->delay_ns <= MOST_NS);
	check(timing->coverage_ppm <= MOST_PPM && timing->uncertainty_ppm <= MOST_PPM);
	check((timing->period_ns != 0) == (timing->coverage_ppm != 0));
	check(r == 0 || timing->period_ns == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct watt_kept_timing kept;
	char *text = malloc(size + 1);
	size_t i;
	int r;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	r = watt_kept_timing_parse(text, &kept);
	check(r == 0 || r == -EBADMSG);
	for (i = 0; i < WATT_KEPT_N_WAYS; i++)
		check_way(&kept.way[i], r);
	free(text);
	return 0;
}

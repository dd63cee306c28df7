/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of generations. The gain of a board's sensor is off by up to 5 %, uniformly; one that
 * looks at a part of the time may miss what happens in the rest. From measurements of Yang, Adamek
 * and Armour, "Part-time Power Measurements", 2023. It must not ask a driver.
 */
#include "source/power/nvml/gpu_timing.h"

#include "base/clock.h"
#include "base/util.h"

#define MS WATT_NSEC_PER_MSEC
/* 5 % divided by the square root of 3 */
#define GAIN_PPM 28868
/* The same, and what a sensor misses that looks at a half or less of the time. */
#define PART_TIME_PPM 50000
#define ALL_PPM 1000000

static const struct row {
	unsigned int architecture;
	struct watt_gpu_timing timing;
} rows[] = {
	{ WATT_GPU_KEPLER, { 20 * MS, 200 * MS, ALL_PPM, GAIN_PPM } },
	{ WATT_GPU_MAXWELL, { 20 * MS, 200 * MS, ALL_PPM, GAIN_PPM } },
	{ WATT_GPU_PASCAL, { 20 * MS, 10 * MS, ALL_PPM / 2, PART_TIME_PPM } },
	{ WATT_GPU_VOLTA, { 20 * MS, 10 * MS, ALL_PPM / 2, PART_TIME_PPM } },
	{ WATT_GPU_TURING, { 100 * MS, 100 * MS, ALL_PPM, GAIN_PPM } },
	{ WATT_GPU_ADA, { 100 * MS, 100 * MS, ALL_PPM, GAIN_PPM } },
};

/* A100, H100, and what nobody has looked at: rather too little is believed than too much. */
static const struct watt_gpu_timing part_time = { 100 * MS, 25 * MS, ALL_PPM / 4, PART_TIME_PPM };
static const struct watt_gpu_timing full_time = { 100 * MS, 100 * MS, ALL_PPM, GAIN_PPM };

struct watt_gpu_timing watt_gpu_timing_instant(unsigned int architecture, bool has_average)
{
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(rows); i++)
		if (rows[i].architecture == architecture)
			return rows[i].timing;
	/* of two chips of one name, the large one has no mean and looks at a quarter of the time */
	if (architecture == WATT_GPU_AMPERE && has_average)
		return full_time;
	return part_time;
}

struct watt_gpu_timing watt_gpu_timing_average(void)
{
	return (struct watt_gpu_timing){ 100 * MS, 1000 * MS, ALL_PPM, GAIN_PPM };
}

struct watt_gpu_timing watt_gpu_timing_counter(unsigned int architecture)
{
	uint64_t period_ns = architecture == WATT_GPU_VOLTA ? 20 * MS : 100 * MS;

	return (struct watt_gpu_timing){ period_ns, 0, ALL_PPM, GAIN_PPM };
}

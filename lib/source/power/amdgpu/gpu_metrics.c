/* SPDX-License-Identifier: Apache-2.0 */
/* Where each revision of the table has what. It must not guess: what is not stated is not read. */
#include "source/power/amdgpu/gpu_metrics.h"

#include <errno.h>
#include <string.h>

#include "base/util.h"

#define HEADER_SIZE 4

/* Throttle bits that are the same for all chips: 16 each for power, current, heat and the rest. */
#define POWER_BITS 0x00000000ffffffffull
#define HEAT_BITS 0x0000ffff00000000ull
#define ALWAYS 1000000

struct field {
	enum watt_gpu_metric metric;
	uint16_t offset;
	uint16_t size; /* 2, 4 or 8 bytes; 0: the list is at its end */
	uint32_t mul;  /* to the unit of the metric; 0: it is bits */
	uint64_t mask; /* of bits: any of them */
};

#define DEGREES 1000
#define PERCENT 10000
#define WATTS 1000000
#define MILLIWATTS 1000
#define MEGAHERTZ 1000000

/* Of two fields for one metric the first that is there counts. */
#define END \
	{ \
		.size = 0 \
	}

/* 1.0: the only one with a counter of 32 bits, and with the time at its beginning. */
static const struct field fields_1_0[] = {
	{ WATT_GPU_METRIC_TEMPERATURE, 16, 2, DEGREES, 0 },
	{ WATT_GPU_METRIC_HOTSPOT, 18, 2, DEGREES, 0 },
	{ WATT_GPU_METRIC_MEMORY_TEMPERATURE, 20, 2, DEGREES, 0 },
	{ WATT_GPU_METRIC_LOAD, 28, 2, PERCENT, 0 },
	{ WATT_GPU_METRIC_MEMORY_LOAD, 30, 2, PERCENT, 0 },
	{ WATT_GPU_METRIC_POWER, 34, 2, WATTS, 0 },
	{ WATT_GPU_METRIC_ENERGY, 36, 4, 1, 0 },
	{ WATT_GPU_METRIC_CLOCK, 54, 2, MEGAHERTZ, 0 },
	{ WATT_GPU_METRIC_CLOCK, 40, 2, MEGAHERTZ, 0 },
	{ WATT_GPU_METRIC_MEMORY_CLOCK, 58, 2, MEGAHERTZ, 0 },
	{ WATT_GPU_METRIC_MEMORY_CLOCK, 44, 2, MEGAHERTZ, 0 },
	{ WATT_GPU_METRIC_FAN, 72, 2, 1, 0 },
	END,
};

/* What 1.1, 1.2 and 1.3 share. */
#define FIELDS_1_1 \
	{ WATT_GPU_METRIC_TEMPERATURE, 4, 2, DEGREES, 0 }, \
		{ WATT_GPU_METRIC_HOTSPOT, 6, 2, DEGREES, 0 }, \
		{ WATT_GPU_METRIC_MEMORY_TEMPERATURE, 8, 2, DEGREES, 0 }, \
		{ WATT_GPU_METRIC_LOAD, 16, 2, PERCENT, 0 }, \
		{ WATT_GPU_METRIC_MEMORY_LOAD, 18, 2, PERCENT, 0 }, \
		{ WATT_GPU_METRIC_POWER, 22, 2, WATTS, 0 }, \
		{ WATT_GPU_METRIC_ENERGY, 24, 8, 1, 0 }, \
		{ WATT_GPU_METRIC_CLOCK, 54, 2, MEGAHERTZ, 0 }, \
		{ WATT_GPU_METRIC_CLOCK, 40, 2, MEGAHERTZ, 0 }, \
		{ WATT_GPU_METRIC_MEMORY_CLOCK, 58, 2, MEGAHERTZ, 0 }, \
		{ WATT_GPU_METRIC_MEMORY_CLOCK, 44, 2, MEGAHERTZ, 0 }, \
	{ \
		WATT_GPU_METRIC_FAN, 72, 2, 1, 0 \
	}

static const struct field fields_1_1[] = { FIELDS_1_1, END };

static const struct field fields_1_3[] = {
	FIELDS_1_1,
	{ WATT_GPU_METRIC_HELD_BY_POWER, 112, 8, 0, POWER_BITS },
	{ WATT_GPU_METRIC_HELD_BY_HEAT, 112, 8, 0, HEAT_BITS },
	END,
};

/* What 1.4 and all that follow begin with. They are of several dies: the clock is the first one's. */
#define FIELDS_1_4 \
	{ WATT_GPU_METRIC_HOTSPOT, 4, 2, DEGREES, 0 }, \
		{ WATT_GPU_METRIC_MEMORY_TEMPERATURE, 6, 2, DEGREES, 0 }, \
		{ WATT_GPU_METRIC_POWER, 10, 2, WATTS, 0 }, \
		{ WATT_GPU_METRIC_LOAD, 12, 2, PERCENT, 0 }, \
	{ \
		WATT_GPU_METRIC_MEMORY_LOAD, 14, 2, PERCENT, 0 \
	}

static const struct field fields_1_4[] = {
	FIELDS_1_4,
	{ WATT_GPU_METRIC_ENERGY, 24, 8, 1, 0 },
	{ WATT_GPU_METRIC_CLOCK, 240, 2, MEGAHERTZ, 0 },
	{ WATT_GPU_METRIC_MEMORY_CLOCK, 280, 2, MEGAHERTZ, 0 },
	END,
};

static const struct field fields_1_5[] = {
	FIELDS_1_4,
	{ WATT_GPU_METRIC_ENERGY, 88, 8, 1, 0 },
	{ WATT_GPU_METRIC_CLOCK, 312, 2, MEGAHERTZ, 0 },
	{ WATT_GPU_METRIC_MEMORY_CLOCK, 352, 2, MEGAHERTZ, 0 },
	END,
};

static const struct field fields_1_6[] = {
	FIELDS_1_4,
	{ WATT_GPU_METRIC_ENERGY, 88, 8, 1, 0 },
	END,
};

static const struct field fields_1_7[] = {
	FIELDS_1_4,
	{ WATT_GPU_METRIC_ENERGY, 24, 8, 1, 0 },
	END,
};

/* APUs: up to 2.3 nobody states a unit of power, heat or load, and chips differ. */
static const struct field fields_2_0[] = {
	{ WATT_GPU_METRIC_CLOCK, 80, 2, MEGAHERTZ, 0 },
	{ WATT_GPU_METRIC_CLOCK, 68, 2, MEGAHERTZ, 0 },
	{ WATT_GPU_METRIC_MEMORY_CLOCK, 84, 2, MEGAHERTZ, 0 },
	{ WATT_GPU_METRIC_MEMORY_CLOCK, 72, 2, MEGAHERTZ, 0 },
	END,
};

#define FIELDS_2_1 \
	{ WATT_GPU_METRIC_CLOCK, 76, 2, MEGAHERTZ, 0 }, \
		{ WATT_GPU_METRIC_CLOCK, 64, 2, MEGAHERTZ, 0 }, \
		{ WATT_GPU_METRIC_MEMORY_CLOCK, 80, 2, MEGAHERTZ, 0 }, \
	{ \
		WATT_GPU_METRIC_MEMORY_CLOCK, 68, 2, MEGAHERTZ, 0 \
	}

static const struct field fields_2_1[] = { FIELDS_2_1, END };

#define FIELDS_2_2 \
	FIELDS_2_1, { WATT_GPU_METRIC_HELD_BY_POWER, 120, 8, 0, POWER_BITS }, \
	{ \
		WATT_GPU_METRIC_HELD_BY_HEAT, 120, 8, 0, HEAT_BITS \
	}

static const struct field fields_2_2[] = { FIELDS_2_2, END };

/* In hundredths of degrees and percents, and in mW. */
static const struct field fields_2_4[] = {
	FIELDS_2_2,
	{ WATT_GPU_METRIC_TEMPERATURE, 4, 2, DEGREES / 100, 0 },
	{ WATT_GPU_METRIC_LOAD, 28, 2, PERCENT / 100, 0 },
	{ WATT_GPU_METRIC_POWER, 40, 2, MILLIWATTS, 0 },
	{ WATT_GPU_METRIC_GFX_POWER, 46, 2, MILLIWATTS, 0 },
	END,
};

static const struct field fields_3_0[] = {
	{ WATT_GPU_METRIC_LOAD, 42, 2, PERCENT, 0 },
	{ WATT_GPU_METRIC_POWER, 120, 4, MILLIWATTS, 0 },
	{ WATT_GPU_METRIC_GFX_POWER, 124, 4, MILLIWATTS, 0 },
	{ WATT_GPU_METRIC_CLOCK, 174, 2, MEGAHERTZ, 0 },
	{ WATT_GPU_METRIC_MEMORY_CLOCK, 186, 2, MEGAHERTZ, 0 },
	END,
};

/* From 1.6 on kernels disagree about what follows the fields above. */
static const struct layout {
	uint8_t format, content;
	uint16_t size;
	bool is_least; /* it may be longer */
	const struct field *fields;
} layouts[] = {
	{ 1, 0, 80, false, fields_1_0 },  { 1, 1, 96, false, fields_1_1 },
	{ 1, 2, 104, false, fields_1_1 }, { 1, 3, 120, false, fields_1_3 },
	{ 1, 4, 288, false, fields_1_4 }, { 1, 5, 360, false, fields_1_5 },
	{ 1, 6, 128, true, fields_1_6 },  { 1, 7, 64, true, fields_1_7 },
	{ 1, 8, 64, true, fields_1_7 },   { 2, 0, 120, false, fields_2_0 },
	{ 2, 1, 120, false, fields_2_1 }, { 2, 2, 128, false, fields_2_2 },
	{ 2, 3, 152, false, fields_2_2 }, { 2, 4, 168, false, fields_2_4 },
	{ 3, 0, 264, false, fields_3_0 },
};

/* In the order of the machine's bytes: the table is a struct of the kernel. */
static uint64_t take(const uint8_t *at, size_t size)
{
	uint16_t u16;
	uint32_t u32;
	uint64_t u64;

	switch (size) {
	case sizeof(u16):
		memcpy(&u16, at, sizeof(u16));
		return u16;
	case sizeof(u32):
		memcpy(&u32, at, sizeof(u32));
		return u32;
	default:
		memcpy(&u64, at, sizeof(u64));
		return u64;
	}
}

static void take_field(const uint8_t *table, const struct field *field,
		       struct watt_gpu_metrics *metrics)
{
	uint64_t raw = take(table + field->offset, field->size);
	uint64_t missing = UINT64_MAX >> (64 - 8 * field->size);

	if (raw == missing || watt_gpu_metrics_has(metrics, field->metric))
		return;
	if (!field->mul)
		raw = raw & field->mask ? ALWAYS : 0;
	else if (raw > (uint64_t)INT64_MAX / field->mul)
		return;
	metrics->value[field->metric] = (int64_t)(raw * (field->mul ? field->mul : 1));
	metrics->has |= 1u << field->metric;
}

static const struct layout *find_layout(unsigned int format, unsigned int content)
{
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(layouts); i++)
		if (layouts[i].format == format && layouts[i].content == content)
			return &layouts[i];
	return NULL;
}

int watt_gpu_metrics_parse(const void *data, size_t len, struct watt_gpu_metrics *ret)
{
	struct watt_gpu_metrics metrics = { 0 };
	const struct layout *layout;
	const struct field *field;
	const uint8_t *table = data;
	size_t size;

	if (len < HEADER_SIZE)
		return -EBADMSG;
	size = (size_t)take(table, 2);
	metrics.format = table[2];
	metrics.content = table[3];
	if (size < HEADER_SIZE || size > len || !metrics.format)
		return -EBADMSG;
	layout = find_layout(metrics.format, metrics.content);
	if (!layout)
		return -EOPNOTSUPP;
	if (size < layout->size || (size > layout->size && !layout->is_least))
		return -EBADMSG;
	for (field = layout->fields; field->size; field++)
		take_field(table, field, &metrics);
	*ret = metrics;
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks for what is newer than the newest sample that it has. Times of the driver are those of the
 * day, which somebody may set: the difference to our clock is looked at with each call, and a sample
 * is never from later than now, nor from before the one before it.
 */
#include "source/power/nvml/gpu_buffer.h"

#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/util.h"

#define TOTAL_POWER 0 /* of the kinds of samples */
/* What a driver keeps is 120 or so; of more, the newest are taken. */
#define MAX_SAMPLES 1024
#define MIN_PERIOD_NS WATT_NSEC_PER_MSEC
#define MAX_PERIOD_NS WATT_NSEC_PER_SEC

struct watt_gpu_buffer {
	struct watt_nvml_sample list[MAX_SAMPLES];
	size_t n, next;
	uint64_t newest_us;  /* of those that were fetched, by the driver's clock */
	int64_t ahead_ns;    /* of that clock before ours */
	uint64_t last_ns;    /* of the one that was handed on last, by ours */
	uint64_t fetched_ns; /* when the driver was asked last */
	uint64_t period_ns;
	int32_t type; /* of the values */
};

static int64_t measure_ahead_ns(void)
{
	return (int64_t)(watt_clock_ns(CLOCK_REALTIME) - watt_now_ns());
}

static int compare_times(const void *a, const void *b)
{
	const struct watt_nvml_sample *x = a, *y = b;

	return (x->timestamp_us > y->timestamp_us) - (x->timestamp_us < y->timestamp_us);
}

/* Drops what is known already: some drivers don't look at what they were asked for. */
static void drop_known(struct watt_gpu_buffer *buffer)
{
	size_t kept = 0, i;

	for (i = 0; i < buffer->n; i++)
		if (buffer->list[i].timestamp_us > buffer->newest_us)
			buffer->list[kept++] = buffer->list[i];
	buffer->n = kept;
	if (kept)
		buffer->newest_us = buffer->list[kept - 1].timestamp_us;
}

static int fetch(struct watt_gpu_buffer *buffer, struct watt_nvml *nvml,
		 const struct watt_nvml_gpu *gpu)
{
	unsigned int n = MAX_SAMPLES;
	int code;

	buffer->n = buffer->next = 0;
	buffer->fetched_ns = watt_now_ns();
	if (!nvml->api.samples)
		return WATT_NVML_FUNCTION_NOT_FOUND;
	code = nvml->api.samples(gpu->device, TOTAL_POWER, buffer->newest_us, &buffer->type, &n,
				 buffer->list);
	if (code == WATT_NVML_NOT_FOUND)
		code = WATT_NVML_NO_DATA; /* none since */
	if (code != WATT_NVML_SUCCESS)
		return code;
	buffer->ahead_ns = measure_ahead_ns();
	buffer->n = WATT_MIN(n, (unsigned int)MAX_SAMPLES);
	qsort(buffer->list, buffer->n, sizeof(buffer->list[0]), compare_times);
	drop_known(buffer);
	return buffer->n ? WATT_NVML_SUCCESS : WATT_NVML_NO_DATA;
}

/* The usual distance of those that are there, three at least: the middle one of all. */
static uint64_t find_period_ns(const struct watt_gpu_buffer *buffer)
{
	struct watt_nvml_sample distances[MAX_SAMPLES] = { 0 };
	size_t i, n = buffer->n - 1;
	uint64_t period_ns;

	for (i = 0; i < n; i++)
		distances[i].timestamp_us =
			buffer->list[i + 1].timestamp_us - buffer->list[i].timestamp_us;
	qsort(distances, n, sizeof(distances[0]), compare_times);
	period_ns = distances[n / 2].timestamp_us * WATT_NSEC_PER_USEC;
	return WATT_MIN(WATT_MAX(period_ns, MIN_PERIOD_NS), MAX_PERIOD_NS);
}

int watt_gpu_buffer_open(struct watt_nvml *nvml, const struct watt_nvml_gpu *gpu,
			 struct watt_gpu_buffer **ret)
{
	struct watt_gpu_buffer *buffer = calloc(1, sizeof(*buffer));
	struct watt_nvml_field value;
	int64_t power_mw;
	int code = buffer ? fetch(buffer, nvml, gpu) : WATT_NVML_NO_DATA;

	if (code == WATT_NVML_SUCCESS && buffer->n < 3)
		code = WATT_NVML_NO_DATA;
	if (code == WATT_NVML_SUCCESS) {
		value = (struct watt_nvml_field){ .type = buffer->type };
		value.value.u64 = buffer->list[0].value;
		if (watt_nvml_field_value(&value, &power_mw) < 0)
			code = WATT_NVML_NOT_SUPPORTED;
	}
	if (code != WATT_NVML_SUCCESS) {
		watt_gpu_buffer_close(buffer);
		return code;
	}
	buffer->period_ns = find_period_ns(buffer);
	buffer->next = buffer->n - 1; /* the newest is what it takes now */
	*ret = buffer;
	return WATT_NVML_SUCCESS;
}

struct watt_gpu_buffer *watt_gpu_buffer_close(struct watt_gpu_buffer *buffer)
{
	free(buffer);
	return NULL;
}

uint64_t watt_gpu_buffer_period_ns(const struct watt_gpu_buffer *buffer)
{
	return buffer->period_ns;
}

/* By our clock; what somebody did to the other one must not show. */
static uint64_t find_time_ns(const struct watt_gpu_buffer *buffer, uint64_t timestamp_us)
{
	int64_t t_ns = (int64_t)(timestamp_us * WATT_NSEC_PER_USEC) - buffer->ahead_ns;
	uint64_t now_ns = buffer->fetched_ns, left = buffer->n - buffer->next;

	if (t_ns > (int64_t)now_ns || t_ns <= (int64_t)buffer->last_ns)
		t_ns = (int64_t)(now_ns - WATT_MIN(left * buffer->period_ns, now_ns));
	return WATT_MAX((uint64_t)t_ns, buffer->last_ns + 1);
}

int watt_gpu_buffer_take(struct watt_gpu_buffer *buffer, struct watt_nvml *nvml,
			 const struct watt_nvml_gpu *gpu, int64_t *ret_mw, uint64_t *ret_ns)
{
	struct watt_nvml_field value = { 0 };
	int code = WATT_NVML_SUCCESS;

	if (buffer->next == buffer->n)
		code = fetch(buffer, nvml, gpu);
	if (code != WATT_NVML_SUCCESS)
		return code;
	value.type = buffer->type;
	value.value.u64 = buffer->list[buffer->next].value;
	*ret_ns = find_time_ns(buffer, buffer->list[buffer->next].timestamp_us);
	buffer->next++;
	if (watt_nvml_field_value(&value, ret_mw) < 0)
		return WATT_NVML_NOT_SUPPORTED;
	buffer->last_ns = *ret_ns;
	return WATT_NVML_SUCCESS;
}

bool watt_gpu_buffer_has_more(const struct watt_gpu_buffer *buffer)
{
	return buffer->next < buffer->n;
}

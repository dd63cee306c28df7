/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file sample.h
 * @brief A sample: one reading of one channel, raw, with the interval in which it was read.
 */
#ifndef WATTRIBUTE_SAMPLE_H
#define WATTRIBUTE_SAMPLE_H

#include <wattribute/types.h>

WATT_BEGIN_DECLS

/** One reading. A plain value of 32 bytes, the same in memory and in recordings: it never
 *  grows. */
struct watt_sample {
	/** CLOCK_MONOTONIC just before the read, and just after it. Where the source knows when the
	 *  sensor had the value (WATT_CHANNEL_STEPS): between these two. */
	uint64_t t_before_ns;
	uint64_t t_after_ns;
	int64_t raw;      /**< as read; its unit is 1 / (scale_num / scale_den); 0 if not OK */
	uint32_t channel; /**< index of the channel in its session */
	uint32_t status;  /**< enum watt_status */
};

WATT_END_DECLS

#endif

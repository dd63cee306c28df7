/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* What the truth is kept by. */
#ifndef WATT_TESTS_SWITCH_TRUTH_H
#define WATT_TESTS_SWITCH_TRUTH_H

struct truth_key {
	__u32 tid;
	__u32 cpu;
};

#endif

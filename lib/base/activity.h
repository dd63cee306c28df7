/* SPDX-License-Identifier: Apache-2.0 */
/* Kinds of activity: what somebody did, as a cumulative count. */
#ifndef WATT_BASE_ACTIVITY_H
#define WATT_BASE_ACTIVITY_H

/* The numbers are those of the file format: never change one. */
enum watt_activity_kind {
	WATT_ACTIVITY_CPU_TIME = 0, /* ns on CPUs; its places are the slots of CPUs */
	WATT_ACTIVITY_GPU_TIME = 1, /* ns of the engines of a GPU; its places are GPUs */
	WATT_N_ACTIVITIES
};

#endif

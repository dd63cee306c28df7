/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a calibration has found of a GPU's sensors, in a file of its own by the GPU's UUID, in folder
 * gpu of a folder for state: the session's option, NULL: /var/lib/wattribute. Thread-safe.
 */
#ifndef WATT_SOURCE_POWER_NVML_KEPT_TIMING_H
#define WATT_SOURCE_POWER_NVML_KEPT_TIMING_H

#include <stddef.h>

#include "source/power/nvml/gpu_reading.h"
#include "source/power/nvml/gpu_timing.h"

#define WATT_KEPT_N_WAYS WATT_WAY_ANY

struct watt_kept_timing {
	/* by way; a period of 0: nobody has measured it */
	struct watt_gpu_timing way[WATT_KEPT_N_WAYS];
};

/* The name of a way in files and for people; NULL: it has none. */
const char *watt_kept_timing_name(enum watt_gpu_way way);
/*
 * That of the folder, else what root has found. -ENOENT: none; -EINVAL: this UUID is none; -EBADMSG:
 * damaged. ret_path, room for PATH_MAX: the file that was looked at last.
 */
int watt_kept_timing_read(const char *folder, const char *uuid, struct watt_kept_timing *ret,
			  char *ret_path);
/* The text of such a file, to its last line. 0 or -EBADMSG, and nothing is known then. */
int watt_kept_timing_parse(const char *text, struct watt_kept_timing *ret);
/* Puts it there at once and as a whole. ret_path: where it is. */
int watt_kept_timing_write(const char *folder, const char *uuid,
			   const struct watt_kept_timing *kept, char *ret_path, size_t size);

#endif

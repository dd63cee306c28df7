/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A GPU as sources see it that read its files: where they are, and whether it sleeps, so that nobody
 * wakes it by looking. One thread per object.
 */
#ifndef WATT_SOURCE_HOST_DRM_GPU_H
#define WATT_SOURCE_HOST_DRM_GPU_H

#include "source/host/drm_card.h"

struct watt_drm_gpu {
	char card[48];                 /* below sysfs: "class/drm/card1" */
	char dir[64];                  /* of its device: "class/drm/card1/device" */
	char hwmon[96];                /* the device's own; "": it has none */
	char path[WATT_GPU_PATH_SIZE]; /* of its domain */
	char device[64];
	struct watt_file runtime;
	bool is_asleep; /* when it was opened */
};

/* 0 or -ENOMEM. In any case it is to be closed. */
int watt_drm_gpu_open(struct watt_drm_gpu *gpu, const struct watt_env *env,
		      const struct watt_drm_card *card);
void watt_drm_gpu_close(struct watt_drm_gpu *gpu);
bool watt_drm_gpu_is_asleep(struct watt_drm_gpu *gpu);
/*
 * Opens a file in one of its folders that has a number. 1: it is there; 0: it is not, can't be read,
 * or there is no such folder (""), and the file is closed; -ENOMEM.
 */
int watt_drm_gpu_open_number(const struct watt_env *env, const char *dir, const char *name,
			     struct watt_file *ret);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The GPUs that the kernel's DRM shows, and where each is in the tree of domains. Plain values. */
#ifndef WATT_SOURCE_ACTIVITY_DRM_DRM_CARD_H
#define WATT_SOURCE_ACTIVITY_DRM_DRM_CARD_H

#include <stdbool.h>
#include <stddef.h>

#include "source/activity/drm/fdinfo.h"
#include "source/source.h"

#define WATT_DRM_CARDS 32

struct watt_drm_card {
	char device[64]; /* the name of its device: a PCI address, or one of a platform */
	char driver[WATT_FDINFO_NAME];
	char path[WATT_GPU_PATH_SIZE];
};

struct watt_drm_cards {
	struct watt_drm_card list[WATT_DRM_CARDS];
	size_t n;
};

/* Those whose drivers tell who uses them. -ENODEV: there is none. */
int watt_drm_cards_find(const struct watt_env *env, struct watt_drm_cards *ret);
/* That of a client; NULL: it is none of them. */
const struct watt_drm_card *watt_drm_cards_get(const struct watt_drm_cards *cards,
					       const struct watt_fdinfo *info);

#endif

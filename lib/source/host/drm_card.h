/* SPDX-License-Identifier: Apache-2.0 */
/* The GPUs that the kernel's DRM shows, and where each is in the tree of domains. Plain values. */
#ifndef WATT_SOURCE_HOST_DRM_CARD_H
#define WATT_SOURCE_HOST_DRM_CARD_H

#include <stdbool.h>
#include <stddef.h>

#include "source/host/gpu_place.h"
#include "source/source.h"

#define WATT_DRM_CARDS 32
#define WATT_DRM_DRIVER_SIZE 24

struct watt_drm_card {
	char name[32];   /* below class/drm: "card1" */
	char device[64]; /* the name of its device: a PCI address, or one of a platform */
	char driver[WATT_DRM_DRIVER_SIZE];
	char path[WATT_GPU_PATH_SIZE];
};

struct watt_drm_cards {
	struct watt_drm_card list[WATT_DRM_CARDS];
	size_t n;
};

/* Those whose drivers tell who uses them. -ENODEV: there is none. */
int watt_drm_cards_find(const struct watt_env *env, struct watt_drm_cards *ret);
/* That of a client, by what it says of its device (pdev may be empty); NULL: it is none of them. */
const struct watt_drm_card *watt_drm_cards_get(const struct watt_drm_cards *cards,
					       const char *driver, const char *pdev);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks through class/drm. A GPU inside the CPU's chip has no meter of its own but that of RAPL.
 * It opens no device.
 */
#include "source/host/drm_card.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/parse.h"
#include "base/util.h"

#define CLASS "class/drm"

/* Their drivers count the time of each client on each engine. */
static const char *const drivers[] = {
	"amdgpu", "i915", "xe", "nouveau", "msm", "panfrost", "panthor", "v3d",
};

static bool is_known(const char *driver)
{
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(drivers); i++)
		if (!strcmp(drivers[i], driver))
			return true;
	return false;
}

static int read_link_name(const struct watt_root *sysfs, const char *card, const char *link,
			  char *buf, size_t size)
{
	char path[128], target[512];
	const char *slash;
	int r;

	snprintf(path, sizeof(path), CLASS "/%.32s/%s", card, link);
	r = watt_root_readlink(sysfs, path, target, sizeof(target));
	if (r < 0)
		return r;
	slash = strrchr(target, '/');
	watt_strlcpy(buf, slash ? slash + 1 : target, size);
	return 0;
}

static void place_card(struct watt_drm_card *card)
{
	bool is_intel = !strcmp(card->driver, "i915") || !strcmp(card->driver, "xe");
	char clean[sizeof(card->path) - 4];

	/* where Intel has it in every chip that has one; cards are on a bus of their own */
	if (is_intel && !strcmp(card->device, "0000:00:02.0")) {
		watt_strlcpy(card->path, "package-0/uncore", sizeof(card->path));
		return;
	}
	watt_clean_name(card->device, clean, sizeof(clean));
	snprintf(card->path, sizeof(card->path), "gpu-%s", clean);
}

static bool has_device(const struct watt_drm_cards *cards, const char *device)
{
	size_t i;

	for (i = 0; i < cards->n; i++)
		if (!strcmp(cards->list[i].device, device))
			return true;
	return false;
}

int watt_drm_cards_find(const struct watt_env *env, struct watt_drm_cards *ret)
{
	struct watt_names names = WATT_NAMES_INIT;
	struct watt_drm_cards cards = { 0 };
	size_t i;

	/* every card is there twice, as one to draw and one to show; connectors have a '-' */
	if (watt_root_list(&env->sysfs, CLASS, "", &names) < 0)
		return -ENODEV;
	for (i = 0; i < names.n && cards.n < WATT_DRM_CARDS; i++) {
		struct watt_drm_card *card = &cards.list[cards.n];

		if (strchr(names.name[i], '-') ||
		    read_link_name(&env->sysfs, names.name[i], "device/driver", card->driver,
				   sizeof(card->driver)) < 0 ||
		    read_link_name(&env->sysfs, names.name[i], "device", card->device,
				   sizeof(card->device)) < 0)
			continue;
		if (!is_known(card->driver) || has_device(&cards, card->device))
			continue;
		watt_strlcpy(card->name, names.name[i], sizeof(card->name));
		place_card(card);
		cards.n++;
	}
	watt_names_free(&names);
	if (!cards.n)
		return -ENODEV;
	*ret = cards;
	return 0;
}

const struct watt_drm_card *watt_drm_cards_get(const struct watt_drm_cards *cards,
					       const char *driver, const char *pdev)
{
	const struct watt_drm_card *found = NULL;
	size_t i;

	for (i = 0; i < cards->n; i++) {
		const struct watt_drm_card *card = &cards->list[i];

		if (pdev[0] && !strcmp(card->device, pdev))
			return card;
		/* one without an address can only be told by its driver, if that has one device */
		if (pdev[0] || strcmp(card->driver, driver) != 0)
			continue;
		if (found)
			return NULL;
		found = card;
	}
	return found;
}

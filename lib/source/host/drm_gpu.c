/* SPDX-License-Identifier: Apache-2.0 */
/* Folders of a card in sysfs. It must not read anything that wakes the card. */
#include "source/host/drm_gpu.h"

#include <errno.h>
#include <stdio.h>

#include "base/device_sleep.h"
#include "base/util.h"

#define PATH_SIZE 192

static void find_hwmon(struct watt_drm_gpu *gpu, const struct watt_env *env)
{
	struct watt_names names = WATT_NAMES_INIT;
	char dir[80];

	snprintf(dir, sizeof(dir), "%s/hwmon", gpu->dir);
	if (watt_root_list(&env->sysfs, dir, "hwmon", &names) < 0)
		return;
	if (names.n)
		snprintf(gpu->hwmon, sizeof(gpu->hwmon), "%.70s/%.20s", dir, names.name[0]);
	watt_names_free(&names);
}

int watt_drm_gpu_open(struct watt_drm_gpu *gpu, const struct watt_env *env,
		      const struct watt_drm_card *card)
{
	char path[PATH_SIZE];
	int r;

	*gpu = (struct watt_drm_gpu){ .runtime = WATT_FILE_INIT };
	snprintf(gpu->card, sizeof(gpu->card), "class/drm/%s", card->name);
	snprintf(gpu->dir, sizeof(gpu->dir), "%s/device", gpu->card);
	watt_strlcpy(gpu->path, card->path, sizeof(gpu->path));
	watt_strlcpy(gpu->device, card->device, sizeof(gpu->device));
	find_hwmon(gpu, env);
	snprintf(path, sizeof(path), "%s/power/runtime_status", gpu->dir);
	r = watt_file_open(&gpu->runtime, &env->sysfs, path);
	gpu->is_asleep = watt_drm_gpu_is_asleep(gpu);
	return r == -ENOMEM ? r : 0;
}

void watt_drm_gpu_close(struct watt_drm_gpu *gpu)
{
	watt_file_close(&gpu->runtime);
}

bool watt_drm_gpu_is_asleep(struct watt_drm_gpu *gpu)
{
	return watt_runtime_is_asleep(&gpu->runtime);
}

int watt_drm_gpu_open_number(const struct watt_env *env, const char *dir, const char *name,
			     struct watt_file *ret)
{
	char path[PATH_SIZE];
	int64_t value;
	int r;

	*ret = (struct watt_file)WATT_FILE_INIT;
	if (!*dir)
		return 0;
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	r = watt_file_open(ret, &env->sysfs, path);
	if (r == 0)
		r = watt_file_read_i64(ret, &value);
	if (r == 0)
		return 1;
	watt_file_close(ret);
	return r == -ENOMEM ? r : 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Places the sensors of drivers that say what they measure: a GPU, the machine, a socket, a core.
 * From the driver's name and the sensor's label; it must not read values.
 */
#include "source/power/hwmon/hwmon_place.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/parse.h"
#include "base/util.h"
#include "source/power/amdgpu/gpu_metrics.h"
#include "source/power/hwmon/psu.h"

typedef bool (*place_fn)(const struct watt_hwmon_world *world, const struct watt_hwmon_power *power,
			 struct watt_place *ret);

static const char *clean_of(const struct watt_hwmon_power *power, char *buf, size_t size)
{
	buf[0] = '\0';
	if (power->label)
		watt_clean_name(power->label, buf, size);
	return buf;
}

static void place_gpu(const struct watt_hwmon_power *power, struct watt_place *ret)
{
	char device[96];

	watt_clean_name(power->chip->device, device, sizeof(device));
	ret->kind = WATT_DOMAIN_GPU;
	snprintf(ret->path, sizeof(ret->path), "gpu-%s", device);
}

/* What the driver's table says of a GPU. */
struct table {
	bool is_apu;
	bool has_graphics; /* it tells the power of an APU's graphics alone */
};

static struct table read_table(const struct watt_env *env, const struct watt_hwmon_chip *chip)
{
	_cleanup_free_ char *text = NULL;
	struct watt_gpu_metrics metrics;
	struct table table = { 0 };
	size_t len = 0;
	char path[192];

	snprintf(path, sizeof(path), "%s/device/gpu_metrics", chip->dir);
	if (watt_root_slurp(&env->sysfs, path, 65536, &text, &len) < 0 || len < 4)
		return table;
	/* 1 is for cards, 2 and 3 are for APUs, of revisions that nobody knows, too */
	table.is_apu = text[2] >= 2;
	table.has_graphics = watt_gpu_metrics_parse(text, len, &metrics) == 0 &&
			     watt_gpu_metrics_has(&metrics, WATT_GPU_METRIC_GFX_POWER);
	return table;
}

static bool has_north_bridge(const struct watt_hwmon_chip *chip)
{
	size_t n, i;
	const struct watt_sysfs_sensor *in =
		watt_sysfs_sensors_get(&chip->sensors, WATT_SYSFS_VOLTAGE, &n);

	for (i = 0; i < n; i++)
		if (!strcmp(in[i].clean, "vddnb"))
			return true;
	return false;
}

/*
 * The graphics part of an APU measures the whole chip, CPU cores included. That is no power of the
 * GPU's where its driver tells the GPU's own (source/power/amdgpu).
 */
static bool place_amdgpu(const struct watt_hwmon_world *world, const struct watt_hwmon_power *power,
			 struct watt_place *ret)
{
	struct table table = read_table(world->env, power->chip);
	size_t len;

	place_gpu(power, ret);
	len = strlen(ret->path);
	/* the power once more, over another window: "slowPPT" and "fastPPT" */
	if (power->sensor->index > 1)
		snprintf(ret->path + len, sizeof(ret->path) - len, ":power%u",
			 power->sensor->index);
	else if (table.has_graphics)
		snprintf(ret->path + len, sizeof(ret->path) - len, ":chip");
	if (power->sensor->index > 1 || table.is_apu || has_north_bridge(power->chip))
		ret->flags |= WATT_CHANNEL_OVERLAP_UNKNOWN;
	if (table.has_graphics)
		ret->kind = WATT_DOMAIN_RAIL;
	return true;
}

/* Some cards tell of their chip alone: that is what there is of the GPU. */
static bool has_card(const struct watt_hwmon_power *power)
{
	const struct watt_sysfs_sensor *first;
	size_t n;

	first = watt_sysfs_sensors_get(&power->chip->sensors, power->sensor->type, &n);
	return n == 0 || first->index == 1;
}

/* The first counter is the card's, the second the chip's on it. i915_gtN are parts of the chip. */
static bool place_intel_gpu(const struct watt_hwmon_world *world,
			    const struct watt_hwmon_power *power, struct watt_place *ret)
{
	size_t len;

	place_gpu(power, ret);
	len = strlen(ret->path);
	if (!strncmp(power->chip->name, "i915_gt", strlen("i915_gt")))
		snprintf(ret->path + len, sizeof(ret->path) - len, "/%.32s", power->chip->name + 5);
	else if (power->sensor->index == 2 && has_card(power))
		snprintf(ret->path + len, sizeof(ret->path) - len, "/pkg");
	else if (power->sensor->index > 2)
		snprintf(ret->path + len, sizeof(ret->path) - len, "/%s", power->part);
	return true;
}

static bool place_nouveau(const struct watt_hwmon_world *world,
			  const struct watt_hwmon_power *power, struct watt_place *ret)
{
	place_gpu(power, ret);
	return true;
}

int watt_grace_parse(const char *oem_info, enum watt_grace_level *ret_level, uint32_t *ret_socket)
{
	static const char *const levels[] = {
		[WATT_GRACE_MODULE] = "Module",
		[WATT_GRACE_SOCKET] = "Grace",
		[WATT_GRACE_CPU] = "CPU",
		[WATT_GRACE_SYSIO] = "SysIO",
	};
	static const char middle[] = " Power Socket ";
	uint64_t socket;
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(levels); i++) {
		const char *rest = oem_info + strlen(levels[i]);

		if (strncmp(oem_info, levels[i], strlen(levels[i])) ||
		    strncmp(rest, middle, strlen(middle)))
			continue;
		if (watt_parse_u64(rest + strlen(middle), &socket) < 0 || socket > 1023)
			return -EBADMSG;
		*ret_level = (enum watt_grace_level)i;
		*ret_socket = (uint32_t)socket;
		return 0;
	}
	return -EBADMSG;
}

/* A module is above its socket only where there is one: a CPU without a GPU has no such meter. */
static bool has_module(const struct watt_hwmon_world *world, uint32_t socket)
{
	struct watt_names names = WATT_NAMES_INIT;
	bool found = false;
	size_t i;

	if (watt_root_list(&world->env->sysfs, "class/hwmon", "hwmon", &names) < 0)
		return false;
	for (i = 0; i < names.n && !found; i++) {
		enum watt_grace_level level;
		uint32_t number;
		char text[96];

		found = (watt_root_readf(&world->env->sysfs, text, sizeof(text),
					 "class/hwmon/%s/device/power1_oem_info",
					 names.name[i]) > 0 ||
			 watt_root_readf(&world->env->sysfs, text, sizeof(text),
					 "class/hwmon/%s/power1_oem_info", names.name[i]) > 0) &&
			watt_grace_parse(text, &level, &number) == 0 &&
			level == WATT_GRACE_MODULE && number == socket;
	}
	watt_names_free(&names);
	return found;
}

static void place_grace(const struct watt_hwmon_world *world, enum watt_grace_level level,
			uint32_t socket, struct watt_place *ret)
{
	static const char *const below[] = {
		[WATT_GRACE_SOCKET] = "",
		[WATT_GRACE_CPU] = "/core",
		[WATT_GRACE_SYSIO] = "/sysio",
	};
	static const enum watt_domain_kind kinds[] = {
		[WATT_GRACE_MODULE] = WATT_DOMAIN_RAIL,
		[WATT_GRACE_SOCKET] = WATT_DOMAIN_PACKAGE,
		[WATT_GRACE_CPU] = WATT_DOMAIN_CORES,
		[WATT_GRACE_SYSIO] = WATT_DOMAIN_RAIL,
	};
	char module[32] = "";

	ret->kind = kinds[level];
	if (level == WATT_GRACE_MODULE) {
		snprintf(ret->path, sizeof(ret->path), "module-%u", socket);
		return;
	}
	if (has_module(world, socket))
		snprintf(module, sizeof(module), "module-%u/", socket);
	ret->package_id = watt_cpu_ids_package(&world->cpus, socket);
	snprintf(ret->path, sizeof(ret->path), "%spackage-%d%s", module, ret->package_id,
		 below[level]);
}

/* ACPI power meters: what a machine draws, unless the firmware says more. */
static bool place_power_meter(const struct watt_hwmon_world *world,
			      const struct watt_hwmon_power *power, struct watt_place *ret)
{
	const struct watt_hwmon_chip *chip = power->chip;
	char text[96], device[96];

	watt_clean_name(chip->device, device, sizeof(device));
	snprintf(ret->path, sizeof(ret->path), "power_meter-%s", device);
	ret->kind = WATT_DOMAIN_TOTAL;
	if (watt_hwmon_chip_attribute(world->env, chip, power->sensor, "_is_battery", text,
				      sizeof(text)) > 0 &&
	    !strcmp(text, "1"))
		ret->kind = WATT_DOMAIN_SUPPLY;
	else if (power->n_chips == 1 && power->n_powers == 1)
		watt_strlcpy(ret->path, "power_meter", sizeof(ret->path));
	else /* one for each supply, or one inside the other: nobody says */
		ret->flags |= WATT_CHANNEL_OVERLAP_UNKNOWN;
	return true;
}

/* "Ecore017" and "Esocket0" */
static bool place_amd_energy(const struct watt_hwmon_world *world,
			     const struct watt_hwmon_power *power, struct watt_place *ret)
{
	const struct watt_cpu_core *core;
	char label[64];
	uint64_t n;

	clean_of(power, label, sizeof(label));
	if (!strncmp(label, "esocket", 7) && watt_parse_u64(label + 7, &n) == 0 && n < 1024) {
		ret->package_id = watt_cpu_ids_package(&world->cpus, (uint32_t)n);
		ret->kind = WATT_DOMAIN_PACKAGE;
		snprintf(ret->path, sizeof(ret->path), "package-%d", ret->package_id);
		return true;
	}
	if (strncmp(label, "ecore", 5) || watt_parse_u64(label + 5, &n) < 0 ||
	    n >= world->cpus.n_cores)
		return false;
	core = &world->cpus.cores[n];
	ret->package_id = core->package_id;
	ret->core_id = core->core_id;
	ret->kind = WATT_DOMAIN_CORE;
	snprintf(ret->path, sizeof(ret->path), "package-%d/core-%d", core->package_id,
		 core->core_id);
	return true;
}

static bool place_fam15h(const struct watt_hwmon_world *world, const struct watt_hwmon_power *power,
			 struct watt_place *ret)
{
	ret->package_id = watt_cpu_ids_package(&world->cpus, power->ordinal);
	ret->kind = WATT_DOMAIN_PACKAGE;
	snprintf(ret->path, sizeof(ret->path), "package-%d", ret->package_id);
	return true;
}

static bool is_package(const char *label)
{
	return strstr(label, "package") || !strcmp(label, "pkg") || !strcmp(label, "socket");
}

/* The two rails of a socket: its cores, and all else on it; or all of it, with both inside. */
static bool place_socket_rails(const struct watt_hwmon_world *world,
			       const struct watt_hwmon_power *power, struct watt_place *ret)
{
	bool is_core;
	char label[64];

	clean_of(power, label, sizeof(label));
	is_core = strstr(label, "cpu") || strstr(label, "core");
	ret->package_id = watt_cpu_ids_package(&world->cpus, power->ordinal);
	if (is_package(label)) {
		ret->kind = WATT_DOMAIN_PACKAGE;
		snprintf(ret->path, sizeof(ret->path), "package-%d", ret->package_id);
		return true;
	}
	ret->kind = is_core ? WATT_DOMAIN_CPU_RAIL : WATT_DOMAIN_RAIL;
	snprintf(ret->path, sizeof(ret->path), "package-%d/%s", ret->package_id,
		 label[0] ? label : power->part);
	return true;
}

/* A supply that shows the whole machine in one sensor and parts of it in the others. */
static bool place_total(const struct watt_hwmon_power *power, const char *label_of_total,
			const char *path, struct watt_place *ret)
{
	char label[64];

	clean_of(power, label, sizeof(label));
	if (strcmp(label, label_of_total))
		return false;
	ret->kind = WATT_DOMAIN_TOTAL;
	watt_strlcpy(ret->path, path, sizeof(ret->path));
	if (power->ordinal > 0) /* a second supply: whether they share the load is not known */
		ret->flags |= WATT_CHANNEL_OVERLAP_UNKNOWN;
	return true;
}

static bool place_corsair(const struct watt_hwmon_world *world,
			  const struct watt_hwmon_power *power, struct watt_place *ret)
{
	return place_total(power, "power_total", "psu", ret);
}

static bool place_macsmc(const struct watt_hwmon_world *world, const struct watt_hwmon_power *power,
			 struct watt_place *ret)
{
	return place_total(power, "total_system_power", "total_system_power", ret);
}

static const struct {
	const char *name;
	bool is_prefix;
	place_fn place;
} drivers[] = {
	{ "amdgpu", false, place_amdgpu },
	{ "xe", false, place_intel_gpu },
	{ "i915", true, place_intel_gpu },
	{ "nouveau", false, place_nouveau },
	{ "power_meter", false, place_power_meter },
	{ "amd_energy", false, place_amd_energy },
	{ "fam15h_power", false, place_fam15h },
	{ "amd_hsmp_hwmon", false, place_fam15h },
	{ "zenpower", false, place_socket_rails },
	{ "k10temp", false, place_socket_rails },
	{ "apm_xgene", false, place_socket_rails },
	{ "smpro_hwmon", false, place_socket_rails },
	{ "altra_hwmon", false, place_socket_rails },
	{ "corsairpsu", false, place_corsair },
	{ "macsmc_hwmon", false, place_macsmc },
};

/* What NVIDIA's firmware says of itself, whatever the device and its driver are called. */
static bool place_by_text(const struct watt_hwmon_world *world,
			  const struct watt_hwmon_power *power, struct watt_place *ret)
{
	enum watt_grace_level level;
	uint32_t socket;
	char text[96];

	if (watt_hwmon_chip_attribute(world->env, power->chip, power->sensor, "_oem_info", text,
				      sizeof(text)) <= 0 ||
	    watt_grace_parse(text, &level, &socket) < 0)
		return false;
	place_grace(world, level, socket, ret);
	return true;
}

static bool place_by_driver(const struct watt_hwmon_world *world,
			    const struct watt_hwmon_power *power, struct watt_place *ret)
{
	const char *name = power->chip->name;
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(drivers); i++)
		if (drivers[i].is_prefix ?
			    !strncmp(name, drivers[i].name, strlen(drivers[i].name)) :
			    !strcmp(name, drivers[i].name))
			return drivers[i].place(world, power, ret);
	return false;
}

static bool place_psu(const struct watt_hwmon_power *power, struct watt_place *ret)
{
	char label[64];

	return power->is_psu &&
	       watt_psu_place(power->chip, clean_of(power, label, sizeof(label)), ret);
}

/* PMBus: what goes into a converter contains what comes out of it. */
static void nest_output(const struct watt_hwmon_power *power, struct watt_place *ret)
{
	const struct watt_sysfs_sensor *sensors;
	char device[96], label[64];
	size_t n, i;

	clean_of(power, label, sizeof(label));
	if (strncmp(label, "pout", 4))
		return;
	sensors = watt_sysfs_sensors_get(&power->chip->sensors, WATT_SYSFS_POWER, &n);
	watt_clean_name(power->chip->device, device, sizeof(device));
	for (i = 0; i < n; i++)
		if (!strcmp(sensors[i].clean, "pin"))
			snprintf(ret->path, sizeof(ret->path), "%s:pin/%s", device, label);
}

void watt_hwmon_place(const struct watt_hwmon_world *world, const struct watt_hwmon_power *power,
		      struct watt_place *ret)
{
	char channel[16];
	struct watt_rail rail = {
		.device = power->chip->device,
		.label = power->label,
		.part = channel,
		.is_alone = power->n_powers == 1,
	};

	/* counted from 0, as iio counts the channels of the same chip */
	snprintf(channel, sizeof(channel), "ch%u",
		 power->sensor->index ? power->sensor->index - 1 : 0);
	if (watt_rail_map_find(world->rails, &rail, ret))
		return;
	*ret = (struct watt_place)WATT_PLACE_INIT;
	if (place_by_text(world, power, ret) || place_by_driver(world, power, ret) ||
	    place_psu(power, ret))
		return;
	watt_rail_map_place(world->rails, &rail, ret);
	if (!rail.is_alone)
		nest_output(power, ret);
}

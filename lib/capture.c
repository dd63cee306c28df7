/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes what sources read of sysfs and procfs into an archive: files by lists of names, and the
 * links that lead to them. Nothing that is not on a list is opened, so nothing is told that nobody
 * has thought of.
 */
#include <wattribute/capture.h>

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/archive.h"
#include "base/cleanup.h"
#include "base/device_sleep.h"
#include "base/htab.h"
#include "base/sized.h"
#include "base/util.h"
#include "env.h"
#include "source/host/machine_root.h"

#define MAX_FILE_SIZE ((size_t)64 << 20)
#define MAX_PATH_SIZE 1024

/* Names in a class of devices whose files and folders are taken, and in the device behind them. */
static const struct class
{
	const char *folder;
	const char *entries;
} classes[] = {
	{ "class/powercap", "*" },
	{ "class/hwmon", "hwmon*" },
	{ "class/power_supply", "*" },
	{ "class/drm", "card[0-9]*" },
	{ "class/typec", "port*" },
	{ "bus/iio/devices", "iio:device*" },
	{ "bus/event_source/devices", "power*" },
};

/* clang-format off */
static const char *const device_files[] = {
	"name", "label", "type", "status", "online", "present", "scope", "technology", "capacity",
	"usb_type", "manufacturer", "model_name", "cpumask", "enabled", "samples", "measures",
	"vendor", "device", "class", "modalias", "gpu_metrics",
	"gpu_busy_percent", "mem_busy_percent", "mem_info_vram_total", "mem_info_vram_used",
	"gt_act_freq_mhz",
	"energy*", "power[0-9]*", "power_*", "powerx_input", "current_*", "voltage_*", "charge_*", "curr[0-9]*",
	"in[0-9]*", "in_power*", "in_current*", "in_voltage*", "temp[0-9]*", "fan[0-9]*",
	"freq[0-9]*", "pwm[0-9]*", "shunt*", "rail_name_*", "*_current_limit_*", "polling_delay_*",
	"update_interval", "sampling_frequency", "integration_time*", "constraint_*", "max_*_range_u*",
	"*_serial_number", "serial_number", "event", "port_type", "power_role",
};
static const char *const inner_folders[] = { "events", "format", "gt/gt0" };
/* In the device behind; reading them wakes one that sleeps. */
static const char *const behind_folders[] = {
	"tile0/gt0/freq0", "tile0/gt0/freq0/throttle", "tile0/gt0/gtidle",
};
static const char *const device_links[] = { "device", "driver", "subsystem" };
static const char *const cpu_files[] = {
	"physical_package_id", "die_id", "core_id", "cluster_id", "core_cpus_list",
	"package_cpus_list", "die_cpus_list", "thread_siblings_list",
};
static const char *const sysfs_files[] = {
	"devices/system/cpu/possible", "devices/system/cpu/present", "devices/system/cpu/online",
	"devices/system/cpu/nohz_full", "firmware/devicetree/base/model",
	"firmware/devicetree/base/compatible", "class/dmi/id/sys_vendor",
	"class/dmi/id/product_name", "class/dmi/id/board_name",
	"module/wattribute/parameters/energy_unit", "module/wattribute/parameters/window_ns",
	"module/wattribute/parameters/sample_ns",
};
static const char *const procfs_files[] = {
	"stat", "meminfo", "cgroups", "device-tree/model", "device-tree/compatible",
	"sys/kernel/perf_event_paranoid", "sys/kernel/osrelease", "sys/kernel/threads-max",
};
static const char *const process_files[] = {
	"stat", "status", "cgroup", "schedstat",
};
/* clang-format on */

/* A path that is in the archive already. */
struct taken {
	struct watt_hnode node;
	char path[];
};

struct capture {
	struct watt_archive_writer *writer;
	struct watt_htab taken;
	const struct watt_env *env;
	uint32_t flags;
	struct watt_capture counts;
};

/* ---- what is in it already ---- */

static uint64_t hash_of(const char *path)
{
	uint64_t hash = 0;

	for (; *path; path++)
		hash = watt_hash_u64(hash ^ (unsigned char)*path);
	return hash;
}

/* 1: it is new and remembered; 0: it has been taken */
static int remember(struct capture *cap, const char *path)
{
	uint64_t hash = hash_of(path);
	size_t size = strlen(path) + 1;
	struct watt_hnode *node;
	struct taken *taken;

	for (node = watt_htab_first(&cap->taken, hash); node; node = watt_htab_next(node))
		if (!strcmp(watt_container_of(node, struct taken, node)->path, path))
			return 0;
	taken = malloc(sizeof(*taken) + size);
	if (!taken)
		return -ENOMEM;
	memcpy(taken->path, path, size);
	watt_htab_insert(&cap->taken, &taken->node, hash);
	return 1;
}

static void forget_all(struct capture *cap)
{
	struct watt_htab_iter iter = { 0 };
	struct watt_hnode *node;

	while (cap->taken.buckets && (node = watt_htab_iterate(&cap->taken, &iter)))
		free(watt_container_of(node, struct taken, node));
	watt_htab_done(&cap->taken);
}

/* ---- files and links ---- */

static int join(char *buf, size_t size, const char *folder, const char *name)
{
	int n = snprintf(buf, size, "%s%s%s", folder, *folder ? "/" : "", name);

	return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}

static int add_bytes(struct capture *cap, const char *top, const char *path, const char *text,
		     size_t len)
{
	char full[MAX_PATH_SIZE];
	int r = join(full, sizeof(full), top, path);

	if (r == 0)
		r = remember(cap, full);
	if (r <= 0)
		return r;
	cap->counts.n_files++;
	cap->counts.bytes += len;
	return watt_archive_writer_add(cap->writer, full, text, len);
}

/* What can't be read now is left out: only those that this user may not read are counted. */
static int slurp(struct capture *cap, const struct watt_root *root, const char *path, char **ret,
		 size_t *ret_len)
{
	int r = watt_root_slurp(root, path, MAX_FILE_SIZE, ret, ret_len);

	cap->counts.n_forbidden += r == -EACCES || r == -EPERM;
	return r == -ENOMEM ? r : r == 0;
}

static int add_file(struct capture *cap, const struct watt_root *root, const char *top,
		    const char *path)
{
	_cleanup_free_ char *text = NULL;
	size_t len = 0;
	int r = slurp(cap, root, path, &text, &len);

	return r <= 0 ? r : add_bytes(cap, top, path, text, len);
}

static int add_files(struct capture *cap, const struct watt_root *root, const char *top,
		     const char *const *files, size_t n)
{
	size_t i;
	int r = 0;

	for (i = 0; i < n && r == 0; i++)
		r = add_file(cap, root, top, files[i]);
	return r;
}

/* 1: it is a link, which is in the archive now */
static int add_link(struct capture *cap, const char *path, char *target, size_t size)
{
	char full[MAX_PATH_SIZE];
	int r = watt_root_readlink(&cap->env->sysfs, path, target, size);

	if (r < 0)
		return 0;
	r = join(full, sizeof(full), "sys", path);
	/* whoever unpacks it would refuse a link out of it */
	if (r < 0 || watt_archive_check_link(full, target) < 0)
		return 0;
	r = remember(cap, full);
	if (r > 0) {
		cap->counts.n_links++;
		r = watt_archive_writer_link(cap->writer, full, target);
	}
	return r < 0 ? r : 1;
}

/* Where a link at this path of sysfs leads. */
static int resolve(const char *path, const char *target, char *buf, size_t size)
{
	const char *end = strrchr(path, '/');
	size_t len = end ? (size_t)(end - path) : 0;

	for (; strncmp(target, "../", 3) == 0; target += 3)
		while (len > 0 && path[--len] != '/')
			;
	return snprintf(buf, size, "%.*s%s%s", (int)len, path, len ? "/" : "", target) < (int)size ?
		       0 :
		       -ENAMETOOLONG;
}

static bool is_listed(const char *name, const char *const *list, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (fnmatch(list[i], name, 0) == 0)
			return true;
	return false;
}

/* ---- devices ---- */

static int add_device_file(struct capture *cap, const char *folder, const char *name)
{
	bool is_serial = strstr(name, "serial") != NULL;
	char path[MAX_PATH_SIZE];
	struct stat st;
	int r;

	if (!is_listed(name, device_files, WATT_ARRAY_SIZE(device_files)) ||
	    (is_serial && !(cap->flags & WATT_CAPTURE_SERIALS)))
		return 0;
	r = join(path, sizeof(path), folder, name);
	if (r < 0 || fstatat(cap->env->sysfs.fd, path, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !S_ISREG(st.st_mode) || !(st.st_mode & 0444))
		return 0;
	return add_file(cap, &cap->env->sysfs, "sys", path);
}

static int add_device_files(struct capture *cap, const char *folder)
{
	struct watt_names names = WATT_NAMES_INIT;
	size_t i;
	int r;

	r = watt_root_list(&cap->env->sysfs, folder, "", &names);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	for (i = 0; i < names.n && r == 0; i++)
		r = add_device_file(cap, folder, names.name[i]);
	watt_names_free(&names);
	return r;
}

static int add_inner(struct capture *cap, const char *folder, const char *inner)
{
	struct watt_names names = WATT_NAMES_INIT;
	char path[MAX_PATH_SIZE], file[MAX_PATH_SIZE];
	size_t i;
	int r;

	if (join(path, sizeof(path), folder, inner) < 0 ||
	    watt_root_list(&cap->env->sysfs, path, "", &names) < 0)
		return 0;
	for (i = 0, r = 0; i < names.n && r == 0; i++)
		if (join(file, sizeof(file), path, names.name[i]) == 0)
			r = add_file(cap, &cap->env->sysfs, "sys", file);
	watt_names_free(&names);
	return r;
}

static int add_gpu_behind(struct capture *cap, const char *folder)
{
	size_t i;
	int r = 0;

	if (watt_device_is_asleep(&cap->env->sysfs, folder))
		return 0;
	for (i = 0; i < WATT_ARRAY_SIZE(behind_folders) && r == 0; i++)
		r = add_inner(cap, folder, behind_folders[i]);
	return r;
}

/* Old drivers have their files in the device behind the one of their class. */
static int add_behind(struct capture *cap, const char *folder, const char *link)
{
	char path[MAX_PATH_SIZE], target[MAX_PATH_SIZE], behind[MAX_PATH_SIZE];
	int r;

	if (join(path, sizeof(path), folder, link) < 0)
		return 0;
	r = add_link(cap, path, target, sizeof(target));
	if (r <= 0 || strcmp(link, "device") || resolve(path, target, behind, sizeof(behind)) < 0)
		return r < 0 ? r : 0;
	r = add_device_files(cap, behind);
	if (r == 0)
		r = add_gpu_behind(cap, behind);
	return r == 0 ? add_behind(cap, behind, "driver") : r;
}

static int add_device(struct capture *cap, const char *folder)
{
	size_t i;
	int r = add_device_files(cap, folder);

	for (i = 0; i < WATT_ARRAY_SIZE(inner_folders) && r == 0; i++)
		r = add_inner(cap, folder, inner_folders[i]);
	for (i = 0; i < WATT_ARRAY_SIZE(device_links) && r == 0; i++)
		r = add_behind(cap, folder, device_links[i]);
	return r;
}

/* Of HPE Cray nodes: values of the controller, and none that tells who it is. */
static int add_cray(struct capture *cap)
{
	return add_inner(cap, "cray", "pm_counters");
}

static int add_class(struct capture *cap, const struct class *class)
{
	char path[MAX_PATH_SIZE], target[MAX_PATH_SIZE], device[MAX_PATH_SIZE];
	struct watt_names names = WATT_NAMES_INIT;
	size_t i;
	int r = 0;

	if (watt_root_list(&cap->env->sysfs, class->folder, "", &names) < 0)
		return 0;
	for (i = 0; i < names.n && r >= 0; i++) {
		if (fnmatch(class->entries, names.name[i], 0) ||
		    join(path, sizeof(path), class->folder, names.name[i]) < 0)
			continue;
		r = add_link(cap, path, target, sizeof(target));
		if (r > 0 && resolve(path, target, device, sizeof(device)) == 0)
			r = add_device(cap, device);
		else if (r == 0)
			r = add_device(cap, path);
	}
	watt_names_free(&names);
	return r < 0 ? r : 0;
}

/* ---- CPUs and processes ---- */

static int add_cpu(struct capture *cap, const char *name)
{
	char path[MAX_PATH_SIZE];
	size_t i;
	int r = 0;

	for (i = 0; i < WATT_ARRAY_SIZE(cpu_files) && r == 0; i++) {
		snprintf(path, sizeof(path), "devices/system/cpu/%s/topology/%s", name,
			 cpu_files[i]);
		r = add_file(cap, &cap->env->sysfs, "sys", path);
	}
	return r;
}

static int add_cpus(struct capture *cap)
{
	struct watt_names names = WATT_NAMES_INIT;
	size_t i;
	int r = 0;

	if (watt_root_list(&cap->env->sysfs, "devices/system/cpu", "cpu", &names) < 0)
		return 0;
	for (i = 0; i < names.n && r == 0; i++)
		if (names.name[i][strspn(names.name[i] + 3, "0123456789") + 3] == '\0')
			r = add_cpu(cap, names.name[i]);
	watt_names_free(&names);
	return r;
}

/* Without the line that some boards have of their own number. */
static size_t cut_serial(char *text, size_t len)
{
	char *line = text, *next;

	for (; line; line = next) {
		next = strchr(line, '\n');
		next = next ? next + 1 : NULL;
		if (strncmp(line, "Serial", 6))
			continue;
		if (!next)
			next = text + len;
		memmove(line, next, (size_t)(text + len - next) + 1);
		len -= (size_t)(next - line);
		next = line;
		if (!*line)
			break;
	}
	return len;
}

static int add_cpuinfo(struct capture *cap)
{
	_cleanup_free_ char *text = NULL;
	size_t len = 0;
	int r = slurp(cap, &cap->env->procfs, "cpuinfo", &text, &len);

	if (r > 0 && !(cap->flags & WATT_CAPTURE_SERIALS))
		len = cut_serial(text, len);
	return r <= 0 ? r : add_bytes(cap, "proc", "cpuinfo", text, len);
}

static int add_process(struct capture *cap, const char *pid)
{
	char path[64];
	size_t i;
	int r = 0;

	for (i = 0; i < WATT_ARRAY_SIZE(process_files) && r == 0; i++) {
		snprintf(path, sizeof(path), "%s/%s", pid, process_files[i]);
		r = add_file(cap, &cap->env->procfs, "proc", path);
	}
	snprintf(path, sizeof(path), "%s/cmdline", pid);
	if (r == 0 && cap->flags & WATT_CAPTURE_COMMANDS)
		r = add_file(cap, &cap->env->procfs, "proc", path);
	return r;
}

static int add_processes(struct capture *cap)
{
	struct watt_names names = WATT_NAMES_INIT;
	size_t i;
	int r;

	r = add_file(cap, &cap->env->procfs, "proc", "energy/all");
	if (r < 0 || watt_root_list(&cap->env->procfs, ".", "", &names) < 0)
		return r;
	for (i = 0; i < names.n && r == 0; i++)
		if (!names.name[i][strspn(names.name[i], "0123456789")] &&
		    strlen(names.name[i]) < 16)
			r = add_process(cap, names.name[i]);
	watt_names_free(&names);
	return r;
}

static int add_host(struct capture *cap)
{
	static const char *const files[] = { "etc/passwd", "etc/os-release" };
	struct watt_root root = WATT_ROOT_INIT;
	int r = add_file(cap, &cap->env->procfs, "proc", "sys/kernel/hostname");

	if (r < 0 || watt_machine_root_open(&cap->env->procfs, &root) < 0)
		return r;
	r = add_files(cap, &root, "", files, WATT_ARRAY_SIZE(files));
	watt_root_close(&root);
	return r;
}

/* ---- all of it ---- */

static int add_all(struct capture *cap)
{
	size_t i;
	int r = add_files(cap, &cap->env->sysfs, "sys", sysfs_files, WATT_ARRAY_SIZE(sysfs_files));

	for (i = 0; i < WATT_ARRAY_SIZE(classes) && r == 0; i++)
		r = add_class(cap, &classes[i]);
	if (r == 0)
		r = add_cray(cap);
	if (r == 0)
		r = add_cpus(cap);
	if (r == 0)
		r = add_files(cap, &cap->env->procfs, "proc", procfs_files,
			      WATT_ARRAY_SIZE(procfs_files));
	if (r == 0)
		r = add_cpuinfo(cap);
	if (r == 0 && cap->flags & WATT_CAPTURE_PROCESSES)
		r = add_processes(cap);
	if (r == 0 && cap->flags & WATT_CAPTURE_HOST)
		r = add_host(cap);
	return r == 0 && !cap->counts.n_files ? -ENODEV : r;
}

static bool has_known_end(const char *path)
{
	static const char *const ends[] = { "*.tar", "*.tar.zst", "*.tar.gz", "*.tgz" };

	return is_listed(path, ends, WATT_ARRAY_SIZE(ends));
}

static int write_to(int fd, const char *path, const struct watt_env *env, uint32_t flags,
		    struct watt_capture *ret)
{
	struct capture cap = { .env = env, .flags = flags };
	int r = watt_htab_init(&cap.taken);

	if (r == 0)
		r = watt_archive_writer_open(fd, path, &cap.writer);
	if (r == 0)
		r = add_all(&cap);
	if (r == 0)
		r = watt_archive_writer_finish(cap.writer);
	watt_archive_writer_free(cap.writer);
	forget_all(&cap);
	*ret = cap.counts;
	ret->sz = sizeof(*ret);
	return r;
}

static int write_file(const struct watt_env *env, const char *path, uint32_t flags,
		      struct watt_capture *ret)
{
	/* it may tell more than others are to know */
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	int r;

	if (fd < 0)
		return -errno;
	r = write_to(fd, path, env, flags, ret);
	if (close(fd) < 0 && r == 0)
		r = -errno;
	if (r < 0)
		unlink(path);
	return r;
}

static int complain(const struct watt_log *log, const char *path, int r)
{
	if (r < 0)
		watt_log(log, WATT_LOG_ERROR, "cannot write %s: %s", path,
			 r == -EOPNOTSUPP ? "archives need libarchive.so.13, which is not here" :
			 r == -ENODEV     ? "there is nothing to capture" :
					    strerror(-r));
	return r;
}

int watt_capture_write(const struct watt_options *options, const char *path, uint32_t flags,
		       struct watt_capture *ret)
{
	const uint32_t all = WATT_CAPTURE_PROCESSES | WATT_CAPTURE_COMMANDS | WATT_CAPTURE_HOST |
			     WATT_CAPTURE_SERIALS;
	struct watt_env_owner owner = WATT_ENV_OWNER_INIT;
	struct watt_capture counts = { 0 };
	int r;

	if (!path || flags & ~all || (ret && !watt_sized_is_valid(ret)))
		return -EINVAL;
	r = watt_env_open(options, &owner);
	if (r == 0 && !has_known_end(path)) {
		watt_log(&owner.env.log, WATT_LOG_ERROR,
			 "'%s' is no name of an archive: let it end in .tar.zst, .tar.gz or .tar",
			 path);
		r = -EINVAL;
	} else if (r == 0) {
		r = complain(&owner.env.log, path, write_file(&owner.env, path, flags, &counts));
	}
	if (r == 0 && ret)
		watt_sized_give(&counts, sizeof(counts), ret);
	watt_env_close(&owner);
	return r;
}

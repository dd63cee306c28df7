/* SPDX-License-Identifier: Apache-2.0 */
/* What every Jetson does to its sensors: each test runs on the fixture of each board. */
#include <dirent.h>
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sensors.h"

#include "base/parse.h"

#define MAX_CHANNELS 64
#define MAX_FILES 32
#define PATH_SIZE 256

static const struct jetson {
	const char *test;
	const char *machine;
	const struct watt_power_ops *ops; /* of its rails */
	const char *class;                /* where they are */
	int n_cores;
} jetsons[] = {
	{ "test_nano", "jetson-nano-iio", &watt_power_iio, "sys/bus/iio/devices", 4 },
	{ "test_tx1", "jetson-tx1", &watt_power_iio, "sys/bus/iio/devices", 4 },
	{ "test_tx2", "tx2", &watt_power_iio, "sys/bus/iio/devices", 6 },
	{ "test_tx2_nx", "jetson-tx2-nx", &watt_power_iio, "sys/bus/iio/devices", 6 },
	{ "test_xavier_nx", "xavier-nx", &watt_power_hwmon, "sys/class/hwmon", 6 },
	{ "test_agx_xavier", "jetson-agx-xavier", &watt_power_hwmon, "sys/class/hwmon", 8 },
	{ "test_orin_nano", "jetson-orin-nano", &watt_power_hwmon, "sys/class/hwmon", 6 },
	{ "test_orin_nx", "jetson-orin-nx", &watt_power_hwmon, "sys/class/hwmon", 8 },
	{ "test_agx_orin", "jetson-agx-orin", &watt_power_hwmon, "sys/class/hwmon", 12 },
	{ "test_thor", "jetson-thor", &watt_power_hwmon, "sys/class/hwmon", 14 },
};

/* ---- files that say EAGAIN ---- */

static const char *says_again; /* a part of their paths; NULL: none */

/* In place of the C library's: the library, which is linked in, calls this one. */
__attribute__((visibility("default"))) ssize_t pread(int fd, void *buf, size_t size, off_t at)
{
	char link[64], path[PATH_MAX];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = says_again ? readlink(link, path, sizeof(path) - 1) : -1;
	if (n > 0) {
		path[n] = '\0';
		if (strstr(path, says_again)) {
			errno = EAGAIN;
			return -1;
		}
	}
	return syscall(SYS_pread64, fd, buf, size, at);
}

/* ---- what was found ---- */

struct found {
	size_t n;
	char name[MAX_CHANNELS][96];
	char domain[MAX_CHANNELS][96];
	enum watt_domain_kind kind[MAX_CHANNELS];
	struct watt_sample sample[MAX_CHANNELS];
	int64_t sum_uw; /* of what may be added */
};

static void look(const char *dir, const struct watt_power_ops *ops, struct found *ret)
{
	struct machine m;
	uint32_t i;
	int r;

	memset(ret, 0, sizeof(*ret));
	machine_init(&m, dir);
	r = machine_open(&m, ops);
	if (r < 0) {
		assert_int_equal(r, -ENODEV);
		machine_done(&m);
		return;
	}
	check_sensors(m.power);
	assert_true(m.power->n_channels <= MAX_CHANNELS);
	ret->n = m.power->n_channels;
	for (i = 0; i < ret->n; i++) {
		watt_strlcpy(ret->name[i], m.power->channels[i].name, sizeof(ret->name[i]));
		watt_strlcpy(ret->domain[i], m.power->channels[i].domain, sizeof(ret->domain[i]));
		ret->kind[i] = m.power->channels[i].kind;
	}
	read_all_groups(m.power, ret->sample);
	ret->sum_uw = sum_of_roots(&m);
	machine_done(&m);
}

static size_t place_of(const struct found *found, const char *name)
{
	size_t i = 0;

	while (i < found->n && strcmp(found->name[i], name))
		i++;
	return i;
}

/* Each of these is there as before. */
static void check_kept(const struct found *now, const struct found *before)
{
	size_t i, k;

	for (i = 0; i < now->n; i++) {
		k = place_of(before, now->name[i]);
		if (k == before->n)
			fail_msg("%s was not there before", now->name[i]);
		assert_int_equal(now->kind[i], before->kind[k]);
		assert_int_equal(now->sample[i].status, before->sample[k].status);
		assert_int_equal(now->sample[i].raw, before->sample[k].raw);
	}
}

/* ---- numbers of devices ---- */

/* "hwmon3" becomes hwmon96: others, and in another order. */
static void renumber(const char *dir, const char *class)
{
	char from[MAX_FILES][PATH_MAX], to[PATH_MAX];
	char path[PATH_MAX / 2];
	const struct dirent *entry;
	size_t n = 0, i;
	DIR *d;

	snprintf(path, sizeof(path), "%s/%s", dir, class);
	d = opendir(path);
	assert_non_null(d);
	while ((entry = readdir(d)))
		if (entry->d_name[0] != '.' && n < MAX_FILES)
			snprintf(from[n++], sizeof(from[0]), "%s/%s", path, entry->d_name);
	closedir(d);
	assert_true(n > 0);
	for (i = 0; i < n; i++) {
		size_t len = strlen(from[i]);

		while (len > 0 && from[i][len - 1] >= '0' && from[i][len - 1] <= '9')
			len--;
		snprintf(to, sizeof(to), "%.*s%d", (int)len, from[i], 99 - atoi(from[i] + len));
		assert_int_equal(rename(from[i], to), 0);
	}
}

static void check_renumbered(const struct jetson *jetson, const char *dir)
{
	static struct found before, now;
	size_t k;

	look(dir, jetson->ops, &before);
	assert_true(before.n > 0 && before.sum_uw > 0);
	renumber(dir, jetson->class);
	look(dir, jetson->ops, &now);
	assert_int_equal(now.n, before.n);
	check_kept(&now, &before);
	for (k = 0; k < now.n; k++)
		assert_string_equal(now.domain[k], before.domain[place_of(&before, now.name[k])]);
	assert_int_equal(now.sum_uw, before.sum_uw);
}

/* ---- pins that nothing is connected to ---- */

/* Files with the label of a rail, below the class. */
static size_t list_labels(const char *dir, const char *class, char (*ret)[PATH_SIZE])
{
	char command[PATH_MAX];
	size_t n = 0;
	FILE *out;

	snprintf(
		command, sizeof(command),
		"cd '%s' && find -L %s -maxdepth 2 -name 'in[123]_label' -o -maxdepth 2 -name 'rail_name_*'",
		dir, class);
	out = popen(command, "r");
	assert_non_null(out);
	for (; n < MAX_FILES && fgets(ret[n], PATH_SIZE, out); n++)
		ret[n][strcspn(ret[n], "\n")] = '\0';
	pclose(out);
	return n;
}

/* Whichever it is: it is gone, and the others are what they were. */
static void check_not_connected(const struct jetson *jetson, const char *dir)
{
	static char labels[MAX_FILES][PATH_SIZE];
	static struct found before, now;
	char text[64], line[96], label[PATH_SIZE];
	size_t k, n;

	look(dir, jetson->ops, &before);
	n = list_labels(dir, jetson->class, labels);
	assert_true(n >= 3);
	for (k = 0; k < n; k++) {
		struct watt_root root = WATT_ROOT_INIT;

		watt_strlcpy(label, labels[k], sizeof(label));
		assert_int_equal(watt_root_open(&root, dir), 0);
		assert_true(watt_root_read(&root, label, text, sizeof(text)) > 0);
		watt_root_close(&root);
		scratch_write(dir, label, "NC\n");
		look(dir, jetson->ops, &now);
		if (now.n != before.n - (strcmp(text, "NC") != 0))
			fail_msg("%s: %zu of %zu", label, now.n, before.n);
		check_kept(&now, &before);
		snprintf(line, sizeof(line), "%s\n", text);
		scratch_write(dir, label, line);
	}
}

/* ---- zones that are off ---- */

static void write_zone(const char *dir, int number, const char *type)
{
	char path[96];

	snprintf(path, sizeof(path), "sys/class/thermal/thermal_zone%d/type", number);
	scratch_write(dir, path, type);
	snprintf(path, sizeof(path), "sys/class/thermal/thermal_zone%d/temp", number);
	scratch_write(dir, path, "45500\n");
}

/* The first zone that is read, as its folder; NULL: none is. */
static const char *pick_zone(const struct found *found, const char *dir, char *buf, size_t size)
{
	char type[64], path[96], name[96], clean[64];
	struct watt_root root = WATT_ROOT_INIT;
	const char *ret = NULL;
	int i;

	assert_int_equal(watt_root_open(&root, dir), 0);
	for (i = 0; i < 50 && !ret; i++) {
		snprintf(path, sizeof(path), "sys/class/thermal/thermal_zone%d/type", i);
		if (watt_root_read(&root, path, type, sizeof(type)) <= 0)
			continue;
		watt_clean_name(type, clean, sizeof(clean));
		snprintf(name, sizeof(name), "context/%s/temperature", clean);
		if (place_of(found, name) == found->n)
			continue;
		snprintf(buf, size, "thermal_zone%d/", i);
		ret = buf;
	}
	watt_root_close(&root);
	return ret;
}

static void check_zones_that_are_off(const char *dir)
{
	static struct found before, now;
	size_t k, n_off = 0;
	char zone[32];

	write_zone(dir, 40, "one-thermal\n");
	write_zone(dir, 41, "other-thermal\n");
	look(dir, &watt_power_context, &before);
	says_again = pick_zone(&before, dir, zone, sizeof(zone));
	assert_non_null(says_again);
	/* off from the beginning: it is kept, for it may be on one day */
	look(dir, &watt_power_context, &now);
	says_again = NULL;
	assert_int_equal(now.n, before.n);
	for (k = 0; k < now.n; k++) {
		if (now.sample[k].status == before.sample[k].status)
			continue;
		assert_int_equal(now.sample[k].status, WATT_STATUS_NODATA);
		n_off++;
	}
	assert_int_equal(n_off, 1);
}

/* ---- cores that are offline ---- */

/* All but core 1 are online. Core k is busy in k + 1 of 20 ticks, since all of them were at 1000. */
static void write_stat(const char *dir, int n, int n_looks)
{
	char text[8192];
	size_t len = (size_t)snprintf(text, sizeof(text), "cpu  1 1 1 1 1 1 1 0 0 0\n");
	int k;

	for (k = 0; k < n; k++)
		if (k != 1)
			len += (size_t)snprintf(text + len, sizeof(text) - len,
						"cpu%d %d 0 0 %d 0 0 0 0 0 0\n", k,
						1000 + n_looks * (k + 1),
						1000 + n_looks * (19 - k));
	scratch_write(dir, "proc/stat", text);
}

static void check_cores_that_are_offline(const struct jetson *jetson, const char *dir)
{
	struct watt_sample samples[MAX_CHANNELS];
	const struct watt_sample *sample;
	char name[64], present[16];
	struct machine m;
	int k;

	snprintf(present, sizeof(present), "0-%d\n", jetson->n_cores - 1);
	scratch_write(dir, "sys/devices/system/cpu/present", present);
	write_stat(dir, jetson->n_cores, 0);
	machine_init(&m, dir);
	assert_int_equal(machine_open(&m, &watt_power_context), 0);
	read_all_groups(m.power, samples);
	write_stat(dir, jetson->n_cores, 1);
	read_all_groups(m.power, samples);
	for (k = 0; k < jetson->n_cores; k++) {
		snprintf(name, sizeof(name), "context/cpu%d/busy", k);
		sample = &samples[channel_named(m.power, name) - m.power->channels];
		assert_int_equal(sample->status, k == 1 ? WATT_STATUS_NODATA : WATT_STATUS_OK);
		/* in the column of its number */
		assert_int_equal(sample->raw, k == 1 ? 0 : (k + 1) * 50000);
	}
	machine_done(&m);
}

/* One board: *state is its struct jetson. */
static void test_board(void **state)
{
	const struct jetson *jetson = *state;
	char *dir = fixture_copy(jetson->machine);

	check_cores_that_are_offline(jetson, dir);
	check_zones_that_are_off(dir);
	check_not_connected(jetson, dir);
	check_renumbered(jetson, dir);
	scratch_remove(dir);
}

int main(void)
{
	struct CMUnitTest tests[WATT_ARRAY_SIZE(jetsons)];
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(jetsons); i++)
		tests[i] = (struct CMUnitTest){ .name = jetsons[i].test,
						.test_func = test_board,
						.initial_state = (void *)&jetsons[i] };
	return cmocka_run_group_tests_name("jetson", tests, NULL, NULL);
}

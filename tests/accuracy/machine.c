/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sensors of the moving machine: what is true from a sine, what is shown by the rounding,
 * wrapping and naming of the kernel's powercap and hwmon drivers. Knows nothing of the library.
 */
#include "machine.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * A value of eight bytes at the start of a page is copied by one instruction, on either side: a
 * reader never sees half of it. Hence the small ranges, and blanks instead of leading digits.
 */
#define VALUE_LEN 8
#define MAX_FILES 2

#define RAPL "class/powercap/intel-rapl:"
#define N_CPUS 2

static const struct machine_model models[MACHINE_N_SENSORS] = {
	[MACHINE_PACKAGE_0] = { .name = "package-0",
				.file = RAPL "0/energy_uj",
				.mean_w = 45,
				.swing_w = 15,
				.period_s = 1.7,
				.quantum_j = 0x1p-14,
				.range_uj = 39999999 },
	[MACHINE_DRAM_0] = { .name = "dram-0",
			     .file = RAPL "0:0/energy_uj",
			     .mean_w = 6,
			     .swing_w = 2,
			     .period_s = 0.9,
			     .quantum_j = 0x1p-16,
			     .range_uj = 5999999 },
	[MACHINE_PACKAGE_1] = { .name = "package-1",
				.file = RAPL "1/energy_uj",
				.mean_w = 8,
				.swing_w = 3,
				.period_s = 2.3,
				.quantum_j = 0x1p-14,
				.range_uj = 262143328850 },
	[MACHINE_CARD] = { .name = "card",
			   .file = "class/hwmon/hwmon0/power1_input",
			   .mean_w = 25,
			   .swing_w = 5,
			   .period_s = 4,
			   .error_w = 0.5e-6 },
	/* 20 W at 12 V: half a mV and half a mA */
	[MACHINE_RAIL] = { .name = "rail",
			   .file = "class/hwmon/hwmon1/in1_input",
			   .mean_w = 20,
			   .swing_w = 5,
			   .period_s = 3,
			   .error_w = 2.2 * 0.5e-3 + 12.5 * 0.5e-3 },
};

struct sensor {
	int fd[MAX_FILES]; /* -1: not there */
	double reset_j;    /* the counter shows what was used since, and what it had then */
	double start_j;
};

struct machine {
	char *dir;
	uint64_t epoch_ns;
	struct sensor sensors[MACHINE_N_SENSORS];
};

/* ---- what is true ---- */

const struct machine_model *machine_get_model(enum machine_sensor sensor)
{
	return &models[sensor];
}

static double seconds(const struct machine *machine, uint64_t t_ns)
{
	return (double)(int64_t)(t_ns - machine->epoch_ns) / 1e9;
}

static double power_w(const struct machine_model *model, double t_s)
{
	return model->mean_w + model->swing_w * sin(2 * M_PI * t_s / model->period_s);
}

static double energy_j(const struct machine_model *model, double t_s)
{
	return model->mean_w * t_s + model->swing_w * model->period_s / (2 * M_PI) *
					     (1 - cos(2 * M_PI * t_s / model->period_s));
}

double machine_energy_j(const struct machine *machine, enum machine_sensor sensor, uint64_t t0_ns,
			uint64_t t1_ns)
{
	return energy_j(&models[sensor], seconds(machine, t1_ns)) -
	       energy_j(&models[sensor], seconds(machine, t0_ns));
}

/* ---- what is shown ---- */

static void show(int fd, uint64_t value)
{
	char text[VALUE_LEN + 13];

	if (fd < 0)
		return;
	snprintf(text, sizeof(text), "%*llu", VALUE_LEN, (unsigned long long)value);
	if (pwrite(fd, text, VALUE_LEN, 0) != VALUE_LEN)
		perror("moving machine: pwrite");
}

static void show_counter(const struct machine_model *model, const struct sensor *sensor, double t_s)
{
	double used_j = energy_j(model, t_s) - sensor->reset_j + sensor->start_j;
	double counted_uj = floor(used_j / model->quantum_j) * model->quantum_j * 1e6;

	show(sensor->fd[0], (uint64_t)counted_uj % (model->range_uj + 1));
}

static void show_rail(const struct machine_model *model, const struct sensor *sensor, double t_s)
{
	double power = power_w(model, t_s);
	/* the supply sags under load */
	double voltage_v = 12.4 - 0.02 * power;

	show(sensor->fd[0], (uint64_t)lround(voltage_v * 1e3));
	show(sensor->fd[1], (uint64_t)lround(power / voltage_v * 1e3));
}

static void show_sensor(const struct machine *machine, enum machine_sensor sensor, double t_s)
{
	const struct machine_model *model = &models[sensor];
	const struct sensor *s = &machine->sensors[sensor];

	if (model->quantum_j > 0)
		show_counter(model, s, t_s);
	else if (sensor == MACHINE_RAIL)
		show_rail(model, s, t_s);
	else
		show(s->fd[0], (uint64_t)llround(power_w(model, t_s) * 1e6));
}

void machine_write(struct machine *machine, uint64_t t_ns)
{
	int i;

	for (i = 0; i < MACHINE_N_SENSORS; i++)
		show_sensor(machine, (enum machine_sensor)i, seconds(machine, t_ns));
}

/* ---- events ---- */

void machine_reset(struct machine *machine, enum machine_sensor sensor, uint64_t t_ns)
{
	machine->sensors[sensor].reset_j = energy_j(&models[sensor], seconds(machine, t_ns));
	machine->sensors[sensor].start_j = 0;
}

static void path_of(const struct machine *machine, const char *file, char *buf, size_t size)
{
	snprintf(buf, size, "%s/%s", machine->dir, file);
}

/* The files of a sensor: a rail has a second one. */
static const char *file_of(enum machine_sensor sensor, int i)
{
	if (i == 0)
		return models[sensor].file;
	return sensor == MACHINE_RAIL ? "class/hwmon/hwmon1/curr1_input" : NULL;
}

void machine_remove(struct machine *machine, enum machine_sensor sensor)
{
	char path[PATH_MAX];
	int i;

	for (i = 0; i < MAX_FILES && file_of(sensor, i); i++) {
		path_of(machine, file_of(sensor, i), path, sizeof(path));
		unlink(path);
		if (machine->sensors[sensor].fd[i] >= 0)
			close(machine->sensors[sensor].fd[i]);
		machine->sensors[sensor].fd[i] = -1;
	}
}

/* Shows the file only when its value is in it. */
void machine_return(struct machine *machine, enum machine_sensor sensor, uint64_t t_ns)
{
	char path[PATH_MAX], hidden[PATH_MAX + 1];
	int i;

	for (i = 0; i < MAX_FILES && file_of(sensor, i); i++) {
		path_of(machine, file_of(sensor, i), path, sizeof(path));
		snprintf(hidden, sizeof(hidden), "%s~", path);
		machine->sensors[sensor].fd[i] =
			open(hidden, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0444);
	}
	show_sensor(machine, sensor, seconds(machine, t_ns));
	for (i = 0; i < MAX_FILES && file_of(sensor, i); i++) {
		path_of(machine, file_of(sensor, i), path, sizeof(path));
		snprintf(hidden, sizeof(hidden), "%s~", path);
		if (rename(hidden, path) < 0)
			perror(path);
	}
}

/* ---- the tree ---- */

static int write_file(const struct machine *machine, const char *file, const char *text)
{
	char path[PATH_MAX];
	char *slash;
	ssize_t n;
	int fd;

	path_of(machine, file, path, sizeof(path));
	for (slash = path + strlen(machine->dir) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		if (mkdir(path, 0755) < 0 && errno != EEXIST)
			return -errno;
		*slash = '/';
	}
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	n = write(fd, text, strlen(text));
	close(fd);
	return n == (ssize_t)strlen(text) ? 0 : -EIO;
}

static int write_zone(const struct machine *machine, enum machine_sensor sensor, const char *id,
		      const char *name)
{
	char file[128], text[64];
	int r;

	snprintf(file, sizeof(file), RAPL "%s/name", id);
	snprintf(text, sizeof(text), "%s\n", name);
	r = write_file(machine, file, text);
	if (r < 0)
		return r;
	snprintf(file, sizeof(file), RAPL "%s/max_energy_range_uj", id);
	snprintf(text, sizeof(text), "%llu\n", (unsigned long long)models[sensor].range_uj);
	return write_file(machine, file, text);
}

static int write_cpu(const struct machine *machine, int cpu)
{
	static const struct {
		const char *file;
		int per_cpu;
	} files[] = { { "physical_package_id", 1 }, { "core_id", 0 }, { "die_id", 0 } };
	char file[128], text[16];
	size_t i;
	int r = 0;

	for (i = 0; i < sizeof(files) / sizeof(files[0]) && r == 0; i++) {
		snprintf(file, sizeof(file), "devices/system/cpu/cpu%d/topology/%s", cpu,
			 files[i].file);
		snprintf(text, sizeof(text), "%d\n", files[i].per_cpu * cpu);
		r = write_file(machine, file, text);
	}
	return r;
}

/* Everything but the values: two packages of one CPU each, and two chips. */
static int write_tree(const struct machine *machine)
{
	static const struct {
		const char *file;
		const char *text;
	} files[] = {
		{ "class/powercap/intel-rapl/enabled", "1\n" },
		{ "devices/system/cpu/possible", "0-1\n" },
		{ "devices/system/cpu/present", "0-1\n" },
		{ "devices/system/cpu/online", "0-1\n" },
		{ "class/hwmon/hwmon0/name", "ina226\n" },
		{ "class/hwmon/hwmon0/update_interval", "1\n" },
		{ "class/hwmon/hwmon0/power1_label", "card\n" },
		{ "class/hwmon/hwmon1/name", "ina260\n" },
		{ "class/hwmon/hwmon1/update_interval", "1\n" },
		{ "class/hwmon/hwmon1/in1_label", "rail\n" },
		{ "class/hwmon/hwmon1/curr1_label", "rail\n" },
	};
	size_t i;
	int r = 0;

	for (i = 0; i < sizeof(files) / sizeof(files[0]) && r == 0; i++)
		r = write_file(machine, files[i].file, files[i].text);
	for (i = 0; i < N_CPUS && r == 0; i++)
		r = write_cpu(machine, (int)i);
	if (r == 0)
		r = write_zone(machine, MACHINE_PACKAGE_0, "0", "package-0");
	if (r == 0)
		r = write_zone(machine, MACHINE_DRAM_0, "0:0", "dram");
	if (r == 0)
		r = write_zone(machine, MACHINE_PACKAGE_1, "1", "package-1");
	return r;
}

int machine_new(const char *dir, uint64_t epoch_ns, struct machine **ret)
{
	struct machine *machine = calloc(1, sizeof(*machine));
	int i, j, r;

	if (!machine)
		return -ENOMEM;
	machine->dir = strdup(dir);
	machine->epoch_ns = epoch_ns;
	for (i = 0; i < MACHINE_N_SENSORS; i++) {
		/* a counter that shows 0 for long is taken for a broken one */
		machine->sensors[i].start_j = 1;
		for (j = 0; j < MAX_FILES; j++)
			machine->sensors[i].fd[j] = -1;
	}
	r = machine->dir ? write_tree(machine) : -ENOMEM;
	if (r < 0) {
		machine_free(machine);
		return r;
	}
	for (i = 0; i < MACHINE_N_SENSORS; i++)
		machine_return(machine, (enum machine_sensor)i, epoch_ns);
	*ret = machine;
	return 0;
}

void machine_free(struct machine *machine)
{
	int i, j;

	if (!machine)
		return;
	for (i = 0; i < MACHINE_N_SENSORS; i++)
		for (j = 0; j < MAX_FILES; j++)
			if (machine->sensors[i].fd[j] >= 0)
				close(machine->sensors[i].fd[j]);
	free(machine->dir);
	free(machine);
}

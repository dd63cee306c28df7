/* SPDX-License-Identifier: Apache-2.0 */
/* lib/source/power/amdgpu/amdgpu.c */
#include "sensors.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "source/power/amdgpu/gpu_metrics.h"

#define CARD "devices/pci0000:00/0000:00:03.1/0000:0b:00.0/0000:0c:00.0/0000:0d:00.0"
#define PATH "gpu-0000:0d:00_0"
#define ENERGY_AT 24
#define POWER_AT 22

/* A card with a table and hwmon, and a graphics part of a CPU, whose table states less. */
static void test_desktop(void **state)
{
	static const struct {
		const char *name;
		enum watt_quantity quantity;
		int64_t raw;
	} expected[] = {
		{ "amdgpu/" PATH "/load", WATT_QUANTITY_RATIO, 30000 },
		{ "amdgpu/" PATH "/memory_load", WATT_QUANTITY_RATIO, 10000 },
		{ "amdgpu/" PATH "/memory_used", WATT_QUANTITY_MEMORY, 1387724800 },
		{ "amdgpu/" PATH "/temperature", WATT_QUANTITY_TEMPERATURE, 45000 },
		{ "amdgpu/" PATH "/hotspot_temperature", WATT_QUANTITY_TEMPERATURE, 52000 },
		{ "amdgpu/" PATH "/memory_temperature", WATT_QUANTITY_TEMPERATURE, 50000 },
		{ "amdgpu/" PATH "/clock", WATT_QUANTITY_FREQUENCY, 500000000 },
		{ "amdgpu/" PATH "/memory_clock", WATT_QUANTITY_FREQUENCY, 96000000 },
		{ "amdgpu/" PATH "/fan", WATT_QUANTITY_SPEED, 0 },
		{ "amdgpu/" PATH "/power_limit", WATT_QUANTITY_LIMIT, 203000000 },
		{ "amdgpu/" PATH "/held_by_power", WATT_QUANTITY_RATIO, 0 },
		{ "amdgpu/" PATH "/held_by_heat", WATT_QUANTITY_RATIO, 0 },
		{ "amdgpu/gpu-0000:0f:00_0/load", WATT_QUANTITY_RATIO, 0 },
		{ "amdgpu/gpu-0000:0f:00_0/memory_used", WATT_QUANTITY_MEMORY, 25870336 },
		{ "amdgpu/gpu-0000:0f:00_0/clock", WATT_QUANTITY_FREQUENCY, 600000000 },
		{ "amdgpu/gpu-0000:0f:00_0/memory_clock", WATT_QUANTITY_FREQUENCY, 2400000000 },
	};
	struct watt_sample samples[64];
	struct machine m;
	size_t i;

	machine_init_fixture(&m, "desktop-amdgpu");
	assert_int_equal(machine_open(&m, &watt_power_amdgpu), 0);
	check_power(m.power);
	assert_int_equal(m.world.n_warnings, 0);
	assert_int_equal(m.power->n_channels, WATT_ARRAY_SIZE(expected));
	read_all_groups(m.power, samples);
	for (i = 0; i < WATT_ARRAY_SIZE(expected); i++) {
		const struct watt_channel *channel = &m.power->channels[i];

		assert_string_equal(channel->name, expected[i].name);
		assert_int_equal(strncmp(channel->domain, "context/gpu-", 12), 0);
		assert_int_equal(channel->quantity, expected[i].quantity);
		assert_int_equal(samples[i].status, WATT_STATUS_OK);
		assert_int_equal(samples[i].raw, expected[i].raw);
	}
	machine_done(&m);
}

/* The graphics of an APU have a power of their own; what hwmon tells is the whole chip's. */
static void test_apu(void **state)
{
	const struct watt_channel *channel;
	struct machine m;

	machine_init_fixture(&m, "steam-deck");
	assert_int_equal(machine_open(&m, &watt_power_amdgpu), 0);
	channel = channel_named(m.power, "amdgpu/gpu-0000:04:00_0");
	assert_string_equal(channel->domain, "gpu-0000:04:00_0");
	assert_int_equal(channel->kind, WATT_DOMAIN_GPU);
	assert_int_equal(channel->flags, OVERLAP);
	assert_int_equal(sample_named(&m, channel->name).raw, 870000);
	assert_int_equal(sample_named(&m, "amdgpu/gpu-0000:04:00_0/temperature").raw, 51000);
	assert_int_equal(sample_named(&m, "amdgpu/gpu-0000:04:00_0/load").raw, 125000);
	machine_close_source(&m);
	assert_int_equal(machine_open(&m, &watt_power_hwmon), 0);
	channel = channel_named(m.power, "hwmon/0000:04:00_0/slowppt");
	assert_string_equal(channel->domain, "gpu-0000:04:00_0:chip");
	assert_int_equal(channel->flags, OVERLAP);
	machine_done(&m);
}

/* ---- a card whose counter counts ---- */

struct counting {
	char *dir;
	char path[PATH_MAX];
	uint8_t table[WATT_GPU_METRICS_SIZE];
	size_t size;
	uint64_t energy;
	unsigned int power_w;   /* that it says */
	unsigned int counted_w; /* that it counts */
	atomic_bool is_done;
	pthread_t thread;
};

/* As one reading sees it whole, so it is written. */
static void put(struct counting *c)
{
	uint16_t power = (uint16_t)c->power_w;
	int fd = open(c->path, O_WRONLY);

	memcpy(c->table + ENERGY_AT, &c->energy, sizeof(c->energy));
	memcpy(c->table + POWER_AT, &power, sizeof(power));
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, c->table, c->size, 0), c->size);
	close(fd);
}

static void *count(void *data)
{
	struct counting *c = data;
	uint64_t last_ns = watt_now_ns(), now_ns;

	while (!atomic_load(&c->is_done)) {
		usleep(2000);
		now_ns = watt_now_ns();
		c->energy +=
			(uint64_t)((double)c->counted_w * (double)(now_ns - last_ns) / 1e9 * 65536);
		last_ns = now_ns;
		put(c);
	}
	return NULL;
}

static void counting_begin(struct counting *c, unsigned int power_w, unsigned int counted_w)
{
	FILE *file;

	*c = (struct counting){ .dir = fixture_copy("desktop-amdgpu"),
				.energy = 1000000,
				.power_w = power_w,
				.counted_w = counted_w };
	snprintf(c->path, sizeof(c->path), "%s/sys/" CARD "/gpu_metrics", c->dir);
	file = fopen(c->path, "rb");
	assert_non_null(file);
	c->size = fread(c->table, 1, sizeof(c->table), file);
	fclose(file);
	put(c);
}

static void counting_run(struct counting *c)
{
	atomic_store(&c->is_done, false);
	assert_int_equal(pthread_create(&c->thread, NULL, count, c), 0);
}

static void counting_stop(struct counting *c)
{
	atomic_store(&c->is_done, true);
	pthread_join(c->thread, NULL);
}

/* One that fits the power is read, in units of 2^-16 J; and with 32 bits it goes on. */
static void test_counter(void **state)
{
	const struct watt_channel *channel;
	struct watt_sample first;
	struct counting c;
	struct machine m;

	counting_begin(&c, 300, 300);
	machine_init(&m, c.dir);
	counting_run(&c);
	assert_int_equal(machine_open(&m, &watt_power_amdgpu), 0);
	counting_stop(&c);
	channel = channel_named(m.power, "amdgpu/" PATH);
	assert_int_equal(channel->quantity, WATT_QUANTITY_ENERGY);
	assert_int_equal(channel->semantics, WATT_SEMANTICS_COUNTER);
	assert_string_equal(channel->domain, PATH);
	assert_int_equal(channel->flags, 0);
	/* 65536 of it are a joule */
	assert_int_equal(65536 * channel->scale_num / channel->scale_den, WATT_NSEC_PER_SEC);
	c.energy = 0xfffff000;
	put(&c);
	first = sample_named(&m, channel->name);
	assert_int_equal(first.raw, 0xfffff000);
	c.energy = 0x1000;
	put(&c);
	assert_int_equal(sample_named(&m, channel->name).raw, first.raw + 0x2000);
	/* of a driver that was loaded anew it begins anew */
	c.energy = 0x800;
	put(&c);
	assert_int_equal(sample_named(&m, channel->name).raw, first.raw + 0x1800);
	machine_done(&m);
	scratch_remove(c.dir);
}

/* One that counts something else is said so, and hwmon's power is what there is. */
static void test_impossible(void **state)
{
	struct counting c;
	struct machine m;

	counting_begin(&c, 40, 4000);
	machine_init(&m, c.dir);
	counting_run(&c);
	assert_int_equal(machine_open(&m, &watt_power_amdgpu), 0);
	counting_stop(&c);
	assert_int_equal(m.world.n_warnings, 1);
	assert_non_null(strstr(m.world.text, "counts energy that does not fit its power"));
	assert_int_equal(m.power->channels[0].quantity, WATT_QUANTITY_RATIO);
	machine_done(&m);
	scratch_remove(c.dir);
}

/* Where hwmon has no power the table's is read. */
static void test_power(void **state)
{
	struct counting c;
	struct machine m;
	char path[PATH_MAX + 64];

	counting_begin(&c, 40, 0);
	snprintf(path, sizeof(path), "%s/sys/" CARD "/hwmon/hwmon2/power1_average", c.dir);
	assert_int_equal(unlink(path), 0);
	machine_init(&m, c.dir);
	assert_int_equal(machine_open(&m, &watt_power_amdgpu), 0);
	assert_int_equal(channel_named(m.power, "amdgpu/" PATH)->quantity, WATT_QUANTITY_POWER);
	assert_int_equal(sample_named(&m, "amdgpu/" PATH).raw, 40000000);
	machine_done(&m);
	scratch_remove(c.dir);
}

/* A table that is damaged while it is read is a broken sample; what is missing is no data. */
static void test_damage(void **state)
{
	struct counting c;
	struct machine m;

	counting_begin(&c, 40, 0);
	machine_init(&m, c.dir);
	assert_int_equal(machine_open(&m, &watt_power_amdgpu), 0);
	memset(c.table + 16, 0xff, 2); /* the load */
	put(&c);
	assert_int_equal(sample_named(&m, "amdgpu/" PATH "/load").status, WATT_STATUS_NODATA);
	assert_int_equal(sample_named(&m, "amdgpu/" PATH "/temperature").status, WATT_STATUS_OK);
	c.table[0] = 7;
	put(&c);
	assert_int_equal(sample_named(&m, "amdgpu/" PATH "/temperature").status,
			 WATT_STATUS_BROKEN);
	/* what has a file of its own does not mind */
	assert_int_equal(sample_named(&m, "amdgpu/" PATH "/memory_used").status, WATT_STATUS_OK);
	machine_done(&m);
	scratch_remove(c.dir);
}

/* A card that sleeps is not touched; the other one is there, and both are when it wakes. */
static void test_asleep(void **state)
{
	static const char *const first[] = { "amdgpu/gpu-0000:0f:00_0/load" };
	struct watt_known known = { first, 1 };
	struct watt_power *more;
	struct counting c;
	struct machine m;

	counting_begin(&c, 40, 0);
	scratch_write_bytes(c.dir, "sys/" CARD "/power/runtime_status", "suspended\n", 10);
	machine_init(&m, c.dir);
	assert_int_equal(machine_open(&m, &watt_power_amdgpu), 0);
	assert_int_equal(m.power->n_refused, 1);
	assert_int_equal(strncmp(m.power->channels[0].name, "amdgpu/gpu-0000:0f", 18), 0);
	scratch_write_bytes(c.dir, "sys/" CARD "/power/runtime_status", "active\n", 7);
	assert_int_equal(watt_power_amdgpu.rescan(&m.world.env, &known, &more), 0);
	channel_named(more, "amdgpu/" PATH "/load");
	/* and when it falls asleep again, it has no data */
	scratch_write_bytes(c.dir, "sys/" CARD "/power/runtime_status", "suspended\n", 10);
	machine_close_source(&m);
	m.power = more;
	assert_int_equal(sample_named(&m, "amdgpu/" PATH "/load").status, WATT_STATUS_NODATA);
	machine_done(&m);
	scratch_remove(c.dir);
}

static void test_probe(void **state)
{
	struct watt_diag diag = { 0 };
	struct machine m;

	machine_init_fixture(&m, "desktop-amdgpu");
	assert_int_equal(watt_power_amdgpu.probe(&m.world.env, &diag), 0);
	assert_string_equal(diag.why, "2 GPUs: 0000:0d:00.0, table 1.3 with a counter of energy");
	machine_done(&m);
	machine_init_fixture(&m, "xeon-2s");
	assert_int_equal(watt_power_amdgpu.probe(&m.world.env, &diag), -ENODEV);
	assert_int_equal(diag.state, WATT_ABSENT);
	assert_int_equal(machine_open(&m, &watt_power_amdgpu), -ENODEV);
	machine_done(&m);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_desktop), cmocka_unit_test(test_apu),
		cmocka_unit_test(test_counter), cmocka_unit_test(test_impossible),
		cmocka_unit_test(test_power),   cmocka_unit_test(test_damage),
		cmocka_unit_test(test_asleep),  cmocka_unit_test(test_probe),
	};

	return cmocka_run_group_tests_name("amdgpu", tests, NULL, NULL);
}

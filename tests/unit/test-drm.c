/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lib/source/activity/drm: who is on GPUs, by files as each driver writes them: of one machine that
 * was put together, and of trees that are made here.
 */
#include "unit.h"

#include <wattribute/wattribute.h>

#include "base/clock.h"
#include "base/util.h"
#include "source/activity/drm/fdinfo.h"
#include "source/config/config.h"
#include "source/registry.h"

#define MS WATT_NSEC_PER_MSEC

struct machine {
	char *dir;
	struct watt_env env;
};

static const struct watt_config no_config;

static void add_link(const char *dir, const char *path, const char *target)
{
	char full[PATH_MAX];

	snprintf(full, sizeof(full), "%s/%s", dir, path);
	unlink(full);
	scratch_write_bytes(dir, path, "", 0); /* makes the folders */
	assert_int_equal(unlink(full), 0);
	assert_int_equal(symlink(target, full), 0);
}

static void add_card(struct machine *m, const char *card, const char *device, const char *driver)
{
	char path[256], target[256];

	snprintf(path, sizeof(path), "sys/devices/%s/vendor", device);
	scratch_write_bytes(m->dir, path, "", 0);
	snprintf(path, sizeof(path), "sys/devices/%s/driver", device);
	snprintf(target, sizeof(target), "../../bus/drivers/%s", driver);
	add_link(m->dir, path, target);
	snprintf(path, sizeof(path), "sys/devices/%s/drm/%s/device", device, card);
	snprintf(target, sizeof(target), "../../../%s", device);
	add_link(m->dir, path, target);
	snprintf(path, sizeof(path), "sys/class/drm/%s", card);
	snprintf(target, sizeof(target), "../../devices/%s/drm/%s", device, card);
	add_link(m->dir, path, target);
}

static void machine_init(struct machine *m)
{
	char path[PATH_MAX];

	m->dir = scratch_new();
	snprintf(path, sizeof(path), "%s/sys", m->dir);
	assert_int_equal(mkdir(path, 0755), 0);
	snprintf(path, sizeof(path), "%s/proc", m->dir);
	assert_int_equal(mkdir(path, 0755), 0);
	m->env = (struct watt_env){ .sysfs = WATT_ROOT_INIT,
				    .procfs = WATT_ROOT_INIT,
				    .config = &no_config };
	assert_int_equal(watt_root_open(&m->env.procfs, path), 0);
	snprintf(path, sizeof(path), "%s/sys", m->dir);
	assert_int_equal(watt_root_open(&m->env.sysfs, path), 0);
}

static void machine_done(struct machine *m)
{
	watt_root_close(&m->env.sysfs);
	watt_root_close(&m->env.procfs);
	scratch_remove(m->dir);
}

/* A process with one descriptor of a GPU. */
static void add_process(struct machine *m, unsigned int pid, const char *info)
{
	char path[64], stat[128];

	snprintf(path, sizeof(path), "proc/%u/stat", pid);
	snprintf(stat, sizeof(stat),
		 "%u (x) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 %u00 0 0 0 0 0 0 0 0 0 0 0 0 0 0 "
		 "0 0 17 0 0 0 0 0 0\n",
		 pid, pid);
	scratch_write_bytes(m->dir, path, stat, strlen(stat));
	snprintf(path, sizeof(path), "proc/%u/fd/5", pid);
	add_link(m->dir, path, "/dev/dri/renderD128");
	snprintf(path, sizeof(path), "proc/%u/fd/1", pid);
	add_link(m->dir, path, "/dev/null");
	snprintf(path, sizeof(path), "proc/%u/fdinfo/5", pid);
	scratch_write_bytes(m->dir, path, info, strlen(info));
	snprintf(path, sizeof(path), "proc/%u/fdinfo/1", pid);
	scratch_write_bytes(m->dir, path, "pos:\t0\n", 7);
}

static void set_info(struct machine *m, unsigned int pid, const char *info)
{
	char path[64];

	snprintf(path, sizeof(path), "proc/%u/fdinfo/5", pid);
	scratch_write_bytes(m->dir, path, info, strlen(info));
}

static uint64_t amount_of_kind(const struct watt_activity_batch *batch, uint32_t pid,
			       const char *path, enum watt_activity_kind kind)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < batch->n_readings; i++) {
		const struct watt_activity_place *place = &batch->places[batch->readings[i].place];

		if (batch->readings[i].pid == pid && place->kind == kind &&
		    !strcmp(place->path, path))
			sum += batch->readings[i].amount;
	}
	return sum;
}

static uint64_t amount_of(const struct watt_activity_batch *batch, uint32_t pid, const char *path)
{
	return amount_of_kind(batch, pid, path, WATT_ACTIVITY_GPU_TIME);
}

#define AMDGPU \
	"pos:\t0\nflags:\t02100002\nmnt_id:\t26\nino:\t1048\ndrm-driver:\tamdgpu\n" \
	"drm-client-id:\t%u\ndrm-pdev:\t0000:0d:00.0\npasid:\t32778\n" \
	"drm-total-vram:\t81796 KiB\ndrm-memory-vram:\t81796 KiB\namd-evicted-vram:\t0 KiB\n" \
	"drm-engine-gfx:\t%llu ns\ndrm-engine-compute:\t%llu ns\n"

static char *amdgpu(unsigned int client, unsigned long long gfx_ns, unsigned long long compute_ns)
{
	static char text[1024];

	snprintf(text, sizeof(text), AMDGPU, client, gfx_ns, compute_ns);
	return text;
}

/* What both engines did between two readings is the process'; what was before is nobody's. */
static void test_amdgpu(void **state)
{
	static const char *const place = "gpu-0000:0d:00_0";
	struct watt_activity_source *source;
	struct watt_activity_batch batch;
	struct machine m;

	machine_init(&m);
	add_card(&m, "card1", "0000:0d:00.0", "amdgpu");
	add_card(&m, "renderD128", "0000:0d:00.0", "amdgpu");
	add_process(&m, 100, amdgpu(7, 5000000000, 1000000));
	add_process(&m, 101, amdgpu(7, 5000000000, 1000000)); /* inherited: the same client */
	add_process(&m, 102, amdgpu(8, 0, 0));
	assert_int_equal(watt_activity_drm.open(&m.env, NULL, &source), 0);
	assert_int_equal(source->ops->read(source, &batch), 0);
	assert_int_equal(batch.n_places, 2);
	assert_string_equal(batch.places[0].path, place);
	assert_int_equal(batch.places[1].kind, WATT_ACTIVITY_GPU_MEMORY);
	assert_int_equal(batch.places[1].n_units, 1);
	assert_int_equal(batch.places[0].n_units, 2);
	assert_int_equal(batch.n_readings, 4); /* of two clients, engines and memory */
	assert_int_equal(amount_of(&batch, 100, place), 0);
	assert_int_equal(batch.readings[0].start_ns,
			 10000 * (WATT_NSEC_PER_SEC / (uint64_t)sysconf(_SC_CLK_TCK)));
	usleep(20000);
	set_info(&m, 100, amdgpu(7, 5006000000, 5000000));
	set_info(&m, 101, amdgpu(7, 5006000000, 5000000));
	set_info(&m, 102, amdgpu(8, 3000000, 0));
	assert_int_equal(source->ops->read(source, &batch), 0);
	assert_int_equal(amount_of(&batch, 100, place), 10 * MS);
	assert_int_equal(amount_of(&batch, 101, place), 0);
	assert_int_equal(amount_of(&batch, 102, place), 3 * MS);
	assert_int_equal(batch.readings[0].t_ns, batch.places[0].complete_ns);
	set_info(&m, 102, amdgpu(8, 900000000000, 0)); /* more than there was time for */
	assert_int_equal(source->ops->read(source, &batch), 0);
	assert_true(amount_of(&batch, 102, place) < 900000 * MS);
	source->ops->close(source);
	machine_done(&m);
}

#define XE \
	"drm-driver:\txe\ndrm-client-id:\t3\ndrm-pdev:\t0000:00:02.0\n" \
	"drm-cycles-rcs:\t%llu\ndrm-total-cycles-rcs:\t%llu\ndrm-cycles-vcs:\t0\n" \
	"drm-total-cycles-vcs:\t%llu\ndrm-engine-capacity-vcs:\t2\n"

/* Cycles of so many that there were; the GPU in Intel's chips is what RAPL calls uncore. */
static void test_cycles(void **state)
{
	struct watt_activity_source *source;
	struct watt_activity_batch batch;
	uint64_t first_ns, amount_ns, dt_ns;
	char text[512];
	struct machine m;

	machine_init(&m);
	add_card(&m, "card0", "0000:00:02.0", "xe");
	snprintf(text, sizeof(text), XE, 5000ull, 100000ull, 100000ull);
	add_process(&m, 100, text);
	assert_int_equal(watt_activity_drm.open(&m.env, NULL, &source), 0);
	assert_int_equal(source->ops->read(source, &batch), 0);
	assert_string_equal(batch.places[0].path, "package-0/uncore");
	assert_int_equal(batch.places[1].kind, WATT_ACTIVITY_GPU_MEMORY);
	assert_int_equal(batch.places[1].n_units, 0); /* this client does not tell */
	assert_int_equal(batch.places[0].n_units, 3);
	assert_int_equal(amount_of(&batch, 100, "package-0/uncore"), 0);
	first_ns = batch.places[0].complete_ns;
	usleep(2000);
	snprintf(text, sizeof(text), XE, 5250ull, 101000ull, 101000ull);
	set_info(&m, 100, text);
	assert_int_equal(source->ops->read(source, &batch), 0);
	dt_ns = batch.places[0].complete_ns - first_ns;
	amount_ns = amount_of(&batch, 100, "package-0/uncore");
	assert_in_range(amount_ns, dt_ns / 4 - 1, dt_ns / 4 + 1);
	source->ops->close(source);
	machine_done(&m);
}

#define HOLDER \
	"drm-driver:\tamdgpu\ndrm-client-id:\t%u\ndrm-pdev:\t0000:0d:00.0\n" \
	"drm-resident-vram:\t%u MiB\ndrm-resident-gtt:\t7 MiB\n"

/* What a client holds, for as long as it does; once, by however many processes. */
static void test_memory(void **state)
{
	static const char *const place = "gpu-0000:0d:00_0";
	struct watt_activity_source *source;
	struct watt_activity_batch batch;
	uint64_t first_ns, dt_ns;
	char text[512];
	struct machine m;

	machine_init(&m);
	add_card(&m, "card1", "0000:0d:00.0", "amdgpu");
	snprintf(text, sizeof(text), HOLDER, 7, 3000);
	add_process(&m, 100, text);
	add_process(&m, 101, text); /* inherited */
	snprintf(text, sizeof(text), HOLDER, 8, 1000);
	add_process(&m, 102, text);
	assert_int_equal(watt_activity_drm.open(&m.env, NULL, &source), 0);
	assert_int_equal(source->ops->read(source, &batch), 0);
	assert_int_equal(batch.places[1].n_units, 1);
	assert_int_equal(amount_of_kind(&batch, 100, place, WATT_ACTIVITY_GPU_MEMORY), 0);
	first_ns = batch.places[1].complete_ns;
	usleep(20000);
	assert_int_equal(source->ops->read(source, &batch), 0);
	dt_ns = batch.places[1].complete_ns - first_ns;
	/* of 2^20 MiB */
	assert_int_equal(amount_of_kind(&batch, 100, place, WATT_ACTIVITY_GPU_MEMORY),
			 dt_ns * 3000 >> 20);
	assert_int_equal(amount_of_kind(&batch, 101, place, WATT_ACTIVITY_GPU_MEMORY), 0);
	assert_int_equal(amount_of_kind(&batch, 102, place, WATT_ACTIVITY_GPU_MEMORY),
			 dt_ns * 1000 >> 20);
	source->ops->close(source);
	machine_done(&m);
}

/* One that comes later is found, one that goes stays known for what it did. */
static void test_come_and_go(void **state)
{
	static const char *const place = "gpu-1c00000_gpu";
	struct watt_activity_source *source;
	struct watt_activity_batch batch;
	char path[PATH_MAX];
	struct machine m;

	machine_init(&m);
	add_card(&m, "card0", "1c00000.gpu", "msm");
	assert_int_equal(watt_activity_drm.open(&m.env, NULL, &source), 0);
	assert_int_equal(source->ops->read(source, &batch), 0);
	assert_int_equal(batch.n_readings, 0);
	usleep(5000);
	add_process(&m, 200,
		    "drm-driver:\tmsm\ndrm-client-id:\t1\ndrm-engine-gpu:\t2000000 ns\n"
		    "drm-cycles-gpu:\t1000\ndrm-maxfreq-gpu:\t800000000 Hz\n");
	assert_int_equal(source->ops->read(source, &batch), 0);
	assert_int_equal(amount_of(&batch, 200, place), 2 * MS);
	snprintf(path, sizeof(path), "%s/proc/200", m.dir);
	scratch_remove(strdup(path));
	assert_int_equal(source->ops->read(source, &batch), 0);
	assert_int_equal(amount_of(&batch, 200, place), 2 * MS);
	source->ops->close(source);
	machine_done(&m);
}

static void test_probe(void **state)
{
	struct watt_diag diag = { 0 };
	struct machine m;

	machine_init(&m);
	assert_int_equal(watt_activity_drm.probe(&m.env, &diag), -ENODEV);
	assert_int_equal(diag.state, WATT_ABSENT);
	add_card(&m, "card0", "0000:01:00.0", "nvidia"); /* tells of nobody here */
	assert_int_equal(watt_activity_drm.probe(&m.env, &diag), -ENODEV);
	add_card(&m, "card1", "0000:02:00.0", "i915");
	assert_int_equal(watt_activity_drm.probe(&m.env, &diag), 0);
	assert_string_equal(diag.why, "processes on 1 GPU: 0000:02:00.0 by i915");
	machine_done(&m);
}

/* ---- the text ---- */

static void test_i915(void **state)
{
	struct watt_fdinfo info;

	assert_int_equal(watt_fdinfo_parse("drm-driver: i915\ndrm-pdev: 0000:03:00.0\n"
					   "drm-client-id: 42\ndrm-engine-render: 9288864723 ns\n"
					   "drm-engine-copy: 2035071108 ns\n"
					   "drm-engine-video: 0 ns\n"
					   "drm-engine-capacity-video:   2\n"
					   "drm-engine-video-enhance: 0 ns\n",
					   &info),
			 0);
	assert_string_equal(info.driver, "i915");
	assert_string_equal(info.pdev, "0000:03:00.0");
	assert_int_equal(info.client_id, 42);
	assert_int_equal(info.n_engines, 4);
	assert_string_equal(info.engines[0].name, "render");
	assert_int_equal(info.engines[0].busy_ns, 9288864723);
	assert_int_equal(info.engines[2].capacity, 2);
	assert_string_equal(info.engines[3].name, "video-enhance");
}

static const struct {
	const char *machine, *file, *driver, *pdev;
	uint64_t client_id;
	uint32_t n_engines, engine;
	struct watt_fdinfo_engine value;
} files[] = {
	{ "desktop-amdgpu",
	  "1201/fdinfo/12",
	  "amdgpu",
	  "0000:0d:00.0",
	  48,
	  4,
	  0,
	  { "gfx", 2213424812, 0, 0, 0, true } },
	{ "desktop-amdgpu",
	  "1201/fdinfo/17",
	  "amdgpu",
	  "0000:0f:00.0",
	  48,
	  2,
	  1,
	  { "compute", 0, 0, 0, 0, true } },
	{ "desktop-amdgpu",
	  "1204/fdinfo/9",
	  "xe",
	  "0000:03:00.0",
	  51,
	  5,
	  0,
	  { "rcs", 0, 28257900, 7655183225, 0, false } },
	{ "desktop-amdgpu",
	  "1205/fdinfo/9",
	  "xe",
	  "0000:03:00.0",
	  52,
	  5,
	  4,
	  { "ccs", 0, 912345678, 7655183225, 4, false } },
	{ "laptop-client",
	  "2202/fdinfo/21",
	  "i915",
	  "0000:00:02.0",
	  14,
	  4,
	  2,
	  { "video", 880123456, 0, 0, 2, true } },
	{ "laptop-client",
	  "2202/fdinfo/21",
	  "i915",
	  "0000:00:02.0",
	  14,
	  4,
	  3,
	  { "video-enhance", 0, 0, 0, 0, true } },
	{ "desktop-nouveau", "3201/fdinfo/8", "nouveau", "0000:01:00.0", 3, 0, 0, { "" } },
	{ "phone-msm",
	  "4201/fdinfo/7",
	  "msm",
	  "",
	  14,
	  1,
	  0,
	  { "gpu", 5201365625, 2112457623, 0, 0, true } },
	{ "board-panfrost",
	  "4202/fdinfo/7",
	  "panfrost",
	  "",
	  8,
	  2,
	  1,
	  { "vertex-tiler", 12000000, 9600000, 0, 0, true } },
	{ "board-v3d",
	  "4201/fdinfo/7",
	  "v3d",
	  "",
	  9,
	  6,
	  1,
	  { "render", 18884848484, 0, 0, 0, true } },
};

/* Whole files of each driver, of machines that were put together. */
static void test_each_driver(void **state)
{
	struct watt_root root = WATT_ROOT_INIT;
	struct watt_fdinfo info;
	char text[8192];
	size_t i;

	assert_int_equal(watt_root_open(&root, getenv("WATT_FIXTURES")), 0);
	for (i = 0; i < WATT_ARRAY_SIZE(files); i++) {
		assert_true(watt_root_readf(&root, text, sizeof(text), "%s/proc/%s",
					    files[i].machine, files[i].file) > 0);
		assert_int_equal(watt_fdinfo_parse(text, &info), 0);
		assert_string_equal(info.driver, files[i].driver);
		assert_string_equal(info.pdev, files[i].pdev);
		assert_int_equal(info.client_id, files[i].client_id);
		assert_int_equal(info.n_engines, files[i].n_engines);
		if (info.n_engines)
			assert_memory_equal(&info.engines[files[i].engine], &files[i].value,
					    sizeof(files[i].value));
	}
	watt_root_close(&root);
}

static const struct holding {
	const char *lines;
	int error;
	uint64_t bytes;
} holdings[] = {
	{ "drm-engine-gfx: 5 ns\n", -ENODATA, 0 },
	/* what is there goes before what was asked for, in whatever order */
	{ "drm-total-vram0: 512 MiB\ndrm-resident-vram0: 300 MiB\n", 0, 300ull << 20 },
	{ "drm-resident-vram0: 0\ndrm-total-vram0: 512 MiB\n", 0, 0 },
	{ "drm-memory-vram: 64 KiB\ndrm-memory-gtt: 9 MiB\n", 0, 64 << 10 },
	/* tiles; the card's own, not the machine's */
	{ "drm-resident-local0: 4096\ndrm-resident-local1: 1 KiB\ndrm-resident-system0: 9 MiB\n", 0,
	  5120 },
	/* without any of its own, all of it */
	{ "drm-resident-system: 3 KiB\ndrm-resident-stolen: 1 KiB\n", 0, 4096 },
	/* shared and active are parts of it; cycles are no memory; nonsense is nobody's */
	{ "drm-shared-memory: 7 MiB\ndrm-active-memory: 7 MiB\ndrm-resident-memory: 12\n"
	  "drm-total-cycles-rcs: 88\n",
	  0, 12 },
	{ "drm-resident-vram: 5 GiB\ndrm-total-vram: 18446744073709551615 MiB\n", -ENODATA, 0 },
	{ "drm-resident-vram: -1\ndrm-resident-vram1: 18446744073709551615\n"
	  "drm-resident-vram2: 10\n",
	  0, UINT64_MAX },
};

static void test_holdings(void **state)
{
	struct watt_fdinfo info;
	char text[512];
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(holdings); i++) {
		uint64_t bytes = 0;

		snprintf(text, sizeof(text), "drm-driver: xe\ndrm-client-id: 1\n%s",
			 holdings[i].lines);
		assert_int_equal(watt_fdinfo_parse(text, &info), 0);
		assert_int_equal(watt_fdinfo_memory(&info, &bytes), holdings[i].error);
		assert_int_equal(bytes, holdings[i].bytes);
	}
}

static void test_refused(void **state)
{
	static const struct refused {
		const char *text;
		int error;
	} refused[] = {
		{ "", -ENODATA },
		{ "pos: 0\nflags: 02\n", -ENODATA },
		{ "drm-driver: amdgpu\n", -ENODATA }, /* no client: nothing to tell it by */
		{ "drm-client-id: 1\n", -ENODATA },
		{ "drm-driver:\ndrm-client-id: 1\n", -EBADMSG },
		{ "drm-driver: amdgpu\ndrm-client-id: x\n", -EBADMSG },
		{ "drm-driver: amdgpu\ndrm-client-id: 1\ndrm-pdev: here\n", -EBADMSG },
		{ "drm-driver: amdgpu\ndrm-client-id: 1\ndrm-engine-gfx: 5 us\n", -EBADMSG },
		{ "drm-driver: amdgpu\ndrm-client-id: 1\ndrm-engine-gfx: -5 ns\n", -EBADMSG },
		{ "drm-driver: amdgpu\ndrm-client-id: 1\ndrm-engine-gfx: 99999999999999999999 ns\n",
		  -EBADMSG },
		{ "drm-driver: v3d\ndrm-client-id: 1\ndrm-engine-capacity-bin: 0\n", -EBADMSG },
	};
	struct watt_fdinfo info, before;
	size_t i;

	memset(&info, 0xa5, sizeof(info));
	memcpy(&before, &info, sizeof(info));
	for (i = 0; i < WATT_ARRAY_SIZE(refused); i++)
		assert_int_equal(watt_fdinfo_parse(refused[i].text, &info), refused[i].error);
	assert_memory_equal(&info, &before, sizeof(info));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_amdgpu),      cmocka_unit_test(test_cycles),
		cmocka_unit_test(test_come_and_go), cmocka_unit_test(test_probe),
		cmocka_unit_test(test_each_driver), cmocka_unit_test(test_i915),
		cmocka_unit_test(test_refused),     cmocka_unit_test(test_memory),
		cmocka_unit_test(test_holdings),
	};

	return cmocka_run_group_tests_name("drm", tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* cli/top_gpus.c, on a machine that is made up here */
#include "unit.h"

#include <math.h>

#include "text.h"
#include "top_gpus.h"

#define SECOND_NS 1000000000ull
#define N_DOMAINS 5
#define N_GAUGES 8

struct machine {
	struct watt_domain domain[N_DOMAINS];
	struct watt_domain_state state[N_DOMAINS];
	struct watt_gauge gauge[N_GAUGES];
	const struct watt_domain *domains[N_DOMAINS];
	const struct watt_domain_state *states[N_DOMAINS];
	const struct watt_gauge *gauges[N_GAUGES];
	struct watt_view view;
};

static const struct watt_domain machine_domains[N_DOMAINS] = {
	{ .path = "package-0", .name = "package-0", .kind = WATT_DOMAIN_PACKAGE, .parent = -1 },
	{ .path = "package-0/uncore",
	  .name = "uncore",
	  .kind = WATT_DOMAIN_UNCORE,
	  .key = WATT_KEY_GPU_TIME,
	  .parent = 0 },
	{ .path = "gpu-0000:0d:00_0",
	  .name = "gpu-0000:0d:00_0",
	  .kind = WATT_DOMAIN_GPU,
	  .parent = -1,
	  .uncertainty_ppm = 28868 },
	{ .path = "gpu-0000:0d:00_0/mig-1",
	  .name = "mig-1",
	  .kind = WATT_DOMAIN_GPU_INSTANCE,
	  .parent = 2 },
	{ .path = "gpu-0000:0d:00_0/memory",
	  .name = "memory",
	  .kind = WATT_DOMAIN_RAIL,
	  .parent = 2 },
};

static const struct watt_gauge machine_gauges[N_GAUGES] = {
	{ .name = "nvml/gpu-0000:0d:00_0/load",
	  .label = "NVIDIA H100 load",
	  .quantity = WATT_QUANTITY_RATIO,
	  .mean = 0.84 },
	{ .name = "nvml/gpu-0000:0d:00_0/memory_used", .mean = 3.0 * 1024 * 1024 * 1024 },
	{ .name = "nvml/gpu-0000:0d:00_0/temperature", .value = NAN, .mean = NAN },
	/* read before the window began */
	{ .name = "nvml/gpu-0000:0d:00_0/clock", .value = 1.75e9, .mean = NAN },
	{ .name = "nvml/gpu-0000:0d:00_0/power_limit", .mean = 700 },
	{ .name = "nvml/gpu-0000:0d:00_0/held_by_heat", .mean = 0.25 },
	{ .name = "context/cpu-thermal/temperature", .mean = 50 },
	{ .name = "nvml/gpu-0000:0d:00_0/mig-1/load", .label = "mig-1 load", .mean = 0.5 },
};

static void machine_init(struct machine *m)
{
	static const int64_t window_nj[N_DOMAINS] = { 20, 5, 300, 100, 40 };
	size_t i;

	*m = (struct machine){ 0 };
	memcpy(m->domain, machine_domains, sizeof(m->domain));
	memcpy(m->gauge, machine_gauges, sizeof(m->gauge));
	for (i = 0; i < N_DOMAINS; i++) {
		m->state[i] = (struct watt_domain_state){ .status = WATT_STATUS_OK,
							  .window_ns = SECOND_NS,
							  .window_nj = window_nj[i] * 1000000000 };
		m->domains[i] = &m->domain[i];
		m->states[i] = &m->state[i];
	}
	for (i = 0; i < N_GAUGES; i++)
		m->gauges[i] = &m->gauge[i];
	m->view = (struct watt_view){ .domains = m->domains,
				      .n_domains = N_DOMAINS,
				      .states = m->states,
				      .gauges = m->gauges,
				      .n_gauges = N_GAUGES,
				      .window_ns = SECOND_NS };
}

/* A card with its instance below it, and the graphics of a CPU; a card's memory is no GPU. */
static void test_found(void **state)
{
	struct top_gpus gpus;
	struct machine m;
	size_t i;

	machine_init(&m);
	top_gpus_find(&gpus, &m.view);
	assert_int_equal(gpus.n, 3);
	assert_int_equal(gpus.gpu[0].domain, 1);
	assert_int_equal(gpus.gpu[1].domain, 2);
	assert_int_equal(gpus.gpu[2].domain, 3);
	assert_false(gpus.gpu[0].is_part);
	assert_false(gpus.gpu[1].is_part);
	assert_true(gpus.gpu[2].is_part);
	assert_string_equal(gpus.gpu[1].model, "NVIDIA H100");
	assert_true(gpus.gpu[1].load == 0.84 && gpus.gpu[2].load == 0.5);
	assert_true(isnan(gpus.gpu[0].load));
	assert_true(gpus.gpu[1].is_held_by_heat && !gpus.gpu[1].is_held_by_power);
	for (i = 0; i < N_GAUGES; i++)
		assert_int_equal(top_gpus_has_gauge(&gpus, &m.view, m.gauges[i]), i != 6);
	/* of a card, whether it is told who uses it */
	assert_null(top_gpus_untold(&gpus.gpu[1], &m.view));
	for (i = 0; i < N_DOMAINS; i++)
		m.state[i].users_status = WATT_STATUS_FORBIDDEN;
	assert_non_null(strstr(top_gpus_untold(&gpus.gpu[1], &m.view), "namespace"));
	assert_null(top_gpus_untold(&gpus.gpu[2], &m.view));
	/* nothing of it where there is none: uncore that nobody divides by the GPU is no GPU here */
	m.domain[1].key = WATT_KEY_CPU_TIME;
	m.view.n_domains = 2;
	top_gpus_find(&gpus, &m.view);
	assert_int_equal(gpus.n, 0);
}

static void test_lines(void **state)
{
	char line[TOP_GPUS_LINE];
	struct top_gpus gpus;
	struct machine m;
	size_t i, width;

	machine_init(&m);
	top_gpus_find(&gpus, &m.view);
	assert_string_equal(
		top_gpus_titles(&gpus, 80, line),
		"GPU                 POWER    LIMIT   LOAD    MEMORY   TEMP    CLOCK HELD BY");
	assert_string_equal(
		top_gpus_line(&gpus, 1, &m.view, 80, line),
		"gpu-0000:0d:00_0    300 W    700 W   84 %  3.00 GiB      - 1.75 GHz heat");
	assert_string_equal(top_gpus_line(&gpus, 2, &m.view, 80, line),
			    "  mig-1             100 W        -   50 %         -      -        -");
	assert_non_null(strstr(top_gpus_line(&gpus, 1, &m.view, 0, line), "NVIDIA H100"));
	/* what is not known is said, and no 0 */
	m.state[2].window_ns = 0;
	m.state[2].status = WATT_STATUS_STALE;
	top_gpus_find(&gpus, &m.view);
	assert_int_equal(strncmp(top_gpus_line(&gpus, 1, &m.view, 80, line),
				 "gpu-0000:0d:00_0    stale", 25),
			 0);
	for (width = 1; width < 200; width++)
		for (i = 0; i < gpus.n; i++)
			assert_true(text_width(top_gpus_line(&gpus, i, &m.view, width, line)) <=
				    width);
}

/* Most first, nobody last; threads are in their process. */
static void test_users(void **state)
{
	double w[4][N_DOMAINS] = { { 0, 0, 60 }, { 0, 0, 210 }, { 0, 0, 30 }, { 9, 0, 0 } };
	struct top_row rows[] = {
		{ .kind = WATT_ENTITY_UNATTRIBUTED,
		  .name = (char *)"unattributed",
		  .domain_w = w[0] },
		{ .id = 1, .pid = 42, .name = (char *)"train\xc3\xa9", .domain_w = w[1] },
		{ .id = 2,
		  .pid = 43,
		  .process_id = 1,
		  .name = (char *)"{worker}",
		  .domain_w = w[1] },
		{ .id = 3, .pid = 44, .name = (char *)"serve", .domain_w = w[2] },
		{ .id = 4, .pid = 45, .name = (char *)"cc1", .domain_w = w[3] },
	};
	struct top_model model = { .rows = rows, .n_rows = 5 };
	struct top_gpu gpu = { .domain = 2, .power_w = 300 };
	char line[TOP_GPUS_LINE];
	size_t users[5], width;

	assert_int_equal(top_gpus_users(&gpu, &model, users), 3);
	assert_int_equal(users[0], 1);
	assert_int_equal(users[1], 3);
	assert_int_equal(users[2], 0);
	text_set_utf8(true);
	top_gpus_bar(&gpu, &rows[1], 80, line);
	assert_int_equal(strncmp(line, "       42 train\xc3\xa9   ", 19), 0);
	/* 70 % of 26 columns are 18 and a fifth */
	assert_non_null(strstr(line,
			       " \u2588\u2588\u2588\u2588\u2588\u2588\u2588\u2588\u2588"
			       "\u2588\u2588\u2588\u2588\u2588\u2588\u2588\u2588\u2588\u258e "));
	assert_non_null(strstr(line, "  70 %    210 W"));
	for (width = 1; width < 200; width++)
		assert_true(text_width(top_gpus_bar(&gpu, &rows[1], width, line)) <= width);
	text_set_utf8(false);
	top_gpus_bar(&gpu, &rows[3], 80, line);
	assert_non_null(strstr(line, " ###  "));
	assert_non_null(strstr(line, "10 %"));
	text_set_utf8(true);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_found),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_users),
	};

	return cmocka_run_group_tests_name("top_gpus", tests, NULL, NULL);
}

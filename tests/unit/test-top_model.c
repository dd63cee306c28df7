/* SPDX-License-Identifier: Apache-2.0 */
/* cli/top_model.c, top_tree.c, balance.c and view.c, on a machine that is made up here */
#include "unit.h"

#include <math.h>

#include <wattribute/balance.h>

#include "text.h"
#include "top_columns.h"
#include "top_header.h"
#include "totals.h"
#include "top_model.h"

#define SECOND_NS 1000000000ULL

/* Two domains of the partition, and one that lies inside the first. */
enum {
	PACKAGE,
	CORE,
	DRAM,
	N_DOMAINS
};

struct machine {
	struct watt_domain domain[N_DOMAINS];
	struct watt_domain_state state[N_DOMAINS];
	struct watt_row row[16];
	struct watt_entity entity[16];
	struct watt_identity who[16];
	struct watt_energy energy[16][N_DOMAINS];
	int64_t window_nj[16][N_DOMAINS];
	double uncertainty_j[16][N_DOMAINS];
	const struct watt_domain *domains[N_DOMAINS];
	const struct watt_domain_state *states[N_DOMAINS];
	const struct watt_row *rows[16];
	struct watt_quality quality;
	struct watt_view view;
	size_t n;
};

static struct watt_row *add(struct machine *m, enum watt_entity_kind kind, const char *name,
			    uint32_t pid, uint32_t parent_pid, int64_t energy_nj)
{
	size_t i = m->n++, d;
	struct watt_row *row = &m->row[i];

	m->who[i] = (struct watt_identity){ .pid = pid, .parent_pid = parent_pid, .uid = 1000 };
	m->entity[i] = (struct watt_entity){ .id = 100 + i,
					     .kind = kind,
					     .count = 1,
					     .alive = 1,
					     .name = name,
					     .identity = pid ? &m->who[i] : NULL };
	row->entity = &m->entity[i];
	for (d = 0; d < N_DOMAINS; d++) {
		int64_t used_nj = d == DRAM ? energy_nj / 10 : energy_nj;

		m->energy[i][d] = watt_energy_from_nj(used_nj);
		m->window_nj[i][d] = used_nj / 2;
		m->uncertainty_j[i][d] = NAN; /* as CPU time has it */
		if (kind == WATT_ENTITY_PROCESS || kind == WATT_ENTITY_KTHREAD ||
		    kind == WATT_ENTITY_EXITED || kind == WATT_ENTITY_IRQ) {
			m->state[d].energy = watt_energy_add(m->state[d].energy, m->energy[i][d]);
			m->state[d].window_nj += m->window_nj[i][d];
		}
	}
	row->energy = m->energy[i];
	row->window_nj = m->window_nj[i];
	row->window_uncertainty_j = m->uncertainty_j[i];
	row->cpu_ns = (uint64_t)energy_nj;
	row->window_cpu_ns = (uint64_t)energy_nj / 2;
	m->rows[i] = row;
	m->view.n_rows = m->n;
	return row;
}

static void init(struct machine *m)
{
	static const char *const paths[] = { "package-0", "package-0/core", "dram-0" };
	size_t d;

	*m = (struct machine){ 0 };
	for (d = 0; d < N_DOMAINS; d++) {
		m->domain[d] = (struct watt_domain){ .path = paths[d],
						     .name = paths[d],
						     .key = WATT_KEY_CPU_TIME,
						     .parent = -1,
						     .is_partition = d != CORE };
		m->state[d] = (struct watt_domain_state){ .window_ns = SECOND_NS, .is_usable = 1 };
		m->state[d].idle = watt_energy_from_nj(3000);
		m->state[d].window_idle_nj = 1000;
		m->state[d].unattributed = watt_energy_from_nj(70);
		m->state[d].window_unattributed_nj = 30;
		m->state[d].energy = watt_energy_from_nj(3070);
		m->state[d].window_nj = 1030;
		m->domains[d] = &m->domain[d];
		m->states[d] = &m->state[d];
		m->state[d].key = WATT_KEY_CPU_TIME;
	}
	m->view = (struct watt_view){ .domains = m->domains,
				      .states = m->states,
				      .rows = m->rows,
				      .n_domains = N_DOMAINS,
				      .quality = &m->quality,
				      .window_ns = SECOND_NS };
	add(m, WATT_ENTITY_PROCESS, "init", 1, 0, 1000);
	add(m, WATT_ENTITY_PROCESS, "shell", 10, 1, 2000);
	add(m, WATT_ENTITY_PROCESS, "make", 11, 10, 4000);
	add(m, WATT_ENTITY_PROCESS, "web", 20, 1, 5000);
	add(m, WATT_ENTITY_KTHREAD, "kworker", 30, 2, 300);
	add(m, WATT_ENTITY_IRQ, "irq", 0, 0, 10);
	add(m, WATT_ENTITY_EXITED, "cc", 0, 0, 700);
	m->entity[m->n - 1].count = 12;
	add(m, WATT_ENTITY_CONTAINER, "web-1", 0, 0, 5000);
	add(m, WATT_ENTITY_USER, "anna", 0, 0, 11700);
	add(m, WATT_ENTITY_USER, "root", 0, 0, 1000);
	add(m, WATT_ENTITY_CGROUP, "/", 0, 0, 13000);
}

static const struct top_row *find(const struct top_model *model, const char *name)
{
	size_t i;

	for (i = 0; i < model->n_rows; i++)
		if (strcmp(model->rows[i].name, name) == 0)
			return &model->rows[i];
	return NULL;
}

static void test_every_grouping_is_complete(void **state)
{
	struct top_model model = { 0 };
	struct machine m;
	int group;

	init(&m);
	for (group = 0; group < TOP_N_GROUPS; group++) {
		size_t i;

		model.group = (enum top_group)group;
		top_model_build(&model, &m.view);
		assert_int_equal(watt_energy_to_nj(model.shown),
				 watt_energy_to_nj(m.state[PACKAGE].energy) +
					 watt_energy_to_nj(m.state[DRAM].energy));
		/* nJ per ns are watts. */
		assert_true(fabs(model.shown_w -
				 (double)(m.state[PACKAGE].window_nj + m.state[DRAM].window_nj) /
					 1e9) < 1e-12);
		for (i = 0; i < model.n_rows; i++)
			assert_true(watt_energy_to_nj(model.rows[i].energy) >= 0);
	}
	top_model_done(&model);
}

static void test_groups(void **state)
{
	struct top_model model = { .group = TOP_BY_CONTAINER };
	struct machine m;

	init(&m);
	top_model_build(&model, &m.view);
	assert_int_equal(model.n_rows, 5);
	assert_int_equal(watt_energy_to_nj(find(&model, "web-1")->energy), 5500);
	assert_int_equal(watt_energy_to_nj(find(&model, "kernel")->energy), 341);
	assert_int_equal(watt_energy_to_nj(find(&model, "in no container")->energy), 7700 + 770);
	assert_true(find(&model, "in no container")->is_rest);
	assert_int_equal(watt_energy_to_nj(find(&model, "idle")->energy), 6000);
	assert_int_equal(watt_energy_to_nj(find(&model, "unattributed")->energy), 140);
	/* All processes have a user: there is no rest. */
	model.group = TOP_BY_USER;
	top_model_build(&model, &m.view);
	assert_null(find(&model, "in no user"));
	assert_non_null(find(&model, "anna"));
	/* Kernel threads are in cgroups; interrupts are not. */
	model.group = TOP_BY_CGROUP;
	top_model_build(&model, &m.view);
	assert_null(find(&model, "kernel"));
	assert_int_equal(watt_energy_to_nj(find(&model, "in no cgroup")->energy), 11);
	top_model_done(&model);
}

static void assert_order(const struct top_model *model, const char *const *names)
{
	size_t i;

	for (i = 0; names[i]; i++) {
		assert_true(i < model->n_rows);
		assert_string_equal(model->rows[i].name, names[i]);
	}
}

static void test_sort(void **state)
{
	struct top_model model = { .filter = "e" };
	struct machine m;

	init(&m);
	top_model_build(&model, &m.view);
	assert_order(&model, (const char *const[]){ "web", "make", "idle", "shell", "cc (12 ended)",
						    "[kworker]", NULL });
	model.is_reversed = true;
	top_model_build(&model, &m.view);
	assert_string_equal(model.rows[model.n_rows - 1].name, "web");
	model.is_reversed = false;
	model.sort = TOP_SORT_NAME;
	top_model_build(&model, &m.view);
	assert_order(&model, (const char *const[]){ "[kworker]", "cc (12 ended)", "idle", NULL });
	model.sort = TOP_SORT_PID;
	strcpy(model.filter, "");
	top_model_build(&model, &m.view);
	assert_int_equal(model.rows[model.n_rows - 1].pid, 30);
	top_model_done(&model);
}

static void test_filter(void **state)
{
	struct top_model model = { .filter = "SHELL" };
	struct machine m;

	init(&m);
	top_model_build(&model, &m.view);
	assert_int_equal(model.n_rows, 1);
	assert_int_equal(model.n_hidden, 8);
	assert_int_equal(watt_energy_to_nj(model.shown), 2200);
	strcpy(model.filter, "20");
	top_model_build(&model, &m.view);
	assert_int_equal(model.n_rows, 1);
	assert_string_equal(model.rows[0].name, "web");
	strcpy(model.filter, "nothing like it");
	top_model_build(&model, &m.view);
	assert_int_equal(model.n_rows, 0);
	assert_int_equal(watt_energy_to_nj(model.shown), 0);
	top_model_done(&model);
}

static void test_tree(void **state)
{
	struct top_model model = { .group = TOP_BY_TREE };
	struct machine m;

	text_set_utf8(false);
	init(&m);
	top_model_build(&model, &m.view);
	assert_order(&model, (const char *const[]){ "init", "shell", "make", "web", "idle", NULL });
	assert_string_equal(model.rows[0].stem, "");
	assert_string_equal(model.rows[1].stem, "|-");
	assert_string_equal(model.rows[2].stem, "| `-");
	assert_string_equal(model.rows[3].stem, "`-");
	assert_int_equal(watt_energy_to_nj(model.rows[0].energy), 1100);
	assert_int_equal(watt_energy_to_nj(model.rows[0].tree), 13200);
	assert_int_equal(watt_energy_to_nj(model.rows[1].tree), 6600);
	top_model_done(&model);
}

/* Pids are used again: a parent that is its own descendant must not hang anybody. */
static void test_tree_with_a_circle(void **state)
{
	struct top_model model = { .group = TOP_BY_TREE };
	struct machine m;

	init(&m);
	m.who[0].parent_pid = 11;
	m.who[3].parent_pid = 20;
	top_model_build(&model, &m.view);
	assert_int_equal(model.n_rows, 9);
	assert_int_equal(watt_energy_to_nj(model.shown),
			 watt_energy_to_nj(m.state[PACKAGE].energy) +
				 watt_energy_to_nj(m.state[DRAM].energy));
	top_model_done(&model);
}

static void test_names_are_harmless(void **state)
{
	struct top_model model = { 0 };
	struct machine m;

	text_set_utf8(false);
	init(&m);
	m.who[0].cmdline = "/usr/bin/evil \033[31m\n--x";
	m.entity[1].name = "a\nb";
	top_model_build(&model, &m.view);
	assert_non_null(find(&model, "evil ?[31m?--x"));
	assert_non_null(find(&model, "a?b"));
	top_model_done(&model);
}

static void test_missing_power(void **state)
{
	struct top_model model = { 0 };
	struct machine m;

	init(&m);
	/* One domain has nothing new in this window: the other still counts. */
	m.state[DRAM].window_ns = 0;
	top_model_build(&model, &m.view);
	assert_true(isnan(find(&model, "web")->domain_w[DRAM]));
	assert_true(find(&model, "web")->power_w == 2500 / 1e9);
	m.state[PACKAGE].status = WATT_STATUS_NODATA;
	top_model_build(&model, &m.view);
	assert_true(isnan(find(&model, "web")->power_w));
	assert_int_equal(watt_energy_to_nj(find(&model, "web")->energy), 5500);
	top_model_done(&model);
}

static void test_balance(void **state)
{
	struct watt_balance balance = { .sz = sizeof(balance) };
	struct machine m;

	init(&m);
	m.domain[DRAM].origin = WATT_ORIGIN_ESTIMATED;
	m.domain[DRAM].uncertainty_ppm = 400000;
	m.state[PACKAGE].baseline_ready = 1;
	watt_balance_draw(&m.view, &balance);
	assert_true(balance.is_known && balance.has_power && balance.is_exact);
	assert_int_equal(watt_energy_to_nj(balance.energy),
			 watt_energy_to_nj(balance.attributed) + watt_energy_to_nj(balance.idle) +
				 watt_energy_to_nj(balance.unattributed));
	assert_int_equal(watt_energy_to_nj(balance.idle), 6000);
	assert_int_equal(balance.origin, WATT_ORIGIN_ESTIMATED);
	assert_int_equal(balance.uncertainty_ppm, 400000);
	assert_string_equal(balance.keys, "cpu_time");
	assert_false(balance.is_baseline_ready);
	m.state[DRAM].key = WATT_KEY_NONE;
	watt_balance_draw(&m.view, &balance);
	assert_true(balance.is_baseline_ready);
	assert_string_equal(balance.keys, "cpu_time, none");
	/* The attributed part is summed on its own: a lost row is seen. */
	m.view.rows[3] = m.view.rows[7];
	watt_balance_draw(&m.view, &balance);
	assert_false(balance.is_exact);
}

/* Since the session began, whatever the window is. */
static void test_mean_power(void **state)
{
	struct watt_balance balance = { .sz = sizeof(balance) };
	struct machine m;

	init(&m);
	m.view.start_ns = 1000000000;
	m.view.t_ns = 3500000000;
	watt_balance_draw(&m.view, &balance);
	assert_true(watt_energy_to_j(balance.energy) > 0);
	assert_true(fabs(balance.mean_w * 2.5 - watt_energy_to_j(balance.energy)) < 1e-12);
	m.view.t_ns = m.view.start_ns;
	watt_balance_draw(&m.view, &balance);
	assert_true(isnan(balance.mean_w));
}

/* A battery sees all of the machine, of which the package is a part. */
static void test_measured_from_outside(void **state)
{
	struct watt_balance balance = { .sz = sizeof(balance) };
	struct machine m;
	char line[256];

	init(&m);
	watt_balance_draw(&m.view, &balance);
	assert_false(balance.has_outside);
	assert_string_equal(balance.outside, "");
	m.domain[CORE].kind = WATT_DOMAIN_SUPPLY;
	m.domain[CORE].path = "supply-bat0";
	m.state[CORE].window_nj = 28800000000;
	m.domain[DRAM].origin = WATT_ORIGIN_ESTIMATED;
	m.domain[DRAM].uncertainty_ppm = 600000;
	balance = (struct watt_balance){ .sz = sizeof(balance) };
	watt_balance_draw(&m.view, &balance);
	assert_true(balance.has_outside);
	assert_true(fabs(balance.outside_w - 28.8) < 1e-9);
	assert_string_equal(balance.outside, "supply-bat0");
	top_header_power(&balance, line, sizeof(line));
	assert_non_null(strstr(line, "28.8 W measured (supply-bat0), "));
	assert_non_null(strstr(line, " of it estimated "));
	/* It charges, or tells less than what is inside: it is not all of the machine. */
	m.state[CORE].window_nj = -28800000000;
	balance = (struct watt_balance){ .sz = sizeof(balance) };
	watt_balance_draw(&m.view, &balance);
	assert_false(balance.has_outside);
	m.state[CORE].window_nj = 1;
	balance = (struct watt_balance){ .sz = sizeof(balance) };
	watt_balance_draw(&m.view, &balance);
	assert_false(balance.has_outside);
	assert_true(balance.outside_w == 0);
	/* Beside another inside than the view's. */
	m.state[CORE].window_nj = 28800000000;
	assert_int_equal(watt_balance_look_outside(&m.view, 10, &balance), 0);
	assert_true(balance.has_outside && fabs(balance.outside_w - 28.8) < 1e-9);
	assert_string_equal(balance.outside, "supply-bat0");
	watt_balance_look_outside(&m.view, 30, &balance);
	assert_false(balance.has_outside);
	assert_int_equal(watt_balance_look_outside(NULL, 30, &balance), -EINVAL);
	/* What is a part of the sum is not told a second time. */
	m.state[CORE].window_nj = 28800000000;
	m.domain[CORE].is_partition = 1;
	balance = (struct watt_balance){ .sz = sizeof(balance) };
	watt_balance_draw(&m.view, &balance);
	assert_false(balance.has_outside);
}

/* What is in a column; NULL: there is no such column. */
static void check_cell(struct top_model *model, const struct watt_view *view,
		       enum top_column_kind kind, const char *who, const char *expected)
{
	struct top_columns columns = { 0 };
	char cell[TOP_CELL_SIZE];
	size_t i;

	top_columns_choose(&columns, model, view, false, 0);
	for (i = 0; i < columns.n && columns.column[i].kind != kind; i++)
		;
	assert_int_equal(i < columns.n, expected != NULL);
	if (expected)
		assert_string_equal(top_columns_cell(&columns, i, find(model, who), cell),
				    expected);
}

static void check_watts(struct top_model *model, const struct watt_view *view, const char *who,
			const char *expected)
{
	check_cell(model, view, TOP_COLUMN_POWER, who, expected);
}

/* The column is there where a key tells; domains know nothing of each other. */
static void test_uncertainty(void **state)
{
	static const double idle_j[N_DOMAINS] = { [PACKAGE] = 2, [DRAM] = 3 };
	struct top_columns columns = { 0 };
	struct top_model model = { 0 };
	struct machine m;
	size_t i;

	init(&m);
	m.n = 0;
	add(&m, WATT_ENTITY_PROCESS, "web", 20, 1, 8000000000);
	add(&m, WATT_ENTITY_PROCESS, "db", 21, 1, 8000000000);
	top_model_build(&model, &m.view);
	check_cell(&model, &m.view, TOP_COLUMN_UNCERTAINTY, "web", NULL);
	m.uncertainty_j[0][PACKAGE] = 3;
	m.uncertainty_j[0][DRAM] = 4;
	m.uncertainty_j[0][CORE] = 100; /* of which the package is the sum */
	m.uncertainty_j[1][PACKAGE] = 3;
	top_model_build(&model, &m.view);
	model.decimals_w = 2;
	check_cell(&model, &m.view, TOP_COLUMN_UNCERTAINTY, "web", "5.00");
	check_cell(&model, &m.view, TOP_COLUMN_UNCERTAINTY, "db", "-");
	check_cell(&model, &m.view, TOP_COLUMN_UNCERTAINTY, "idle", "");
	/* what comes of idle power has one sign in both: (9 - 4 + 16 - 9 + (2 + 3)^2)^(1/2) */
	m.row[0].window_idle_uncertainty_j = idle_j;
	top_model_build(&model, &m.view);
	model.decimals_w = 2;
	check_cell(&model, &m.view, TOP_COLUMN_UNCERTAINTY, "web", "6.08");
	/* and where a name has room beside it */
	top_columns_choose(&columns, &model, &m.view, false, 60);
	for (i = 0; i < columns.n; i++)
		assert_int_not_equal(columns.column[i].kind, TOP_COLUMN_UNCERTAINTY);
	top_model_done(&model);
}

/* Where nothing tells who used anything, nobody is said to have used 0. */
static void test_nothing_to_share_by(void **state)
{
	struct watt_balance balance = { .sz = sizeof(balance) };
	struct top_model model = { 0 };
	struct machine m;
	char line[256];
	size_t d;

	init(&m);
	for (d = 0; d < N_DOMAINS; d++)
		m.state[d].window_nj = m.state[d].window_unattributed_nj = 41000000000;
	m.n = 0;
	add(&m, WATT_ENTITY_PROCESS, "web", 20, 1, 0);
	top_model_build(&model, &m.view);
	check_watts(&model, &m.view, "web", "0.00");
	m.state[PACKAGE].key = m.state[DRAM].key = WATT_KEY_NONE;
	check_watts(&model, &m.view, "web", "-");
	watt_balance_draw(&m.view, &balance);
	top_header_watts(&balance, line, sizeof(line));
	assert_null(strstr(line, "attributed 0"));
	assert_non_null(strstr(line, ": nothing tells who used it"));
	top_header_trust(&balance, &m.quality, "procfs", NULL, line, sizeof(line));
	assert_non_null(strstr(line, "shared by nothing, "));
	/* one of them is shared: what somebody did not use of it is known */
	m.state[DRAM].key = WATT_KEY_CPU_TIME;
	check_watts(&model, &m.view, "web", "0.00");
	top_model_done(&model);
}

/* The whole machine, its parts and what is left; in words where one of them is not known. */
static void test_line_of_the_node(void **state)
{
	static const char *const paths[] = { "node", "package-0", "node/residual" };
	static const int64_t watts[] = { 321, 120, 201 };
	struct machine m;
	char line[256];
	size_t d;

	init(&m);
	assert_string_equal(top_header_node(&m.view, line, sizeof(line)), "");
	for (d = 0; d < N_DOMAINS; d++) {
		m.domain[d].path = paths[d];
		m.state[d].window_nj = watts[d] * 1000000000;
	}
	assert_string_equal(top_header_node(&m.view, line, sizeof(line)), "");
	m.domain[1].parent = m.domain[2].parent = 0;
	m.domain[2].kind = WATT_DOMAIN_RESIDUAL;
	assert_string_equal(top_header_node(&m.view, line, sizeof(line)),
			    "node 321 W: package-0 120 W, residual 201 W");
	/* What is known up to a while ago says so, and what it is known by. */
	m.view.t_ns = 60000000000;
	m.state[0].t_ns = 59500000000;
	assert_string_equal(top_header_node(&m.view, line, sizeof(line)),
			    "node 321 W: package-0 120 W, residual 201 W");
	m.state[0].t_ns = 54900000000;
	m.state[0].found_delay_ns = 2500000000;
	m.state[0].found_delay_uncertainty_ns = 100000000;
	top_header_node(&m.view, line, sizeof(line));
	assert_non_null(strstr(line, "node 321 W until 5.1 s ago, by values 2.5 s old "));
	m.state[0].t_ns = m.state[0].found_delay_uncertainty_ns = 0;
	m.state[0].window_ns = 0;
	m.state[0].status = WATT_STATUS_PENDING;
	m.state[2].is_usable = 0;
	assert_string_equal(top_header_node(&m.view, line, sizeof(line)),
			    "node pending: package-0 120 W, "
			    "residual none, the parts are more than the total");
	/* and it is cut to size */
	assert_string_equal(top_header_node(&m.view, line, 8), "node pe");
}

/* Supplies add up; one that does not answer is named, and one that is off is not. */
static void test_supplies_add_up(void **state)
{
	struct watt_balance balance = { .sz = sizeof(balance) };
	struct machine m;

	init(&m);
	m.domain[CORE].kind = m.domain[DRAM].kind = WATT_DOMAIN_SUPPLY;
	m.domain[DRAM].is_partition = 0;
	m.domain[CORE].path = "supply-5-0058";
	m.domain[DRAM].path = "supply-5-0059";
	m.state[CORE].window_nj = 20000000000;
	m.state[DRAM].window_nj = 22000000000;
	watt_balance_draw(&m.view, &balance);
	assert_true(balance.has_outside);
	assert_true(fabs(balance.outside_w - 42) < 1e-9);
	assert_string_equal(balance.outside, "supply-5-0058, supply-5-0059");
	m.state[DRAM].status = WATT_STATUS_BROKEN;
	watt_balance_draw(&m.view, &balance);
	assert_true(fabs(balance.outside_w - 20) < 1e-9);
	assert_string_equal(balance.outside, "supply-5-0058, without supply-5-0059");
	m.state[DRAM].status = WATT_STATUS_NODATA;
	watt_balance_draw(&m.view, &balance);
	assert_string_equal(balance.outside, "supply-5-0058");
	m.state[CORE].status = m.state[DRAM].status = WATT_STATUS_STALE;
	watt_balance_draw(&m.view, &balance);
	assert_false(balance.has_outside);
	assert_string_equal(balance.outside, "");
	/* What comes out of one lies in it: it is not added once more. */
	m.state[CORE].status = m.state[DRAM].status = WATT_STATUS_OK;
	m.domain[DRAM].parent = CORE;
	watt_balance_draw(&m.view, &balance);
	assert_true(fabs(balance.outside_w - 20) < 1e-9);
}

/* A sum that lacks something says so, and is no less for it. */
static void test_incomplete(void **state)
{
	struct watt_balance balance = { .sz = sizeof(balance) };
	struct machine m;
	char text[192];

	init(&m);
	watt_balance_draw(&m.view, &balance);
	assert_string_equal(totals_missing_text(&balance, text, sizeof(text)), "");
	m.state[DRAM].energy = (struct watt_energy){ 0 };
	m.state[DRAM].status = WATT_STATUS_PENDING;
	watt_balance_draw(&m.view, &balance);
	assert_string_equal(balance.missing, "");
	m.state[DRAM].status = WATT_STATUS_BROKEN;
	watt_balance_draw(&m.view, &balance);
	assert_true(balance.is_known);
	assert_string_equal(totals_missing_text(&balance, text, sizeof(text)),
			    "incomplete: no energy of dram-0 is known");
	m.domain[DRAM].path =
		"a-path-that-is-so-long-that-what-follows-it-has-no-room-at-all-in-the"
		"-list-of-what-is-missing-and-is-not-even-there-itself-for-that";
	watt_balance_draw(&m.view, &balance);
	assert_string_equal(balance.missing, "...");
	m.domain[DRAM].is_partition = 0;
	watt_balance_draw(&m.view, &balance);
	assert_string_equal(balance.missing, "");
}

static void test_balance_of_nothing(void **state)
{
	struct watt_view view = { 0 };
	struct watt_balance balance = { .sz = sizeof(balance) };

	watt_balance_draw(&view, &balance);
	assert_false(balance.is_known);
	assert_false(balance.has_power);
	assert_false(balance.is_baseline_ready);
}

static void test_names_of_settings(void **state)
{
	assert_int_equal(top_group_of("unit"), TOP_BY_UNIT);
	assert_int_equal(top_group_of("units"), -1);
	assert_string_equal(top_group_name(TOP_BY_TREE), "tree");
	assert_null(top_group_name(TOP_N_GROUPS));
	assert_int_equal(top_sort_of("cpu"), TOP_SORT_CPU);
	assert_int_equal(top_sort_of(""), -1);
	assert_null(top_sort_name(TOP_N_SORTS));
}

static struct watt_row *add_thread(struct machine *m, uint64_t process_id, uint32_t tid,
				   const char *name, int64_t energy_nj)
{
	struct watt_row *row = add(m, WATT_ENTITY_THREAD, name, 10, 0, energy_nj);

	m->who[m->n - 1].tid = tid;
	m->entity[m->n - 1].parent_id = process_id;
	return row;
}

static const char *const with_threads[] = { "web", "{worker}", "{web}", "make", "shell" };

/* Below their processes, sorted as these are, and not counted twice. */
static void test_threads(void **state)
{
	struct top_model model = { .sort = TOP_SORT_ENERGY };
	struct machine m;
	struct watt_energy shown;
	size_t i, n = 0;

	init(&m);
	add_thread(&m, 103, 20, "web", 2000);
	add_thread(&m, 103, 21, "worker", 3000);
	add_thread(&m, 102, 11, "make", 4000); /* the only one: it is the process */
	top_model_build(&model, &m.view);
	assert_null(find(&model, "{worker}"));
	shown = model.shown;
	model.has_threads = true;
	top_model_build(&model, &m.view);
	assert_int_equal(watt_energy_compare(model.shown, shown), 0);
	assert_null(find(&model, "{make}"));
	assert_int_equal(find(&model, "{worker}")->pid, 21);
	for (i = 0; i < model.n_rows && n < 5; i++)
		if (!strcmp(model.rows[i].name, with_threads[n]))
			n++;
	assert_int_equal(n, 5);
	assert_string_equal(find(&model, "{worker}")->stem, text_is_utf8() ? "├─" : "|-");
	assert_string_equal(find(&model, "{web}")->stem, text_is_utf8() ? "└─" : "`-");
	/* what is filtered out takes its threads along, and a thread is found by its name */
	snprintf(model.filter, sizeof(model.filter), "web");
	top_model_build(&model, &m.view);
	assert_int_equal(model.n_rows, 3);
	assert_int_equal(watt_energy_to_nj(model.shown), 5500);
	snprintf(model.filter, sizeof(model.filter), "worker");
	top_model_build(&model, &m.view);
	assert_non_null(find(&model, "{worker}"));
	assert_null(find(&model, "web"));
	assert_int_equal(watt_energy_to_nj(find(&model, "{worker}")->energy), 3300);
	model.filter[0] = '\0';
	/* in the tree, children come behind the threads */
	model.group = TOP_BY_TREE;
	top_model_build(&model, &m.view);
	assert_string_equal(find(&model, "{web}")->stem, text_is_utf8() ? "  └─" : "  `-");
	assert_int_equal(watt_energy_compare(model.shown, shown), 0);
	model.group = TOP_BY_CONTAINER;
	top_model_build(&model, &m.view);
	assert_null(find(&model, "{worker}"));
	top_model_done(&model);
	(void)state;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_grouping_is_complete),
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_sort),
		cmocka_unit_test(test_filter),
		cmocka_unit_test(test_tree),
		cmocka_unit_test(test_tree_with_a_circle),
		cmocka_unit_test(test_names_are_harmless),
		cmocka_unit_test(test_missing_power),
		cmocka_unit_test(test_balance),
		cmocka_unit_test(test_mean_power),
		cmocka_unit_test(test_measured_from_outside),
		cmocka_unit_test(test_line_of_the_node),
		cmocka_unit_test(test_supplies_add_up),
		cmocka_unit_test(test_nothing_to_share_by),
		cmocka_unit_test(test_uncertainty),
		cmocka_unit_test(test_incomplete),
		cmocka_unit_test(test_balance_of_nothing),
		cmocka_unit_test(test_names_of_settings),
		cmocka_unit_test(test_threads),
	};

	return cmocka_run_group_tests_name("top-model", tests, NULL, NULL);
}

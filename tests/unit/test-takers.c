/* SPDX-License-Identifier: Apache-2.0 */
/* agent/takers.c on machines made up here: sums, who is told of, and what is forgotten. */
#include "unit.h"

#include <math.h>

#include "counted.h"
#include "takers.h"

static const struct roster_opts opts = {
	.levels = 1 << LEVEL_PROCESS | 1 << LEVEL_CONTAINER,
	.top = 2 * TAKERS_MOST,
	.keep_ns = 3 * S,
	.own_pid = 4000000,
};

/* A machine, and the hour that it is told of. */
struct hour {
	struct machine machine;
	struct roster roster;
	struct history history;
	struct takers takers;
	float powers_w[N_DOMAINS]; /* of the step that ends */
};

static struct hour *new_hour(void)
{
	struct hour *hour = calloc(1, sizeof(*hour));

	assert_non_null(hour);
	machine_init(&hour->machine);
	roster_init(&hour->roster, &opts);
	return hour;
}

static void free_hour(struct hour *hour)
{
	size_t i;

	takers_done(&hour->takers);
	roster_done(&hour->roster);
	for (i = 0; i < HISTORY_POINTS; i++)
		hour->history.points[i].power_w = NULL; /* the test's */
	history_done(&hour->history);
	free(hour);
}

/* What the machine did is told of, in one step of mean powers. */
static void end_step(struct hour *hour, double package_w, double dram_w)
{
	struct history *history = &hour->history;

	roster_update(&hour->roster, &hour->machine.census);
	if (history->n == HISTORY_POINTS)
		history->first = (history->first + 1) % HISTORY_POINTS;
	else
		history->n++;
	hour->powers_w[0] = (float)package_w;
	hour->powers_w[1] = (float)dram_w;
	history->points[history_slot(history, history->n - 1)] =
		(struct history_point){ .power_w = hour->powers_w, .n_domains = N_DOMAINS };
	takers_add(&hour->takers, history, &hour->roster, &hour->machine.census);
	machine_step(&hour->machine);
}

static const struct takers_step *newest(const struct hour *hour, enum level_kind kind)
{
	return takers_get(&hour->takers, &hour->history, kind, hour->history.n - 1);
}

static double sum_w(const struct takers_step *step)
{
	double sum = step->idle_w + step->unattributed_w + step->others_w;
	uint32_t i;

	for (i = 0; i < step->n; i++)
		sum += step->takers[i].power_w;
	return sum;
}

static const char *name_of(const struct hour *hour, enum level_kind kind, uint32_t rank)
{
	return hour->takers.levels[kind].names[newest(hour, kind)->takers[rank].name].labels;
}

/* 900 of the package and 300 of the memory by processes, 1000 idle, 200 nobody's: 2400 are 24 W. */
static void test_adds_up(void **state)
{
	struct hour *hour = new_hour();
	const struct takers_step *step;

	machine_idle(&hour->machine, 1000, 200);
	machine_use(&hour->machine, WATT_ENTITY_PROCESS, 7, "a", 300);
	machine_use(&hour->machine, WATT_ENTITY_PROCESS, 8, "b", 600);
	machine_use(&hour->machine, WATT_ENTITY_CONTAINER, 9, "c", 600);
	end_step(hour, 21, 3);
	step = newest(hour, LEVEL_PROCESS);
	assert_int_equal(step->n, 2);
	assert_non_null(strstr(name_of(hour, LEVEL_PROCESS, 0), "\"b\""));
	assert_true(fabs(step->takers[0].power_w - 8) < 1e-5);
	assert_true(fabs(step->takers[1].power_w - 4) < 1e-5);
	assert_true(fabs(step->idle_w - 10) < 1e-5);
	assert_true(fabs(step->unattributed_w - 2) < 1e-5);
	assert_true(fabs(step->others_w) < 1e-5);
	step = newest(hour, LEVEL_CONTAINER);
	assert_int_equal(step->n, 1);
	assert_true(fabs(step->others_w - 4) < 1e-5);
	assert_null(takers_get(&hour->takers, &hour->history, LEVEL_POD, 0));
	assert_null(takers_get(&hour->takers, &hour->history, LEVEL_PROCESS, 1));

	/* The next step has what came since, and nothing of before. */
	machine_use(&hour->machine, WATT_ENTITY_PROCESS, 7, "a", 300);
	end_step(hour, 3, 1);
	step = newest(hour, LEVEL_PROCESS);
	assert_int_equal(step->n, 1);
	assert_true(fabs(step->takers[0].power_w - 4) < 1e-5);
	assert_true(fabs(sum_w(step) - 4) < 1e-5);
	free_hour(hour);
}

/* Who takes less than the first of them is one of all others. */
static void test_more_than_are_told_of(void **state)
{
	struct hour *hour = new_hour();
	const struct takers_step *step;
	char name[8];
	uint32_t i;

	for (i = 1; i <= TAKERS_MOST + 4; i++) {
		snprintf(name, sizeof(name), "p%u", i);
		/* Neither from small to large nor the other way round. */
		machine_use(&hour->machine, WATT_ENTITY_PROCESS, i, name,
			    300 * (int64_t)(i * 5 % (TAKERS_MOST + 5)));
	}
	end_step(hour, 100, 0);
	step = newest(hour, LEVEL_PROCESS);
	assert_int_equal(step->n, TAKERS_MOST);
	for (i = 1; i < step->n; i++)
		assert_true(step->takers[i - 1].power_w > step->takers[i].power_w);
	assert_true(step->others_w > 0);
	assert_true(fabs(sum_w(step) - 100) < 1e-3);
	free_hour(hour);
}

/* A step without energy, or whose power nobody knows, is not one of 0 W. */
static void test_unknown(void **state)
{
	struct hour *hour = new_hour();

	end_step(hour, 5, 5);
	assert_true(isnan(newest(hour, LEVEL_PROCESS)->idle_w));
	machine_use(&hour->machine, WATT_ENTITY_PROCESS, 7, "a", 300);
	end_step(hour, NAN, NAN);
	assert_true(isnan(newest(hour, LEVEL_PROCESS)->others_w));
	assert_int_equal(newest(hour, LEVEL_PROCESS)->n, 0);
	machine_use(&hour->machine, WATT_ENTITY_PROCESS, 7, "a", 300);
	end_step(hour, NAN, 5);
	assert_true(fabs(sum_w(newest(hour, LEVEL_PROCESS)) - 5) < 1e-5);
	free_hour(hour);
}

/* Names go with the last step that has them: an hour of newcomers is no more than an hour's. */
static void test_forgets(void **state)
{
	struct hour *hour = new_hour();
	char name[16];
	uint32_t i;

	for (i = 1; i <= 3 * HISTORY_POINTS; i++) {
		snprintf(name, sizeof(name), "p%u", i);
		machine_use(&hour->machine, WATT_ENTITY_PROCESS, i, name, 300);
		end_step(hour, 10, 0);
	}
	assert_true(hour->takers.levels[LEVEL_PROCESS].n_names <= HISTORY_POINTS + 1);
	assert_int_equal(hour->history.n, HISTORY_POINTS);
	assert_non_null(strstr(name_of(hour, LEVEL_PROCESS, 0), name));
	free_hour(hour);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_adds_up),
		cmocka_unit_test(test_more_than_are_told_of),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_forgets),
	};

	return cmocka_run_group_tests_name("takers", tests, NULL, NULL);
}

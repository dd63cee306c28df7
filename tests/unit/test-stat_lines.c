/* SPDX-License-Identifier: Apache-2.0 */
/* cli/stat_lines.c */
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stat_lines.h"

#define LINES_MOST 40

static const struct watt_balance known = { .sz = sizeof(known),
					   .is_known = 1,
					   .uncertainty_ppm = 20000 };

/* Energies of the command and of the machine, in steps of the last decimal; "<" is nothing. */
static void add_line(const char *line, double *sum, double *machine_sum, int decimals)
{
	double numbers[2], scale = pow(10, decimals);
	char texts[2][32];
	int i;

	assert_int_equal(sscanf(line, "%*f s %31s J %*s W %31s J machine", texts[0], texts[1]), 2);
	for (i = 0; i < 2; i++) {
		const char *point = strchr(texts[i], '.');

		numbers[i] = texts[i][0] == '<' ? 0 : strtod(texts[i], NULL);
		assert_int_equal(point ? (int)strlen(point + 1) : 0, decimals);
	}
	*sum += round(numbers[0] * scale);
	*machine_sum += round(numbers[1] * scale);
}

static double draw(uint32_t *random)
{
	*random = *random * 1664525 + 1013904223;
	return (*random >> 8) / 16777216.0;
}

/* Whatever the intervals: what is shown of them adds up to what is shown of all, which is close. */
static void test_lines_add_up(void **state)
{
	uint32_t random = 3;
	int run, i;

	for (run = 0; run < 200; run++) {
		struct stat_lines lines = { 0 };
		double size_nj = 1e9 * pow(10, draw(&random) * 6 - 3), sum = 0, machine_sum = 0;
		int64_t energy_nj = 0, machine_nj = 0;
		int n = 1 + (int)(draw(&random) * (LINES_MOST - 1));
		char text[LINES_MOST * 128] = "", *line;
		FILE *out = fmemopen(text, sizeof(text), "w");

		assert_non_null(out);
		for (i = 0; i < n; i++) {
			struct watt_run_interval interval = {
				.end_ns = (uint64_t)(i + 1) * 100000000,
				.elapsed_ns = 100000000,
				.energy_nj = draw(&random) < 0.2 ?
						     0 :
						     (int64_t)(size_nj * pow(draw(&random), 4)),
				.machine_nj = (int64_t)(size_nj * (1 + draw(&random))),
			};

			energy_nj += interval.energy_nj;
			machine_nj += interval.machine_nj;
			stat_lines_print(&lines, out, &interval, &known);
		}
		fclose(out);
		for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
			add_line(line, &sum, &machine_sum, lines.decimals);
		assert_true(sum == round(lines.shown_j * pow(10, lines.decimals)));
		assert_true(machine_sum == round(lines.shown_machine_j * pow(10, lines.decimals)));
		assert_true(fabs(lines.shown_j - (double)energy_nj / 1e9) <=
			    0.501 * pow(10, -lines.decimals));
		assert_true(fabs(lines.shown_machine_j - (double)machine_nj / 1e9) <=
			    0.501 * pow(10, -lines.decimals));
	}
}

static void print_one(struct stat_lines *lines, uint64_t end_ns, int64_t energy_nj,
		      int64_t machine_nj, char *text, size_t size)
{
	struct watt_run_interval interval = { .end_ns = end_ns,
					      .elapsed_ns = 100000000,
					      .energy_nj = energy_nj,
					      .machine_nj = machine_nj };
	FILE *out = fmemopen(text, size, "w");

	assert_non_null(out);
	stat_lines_print(lines, out, &interval, &known);
	fclose(out);
}

/* More than nothing is not 0, and another run begins at 0 with decimals of its own. */
static void test_little_and_another_run(void **state)
{
	struct stat_lines lines = { 0 };
	char text[256];

	print_one(&lines, 100000000, 1000000000, 10000000000, text, sizeof(text));
	assert_int_equal(lines.decimals, 2);
	print_one(&lines, 200000000, 1000000, 10000000000, text, sizeof(text));
	assert_non_null(strstr(text, " <0.01 "));
	print_one(&lines, 100000000, 10000000, 100000000, text, sizeof(text));
	assert_true(fabs(lines.shown_j - 0.01) < 1e-9);
	assert_int_equal(lines.decimals, 4);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines_add_up),
		cmocka_unit_test(test_little_and_another_run),
	};

	return cmocka_run_group_tests_name("stat_lines", tests, NULL, NULL);
}

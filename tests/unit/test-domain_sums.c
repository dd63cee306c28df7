/* SPDX-License-Identifier: Apache-2.0 */
/* cli/domain_sums.c */
#include "unit.h"

#include <math.h>
#include <stdlib.h>

#include "domain_sums.h"
#include "tally.h"

#define DOMAINS_MOST 24

struct tree {
	struct watt_domain domain[DOMAINS_MOST];
	const struct watt_domain *domains[DOMAINS_MOST];
	double exact[DOMAINS_MOST], shown[DOMAINS_MOST];
	size_t n;
};

static void add(struct tree *tree, int parent, bool is_partition, double exact)
{
	tree->domain[tree->n] = (struct watt_domain){ .sz = sizeof(struct watt_domain),
						      .parent = parent,
						      .is_partition = is_partition };
	tree->domains[tree->n] = &tree->domain[tree->n];
	tree->exact[tree->n] = exact;
	tree->shown[tree->n++] = NAN;
}

/* The partition by a tally, as callers do it; all others by what is tested. */
static void round_tree(struct tree *tree, int decimals)
{
	double parts[DOMAINS_MOST];
	struct watt_tally *tally;
	size_t i;

	for (i = 0; i < tree->n; i++)
		parts[i] = tree->domain[i].is_partition ? tree->exact[i] : NAN;
	tally = tally_within(parts, tree->n, NAN, NAN, decimals);
	for (i = 0; i < tree->n; i++)
		tree->shown[i] = watt_tally_get_part(tally, i);
	domain_sums_round(tree->domains, tree->exact, tree->n, decimals, tree->shown);
	tally_free(&tally);
}

static void assert_shown(const struct tree *tree, size_t i, double expected)
{
	assert_true(fabs(tree->shown[i] - expected) < 1e-9);
}

/* A PSU that is two packages and the rest; what lies in a package; what is seen from outside. */
static void test_all_places(void **state)
{
	struct tree tree = { 0 };

	add(&tree, -1, false, 10.8); /* 0: all of the machine */
	add(&tree, 0, true, 3.6);
	add(&tree, 0, true, 3.6);
	add(&tree, 0, true, 3.6);  /* the rest of it */
	add(&tree, 1, false, 3.6); /* 4: all of the first package */
	add(&tree, 2, false, 2.4); /* 5, 6: not all of the second */
	add(&tree, 2, false, 0.7);
	add(&tree, -1, false, 14.5); /* 7: a battery */
	add(&tree, 7, false, NAN);
	round_tree(&tree, 0);
	assert_shown(&tree, 0, 11);
	assert_shown(&tree, 1, 4);
	assert_shown(&tree, 2, 4);
	assert_shown(&tree, 3, 3); /* and not 4: 4 + 4 + 4 is no 11 */
	assert_shown(&tree, 4, 4);
	assert_true(tree.shown[5] + tree.shown[6] <= 4);
	assert_shown(&tree, 7, 15);
	assert_true(isnan(tree.shown[8]));
}

static double draw(uint32_t *random)
{
	*random = *random * 1664525 + 1013904223;
	return (*random >> 8) / 16777216.0;
}

/* Below each of the partition domains that are all of it, or all but something. */
static void grow(struct tree *tree, uint32_t *random)
{
	size_t i, k;

	for (i = 0; i < 3; i++)
		add(tree, -1, true, 50 * draw(random));
	for (i = 0; i < tree->n && tree->n + 4 < DOMAINS_MOST; i++) {
		size_t n = 1 + (size_t)(3 * draw(random));
		double left = tree->exact[i] * (draw(random) < 0.5 ? 1 : draw(random));

		for (k = 0; k < n; k++) {
			double part = k + 1 == n ? left : left * draw(random);

			add(tree, (int)i, false, part);
			left -= part;
		}
	}
}

/* Whatever the tree: children never exceed their parent as it is shown, and all of it is all. */
static void test_any_tree(void **state)
{
	uint32_t random = 11;
	int run;

	for (run = 0; run < 500; run++) {
		struct tree tree = { 0 };
		double scale = pow(10, run % 4);
		size_t i, k;

		grow(&tree, &random);
		round_tree(&tree, run % 4);
		for (i = 0; i < tree.n; i++) {
			double exact = 0, steps = 0, own = round(tree.shown[i] * scale);
			bool has_any = false;

			assert_true(fabs(tree.shown[i] - tree.exact[i]) * scale < 2);
			for (k = 0; k < tree.n; k++)
				if (tree.domain[k].parent == (int)i) {
					exact += tree.exact[k];
					steps += round(tree.shown[k] * scale);
					has_any = true;
				}
			if (has_any && fabs(exact - tree.exact[i]) < 1e-9)
				assert_true(steps == own);
			else if (has_any)
				assert_true(steps <= own);
		}
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_places),
		cmocka_unit_test(test_any_tree),
	};

	return cmocka_run_group_tests_name("domain_sums", tests, NULL, NULL);
}

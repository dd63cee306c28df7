/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rounds up and down the tree: what the partition lies in is the sum of it, and what lies in a
 * domain is rounded within what is shown of that.
 */
#include "domain_sums.h"

#include <math.h>
#include <stdbool.h>

#include "tally.h"
#include "xalloc.h"

struct rounding {
	const struct watt_domain *const *domains;
	const double *exact;
	size_t n;
	int decimals;
	double *shown;
	bool *is_above; /* those that contain some of the partition */
};

static bool is_same(double a, double b)
{
	return fabs(a - b) <= 1e-9 * fabs(b);
}

static void find_above(struct rounding *r)
{
	size_t i;
	int at;

	for (i = 0; i < r->n; i++)
		for (at = r->domains[i]->is_partition ? r->domains[i]->parent : -1; at >= 0;
		     at = r->domains[at]->parent)
			r->is_above[at] = true;
}

/* What is above the partition is shown as the sum of what is, as far as that is all of it. */
static void climb(struct rounding *r, size_t domain)
{
	double exact = 0, shown = 0;
	size_t i;

	for (i = 0; i < r->n; i++) {
		if (r->domains[i]->parent != (int32_t)domain ||
		    !(r->domains[i]->is_partition || r->is_above[i]))
			continue;
		if (!r->domains[i]->is_partition)
			climb(r, i);
		exact += isfinite(r->exact[i]) ? r->exact[i] : 0;
		shown += isfinite(r->shown[i]) ? r->shown[i] : 0;
	}
	r->shown[domain] = is_same(exact, r->exact[domain]) ?
				   shown :
				   tally_round(r->exact[domain], r->decimals);
}

/* Whether a domain is one of those that another one contains, and nobody has rounded yet. */
static bool is_below(const struct rounding *r, size_t i, size_t domain)
{
	return r->domains[i]->parent == (int32_t)domain && !r->domains[i]->is_partition &&
	       !r->is_above[i];
}

/* Those in a domain that is known, and what else it has: parts of what is shown of it. */
static void share(struct rounding *r, size_t domain)
{
	auto_free double *parts = xcalloc(r->n + 1, sizeof(*parts));
	auto_tally struct watt_tally *tally = NULL;
	double rest = r->exact[domain];
	size_t i;

	for (i = 0; i < r->n; i++) {
		parts[i] = is_below(r, i, domain) ? r->exact[i] : NAN;
		rest -= isfinite(parts[i]) ? parts[i] : 0;
	}
	/* What is no rest at all must not become a step of one. */
	parts[r->n] = fabs(rest) <= 1e-9 * fabs(r->exact[domain]) ? NAN : rest;
	tally = tally_of_shown(parts, r->n + 1, r->shown[domain], r->decimals);
	for (i = 0; i < r->n; i++)
		if (is_below(r, i, domain))
			r->shown[i] = watt_tally_get_part(tally, i);
}

static void descend(struct rounding *r, size_t domain)
{
	bool is_whole = !r->is_above[domain] && isfinite(r->exact[domain]) &&
			isfinite(r->shown[domain]);
	size_t i;

	if (is_whole)
		share(r, domain);
	for (i = 0; i < r->n; i++) {
		if (r->domains[i]->parent != (int32_t)domain)
			continue;
		if (!is_whole && is_below(r, i, domain))
			r->shown[i] = tally_round(r->exact[i], r->decimals);
		descend(r, i);
	}
}

void domain_sums_round(const struct watt_domain *const *domains, const double *exact, size_t n,
		       int decimals, double *shown)
{
	auto_free bool *is_above = xcalloc(n, sizeof(*is_above));
	struct rounding r = { domains, exact, n, decimals, shown, is_above };
	size_t i;

	find_above(&r);
	for (i = 0; i < n; i++) {
		if (domains[i]->parent >= 0)
			continue;
		if (is_above[i])
			climb(&r, i);
		else if (!domains[i]->is_partition)
			shown[i] = tally_round(exact[i], r.decimals);
		descend(&r, i);
	}
}

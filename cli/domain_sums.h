/* SPDX-License-Identifier: Apache-2.0 */
/* What is shown of domains within domains adds up, too. */
#ifndef WATT_CLI_DOMAIN_SUMS_H
#define WATT_CLI_DOMAIN_SUMS_H

#include <stddef.h>

#include <wattribute/domain.h>

/*
 * Rounds what is known of domains (exact; NAN: nothing) to so many decimals. shown: of those of the
 * partition it is given; of all others it is filled in. Domains that are all of the one that
 * contains them add up to it; else they and what it has beside them do.
 */
void domain_sums_round(const struct watt_domain *const *domains, const double *exact, size_t n,
		       int decimals, double *shown);

#endif

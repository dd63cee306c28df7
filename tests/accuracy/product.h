/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The product as users have it: `wattribute record` of a command, and what `wattribute report
 * --json` and the recording itself then say of a channel. Failures end the program.
 */
#ifndef WATT_TESTS_PRODUCT_H
#define WATT_TESTS_PRODUCT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <wattribute/wattribute.h>

struct product;

/* What it says of the domain of a channel. */
struct product_domain {
	char path[128];
	char status[16];
	bool is_known; /* energy_nj is */
	int64_t energy_nj;
	uint64_t samples, errors, wraps, resets, gaps, ambiguous;
	double gap_s;
	uint64_t t_ns; /* attributed up to here */
};

/* What `wattribute stat --json` says of a domain while a command ran. */
struct product_stat {
	bool is_known;
	int64_t energy_nj; /* of the machine */
	uint64_t errors, resets, ambiguous;
	double gap_s;
};

void product_stat(const char *sources, const char *command, const char *const *paths, size_t n,
		  struct product_stat *ret);

/* Records while the command runs, which has to succeed. sources: for --sources */
struct product *product_record(const char *sources, const char *command);
struct product *product_free(struct product *product);

/* Channels go by the end of their names. */
/* The channel's readings, in their order; owned by the product. */
const struct watt_sample *product_get_samples(const struct product *product, const char *channel,
					      size_t *ret_n);
/* Its canonical unit of energy or power is raw * num / den. */
const struct watt_channel *product_get_channel(const struct product *product, const char *channel);
void product_get_domain(const struct product *product, const char *channel,
			struct product_domain *ret);

#endif

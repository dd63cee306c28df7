/* SPDX-License-Identifier: Apache-2.0 */
/* A copy of what a recording begins with. Immutable once made. */
#ifndef WATT_RECORD_SETUP_H
#define WATT_RECORD_SETUP_H

#include "record/part.h"

struct watt_head_copy {
	struct watt_part_head head; /* points to what follows, and to channels and domains */
	struct watt_setup setup;
	struct watt_rules share_keys;
	struct watt_rules delays;
	struct watt_machine machine;
	char recording[33];
};

/* Everything but the channels and domains themselves is copied. 0 or -ENOMEM. */
int watt_head_copy(struct watt_head_copy *copy, const struct watt_setup *setup,
		   const struct watt_machine *machine, const struct watt_domain *const *domains,
		   size_t n_domains, const char *command);
/* Accepts one of zeros. */
void watt_head_copy_done(struct watt_head_copy *copy);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a profile: what is believed is bounded, and says the same when it is written again. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "base/profile.h"

static void look(const struct watt_profile *profile)
{
	size_t d, i;

	check(watt_profile_get_domain_count(profile) <= WATT_PROFILE_DOMAINS_MAX);
	for (d = 0; d < watt_profile_get_domain_count(profile); d++) {
		const struct watt_profile_domain *domain = watt_profile_get_domain(profile, d);

		check(domain->path[0] && domain->mean_w >= 0);
		for (i = 0; i < watt_profile_get_program_count(profile, d); i++) {
			const struct watt_profile_program *one =
				watt_profile_get_program(profile, d, i);

			check(one->name[0] && one->power_w >= 0 &&
			      one->power_w <= WATT_PROFILE_WATTS_MAX && one->uncertainty_w >= 0);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct watt_profile *profile, *again;
	char *text, *second;

	if (watt_profile_parse((const char *)data, size, NULL, NULL, &profile) < 0)
		return 0;
	look(profile);
	check(watt_profile_to_json(profile, 0, &text) == 0);
	check(watt_profile_parse(text, strlen(text), NULL, NULL, &again) == 0);
	check(watt_profile_to_json(again, 0, &second) == 0);
	check(strcmp(text, second) == 0);
	free(text);
	free(second);
	watt_profile_free(profile);
	watt_profile_free(again);
	return 0;
}

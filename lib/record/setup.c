/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies what a session was built from, for the files that begin later.
 * It must not look into channels or domains.
 */
#include "record/setup.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/util.h"

static void *copy_bytes(const void *from, size_t n, int *r)
{
	void *to = malloc(n + 1);

	if (!to)
		*r = -ENOMEM;
	else if (n)
		memcpy(to, from, n);
	return to;
}

/* A name that no other recording has. */
static void name_recording(char name[33])
{
	uint64_t id[2] = { 0 };

	if (getrandom(id, sizeof(id), 0) != (ssize_t)sizeof(id)) {
		id[0] = watt_clock_ns(CLOCK_REALTIME);
		id[1] = watt_now_ns();
	}
	snprintf(name, 33, "%016llx%016llx", (unsigned long long)id[0], (unsigned long long)id[1]);
}

int watt_head_copy(struct watt_head_copy *copy, const struct watt_setup *setup,
		   const struct watt_machine *machine, const struct watt_domain *const *domains,
		   size_t n_domains, const char *command)
{
	int r = 0;

	*copy = (struct watt_head_copy){ .setup = *setup };
	if (machine)
		copy->machine = *machine;
	copy->setup.channels =
		copy_bytes(setup->channels, setup->n_channels * sizeof(struct watt_channel *), &r);
	copy->setup.cpu_slot =
		copy_bytes(setup->cpu_slot, setup->n_cpus * sizeof(*setup->cpu_slot), &r);
	copy->setup.places = copy_bytes(setup->places, setup->n_slots * sizeof(*setup->places), &r);
	copy->setup.usage = watt_strdup(setup->usage, &r);
	copy->setup.usage_why = watt_strdup(setup->usage_why, &r);
	copy->setup.prior = watt_strdup(setup->prior, &r);
	r |= watt_rules_join(&copy->share_keys, setup->share_keys);
	r |= watt_rules_join(&copy->delays, setup->delays);
	copy->setup.share_keys = &copy->share_keys;
	copy->setup.delays = &copy->delays;
	copy->machine.host = watt_strdup(copy->machine.host, &r);
	copy->machine.os = watt_strdup(copy->machine.os, &r);
	copy->machine.kernel = watt_strdup(copy->machine.kernel, &r);
	copy->machine.arch = watt_strdup(copy->machine.arch, &r);
	copy->machine.cpu = watt_strdup(copy->machine.cpu, &r);
	name_recording(copy->recording);
	copy->head = (struct watt_part_head){
		.setup = &copy->setup,
		.machine = &copy->machine,
		.domains = copy_bytes(domains, n_domains * sizeof(*domains), &r),
		.n_domains = n_domains,
		.command = watt_strdup(command, &r),
		.recording = copy->recording,
		.part = 1,
		.realtime_offset_ns = (int64_t)(watt_clock_ns(CLOCK_REALTIME) - watt_now_ns()),
	};
	return r < 0 ? -ENOMEM : 0;
}

void watt_head_copy_done(struct watt_head_copy *copy)
{
	free((void *)copy->setup.channels);
	free((void *)copy->setup.cpu_slot);
	free((void *)copy->setup.places);
	free((void *)copy->setup.usage);
	free((void *)copy->setup.usage_why);
	free((void *)copy->setup.prior);
	watt_rules_clear(&copy->share_keys);
	watt_rules_clear(&copy->delays);
	free((void *)copy->machine.host);
	free((void *)copy->machine.os);
	free((void *)copy->machine.kernel);
	free((void *)copy->machine.arch);
	free((void *)copy->machine.cpu);
	free((void *)copy->head.domains);
	free((void *)copy->head.command);
	*copy = (struct watt_head_copy){ 0 };
}

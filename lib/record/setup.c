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

static void *copy_bytes(const void *from, size_t n, bool *has_failed)
{
	void *to = malloc(n + 1);

	*has_failed |= !to;
	if (to && n)
		memcpy(to, from, n);
	return to;
}

static char *copy_text(const char *text, bool *has_failed)
{
	char *copy = text ? strdup(text) : NULL;

	*has_failed |= text && !copy;
	return copy;
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
	bool has_failed = false;

	*copy = (struct watt_head_copy){ .setup = *setup };
	if (machine)
		copy->machine = *machine;
	copy->setup.channels = copy_bytes(
		setup->channels, setup->n_channels * sizeof(struct watt_channel *), &has_failed);
	copy->setup.cpu_slot =
		copy_bytes(setup->cpu_slot, setup->n_cpus * sizeof(*setup->cpu_slot), &has_failed);
	copy->setup.places =
		copy_bytes(setup->places, setup->n_slots * sizeof(*setup->places), &has_failed);
	copy->setup.usage = copy_text(setup->usage, &has_failed);
	copy->setup.usage_why = copy_text(setup->usage_why, &has_failed);
	copy->setup.prior = copy_text(setup->prior, &has_failed);
	has_failed |= watt_rules_join(&copy->share_keys, setup->share_keys) < 0;
	has_failed |= watt_rules_join(&copy->delays, setup->delays) < 0;
	copy->setup.share_keys = &copy->share_keys;
	copy->setup.delays = &copy->delays;
	copy->machine.host = copy_text(copy->machine.host, &has_failed);
	copy->machine.os = copy_text(copy->machine.os, &has_failed);
	copy->machine.kernel = copy_text(copy->machine.kernel, &has_failed);
	copy->machine.arch = copy_text(copy->machine.arch, &has_failed);
	copy->machine.cpu = copy_text(copy->machine.cpu, &has_failed);
	name_recording(copy->recording);
	copy->head = (struct watt_part_head){
		.setup = &copy->setup,
		.machine = &copy->machine,
		.domains = copy_bytes(domains, n_domains * sizeof(*domains), &has_failed),
		.n_domains = n_domains,
		.command = copy_text(command, &has_failed),
		.recording = copy->recording,
		.part = 1,
		.realtime_offset_ns = (int64_t)(watt_clock_ns(CLOCK_REALTIME) - watt_now_ns()),
	};
	return has_failed ? -ENOMEM : 0;
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

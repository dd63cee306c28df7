/* SPDX-License-Identifier: Apache-2.0 */
/* Puts what happened to the clocks into words for people, and into an op for the stages. */
#include "clocks.h"

#define TRIES 16

static void say(const struct watt_log *log, const struct watt_clock_news *news)
{
	if (news->slept_ns)
		watt_log(
			log, WATT_LOG_WARNING,
			"the machine slept for %.1f s: what sensors counted meanwhile is in no sum",
			(double)news->slept_ns / 1e9);
	if (news->set_ns)
		watt_log(log, WATT_LOG_INFO,
			 "the clock was set by %+.3f s: durations and energies are not concerned",
			 (double)news->set_ns / 1e9);
}

bool watt_clocks_look(struct watt_clock_watch *watch, const struct watt_log *log,
		      struct watt_op *ret)
{
	struct watt_clock_reading now;
	struct watt_clock_news news;
	int tries = 0;

	/* What was interrupted tells nothing, and must not hide what there is to be told. */
	do
		watt_clock_read(&now);
	while (!watt_clock_is_exact(&now) && ++tries < TRIES);
	if (!watt_clock_watch_look(watch, &now, &news))
		return false;
	say(log, &news);
	*ret = (struct watt_op){ .kind = WATT_OP_CLOCK };
	ret->clock.from_ns = news.from_ns;
	ret->clock.to_ns = news.to_ns;
	ret->clock.slept_ns = news.slept_ns;
	ret->clock.realtime_ns = news.to_ns + (uint64_t)news.realtime_off_ns;
	return true;
}

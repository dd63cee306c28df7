/* SPDX-License-Identifier: Apache-2.0 */
/* How far the clocks are apart, from look to look. */
#include "base/clock_watch.h"

#include "base/clock.h"

/* Reading the clocks may be interrupted: what took longer says nothing. */
#define MAX_READ_NS WATT_NSEC_PER_MSEC
/* What is smaller than this is no step: a reading is not exact. */
#define MIN_STEP_NS (10 * (int64_t)WATT_NSEC_PER_MSEC)

void watt_clock_read(struct watt_clock_reading *ret)
{
	ret->t_before_ns = watt_now_ns();
	ret->realtime_ns = watt_clock_ns(CLOCK_REALTIME);
	ret->boottime_ns = watt_clock_ns(CLOCK_BOOTTIME);
	ret->t_after_ns = watt_now_ns();
}

bool watt_clock_is_exact(const struct watt_clock_reading *reading)
{
	return reading->t_after_ns - reading->t_before_ns <= MAX_READ_NS;
}

static bool is_step(int64_t change_ns)
{
	return change_ns >= MIN_STEP_NS || change_ns <= -MIN_STEP_NS;
}

bool watt_clock_watch_look(struct watt_clock_watch *watch, const struct watt_clock_reading *now,
			   struct watt_clock_news *ret)
{
	int64_t realtime_off_ns = (int64_t)(now->realtime_ns - now->t_before_ns);
	int64_t boottime_off_ns = (int64_t)(now->boottime_ns - now->t_before_ns);
	int64_t slept_ns, set_ns;

	if (!watt_clock_is_exact(now))
		return false;
	slept_ns = boottime_off_ns - watch->boottime_off_ns;
	set_ns = realtime_off_ns - watch->realtime_off_ns;
	/* a clock on the wall goes on while the machine sleeps */
	if (is_step(slept_ns))
		set_ns -= slept_ns;
	*ret = (struct watt_clock_news){
		.from_ns = watch->looked_ns,
		.to_ns = now->t_after_ns,
		.slept_ns = slept_ns >= MIN_STEP_NS ? (uint64_t)slept_ns : 0,
		.set_ns = is_step(set_ns) ? set_ns : 0,
		.realtime_off_ns = realtime_off_ns,
	};
	watch->looked_ns = now->t_after_ns;
	if (watch->is_begun && !ret->slept_ns && !ret->set_ns)
		return false;
	watch->realtime_off_ns = realtime_off_ns;
	watch->boottime_off_ns = boottime_off_ns;
	if (watch->is_begun)
		return true;
	watch->is_begun = true;
	return false;
}

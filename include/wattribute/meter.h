/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file meter.h
 * @brief A meter: how much energy a section of code took.
 *
 *     struct watt_meter *meter = watt_meter_open(NULL);
 *     struct watt_meter_result result = { sizeof(result) };
 *
 *     watt_meter_begin(meter);
 *     work();
 *     r = watt_meter_end(meter, &result);
 *
 * Sections may be nested, and every thread has its own: end() ends the newest one that the calling
 * thread began. Thread-safe, but for close(). After fork() the child must not call it.
 */
#ifndef WATTRIBUTE_METER_H
#define WATTRIBUTE_METER_H

#include <wattribute/session.h>

WATT_BEGIN_DECLS

struct watt_meter;

/** Domains that a result has room for. */
#define WATT_METER_DOMAINS 32

/** What a section took. Energy that is not known is NaN, never 0. */
struct watt_meter_result {
	size_t sz; /**< sizeof(struct watt_meter_result), the caller's */
	/** Energy of the whole machine, as far as its sensors see it; of estimates, all of it. */
	double energy_j;
	/** Of what is counted. It lasts until the sweep that ends the section is done, as energy
	 *  does: usually less than 1 ms longer than the code. */
	double elapsed_s;
	double power_w; /**< their quotient */
	/** Energy attributed to this process, all its threads, idle energy left out; NaN: none. */
	double own_energy_j;
	double cpu_s; /**< CPU time of this process */
	double gap_s; /**< longest time without readings in a domain: its energy is not in it */
	/** OK; else why a domain's energy is not complete: the first that is not OK. */
	enum watt_status status;
	enum watt_origin origin;  /**< the least certain of those that were added */
	uint32_t uncertainty_ppm; /**< standard uncertainty of `energy_j` for a long section, in
				   *   1e-6; 0: unknown */
	uint32_t n_domains;       /**< of what follows; more than fit are left out */
	double domain_energy_j[WATT_METER_DOMAINS]; /**< of watt_meter_get_domain(), by its index */
};

/**
 * Opens and starts a meter. Options as of watt_session_open(); NULL: as good as this machine can,
 * an estimate where it has no sensor.
 *
 * @return the meter; where nothing can be measured, begin() and end() return why, and
 * watt_meter_get_problem() has the sentence. NULL: no memory.
 */
WATT_API struct watt_meter *watt_meter_open(const struct watt_options *options);
/** Stops and frees; NULL is allowed. Always returns NULL. No other call may be under way. */
WATT_API struct watt_meter *watt_meter_close(struct watt_meter *meter);
/**
 * Begins a section of the calling thread: sweeps and reads once, some 1 ms. Where another begin()
 * or end() waits for a slow sensor, it does so too.
 * @return 0; -EINVAL: no meter; -ENODEV, -EACCES, ...: as watt_session_open(); -ENOMEM.
 */
WATT_API int watt_meter_begin(struct watt_meter *meter);
/**
 * Ends the newest section of the calling thread, and waits until the sensors have told all of it,
 * for 3 s at most.
 * @return 0; -EINVAL: no section was begun, or a size that is not valid; -ETIMEDOUT: the sensors
 * did not answer; the section is over in any case; an error as of begin().
 */
WATT_API int watt_meter_end(struct watt_meter *meter, struct watt_meter_result *ret);
/** What a domain of the results is; NULL if @p index is out of range. */
WATT_API const struct watt_domain *watt_meter_get_domain(const struct watt_meter *meter,
							 size_t index);
/** Why nothing can be measured, in words; NULL: it can. */
WATT_API const char *watt_meter_get_problem(const struct watt_meter *meter);

WATT_END_DECLS

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file tally.h
 * @brief A tally: numbers for people, in one unit, that adds up as it is shown.
 *
 * All have the decimals that leave the whole its significant digits. Each is rounded down or up to
 * them: what rounding all down would leave over goes to those that lose the most by it, so that
 * the parts that are shown add up to the whole that is shown, and none is off by a step or more.
 * What is not finite is "-" and counts nothing. A tally that lies within another one (the users
 * of what is "attributed") is given what the other one shows as its whole. Immutable.
 */
#ifndef WATTRIBUTE_TALLY_H
#define WATTRIBUTE_TALLY_H

#include <wattribute/types.h>

WATT_BEGIN_DECLS

/** A tally. Opaque. */
struct watt_tally;

/**
 * Of parts and, with @p digits significant digits (watt_units_digits() and one more, since parts
 * are less) but at most @p max_decimals behind the point, their sum. Free with watt_tally_free().
 * @return 0; -EINVAL: digits or decimals out of range; -ENOMEM.
 */
WATT_API int watt_tally_new(const double *parts, size_t n_parts, int digits, int max_decimals,
			    struct watt_tally **ret);
/** The same with so many decimals, and a whole that was rounded to them before. */
WATT_API int watt_tally_new_within(const double *parts, size_t n_parts, double whole, int decimals,
				   struct watt_tally **ret);
/** Accepts NULL; returns NULL. */
WATT_API struct watt_tally *watt_tally_free(struct watt_tally *tally);
/** How many there are, for printf("%.*f"). */
WATT_API int watt_tally_get_decimals(const struct watt_tally *tally);
/** The whole, as it is shown; 0 without a part that is known. */
WATT_API double watt_tally_get_whole(const struct watt_tally *tally);
/** A part, as it is shown; NAN: not known, or there is none of that number. */
WATT_API double watt_tally_get_part(const struct watt_tally *tally, size_t i);
/** Is it more than nothing, and too little to be seen? */
WATT_API int watt_tally_is_below(const struct watt_tally *tally, size_t i);
/**
 * Text of a part: "12.3"; "<0.1" for what is more than nothing and too little to be seen; "-".
 * Writes into buf (WATT_UNITS_SIZE bytes are always enough), and returns it.
 */
WATT_API char *watt_tally_text(const struct watt_tally *tally, size_t i, char *buf);

WATT_END_DECLS

#endif

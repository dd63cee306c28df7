/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file board.h
 * @brief The board that a machine is built on, as its devicetree tells, and whether it is known.
 *
 * What a known board says of supply rails, which lies in which, is already in the domains of a
 * session; this is for who wants to show it, or to describe a board that nobody knows yet.
 */
#ifndef WATTRIBUTE_BOARD_H
#define WATTRIBUTE_BOARD_H

#include <wattribute/options.h>

WATT_BEGIN_DECLS

struct watt_board_info;

/**
 * Reads it where @p options say; NULL: on this machine, without a configuration file.
 *
 * @param[out] ret to be freed by watt_board_info_free()
 * @return 0; -ENOENT: there is no devicetree (a PC has none); -EINVAL, -EACCES, ... of the options'
 * folders and configuration file, said in their log.
 */
WATT_API int watt_board_info_read(const struct watt_options *options, struct watt_board_info **ret);
/** Accepts NULL. */
WATT_API void watt_board_info_free(struct watt_board_info *info);
/** The name of the board; NULL: it is neither in the configuration nor built in. */
WATT_API const char *watt_board_info_get_name(const struct watt_board_info *info);
/** 1: by the configuration file; 0: built in, or not known. */
WATT_API int watt_board_info_is_configured(const struct watt_board_info *info);
/** The devicetree's compatible strings, the most special first; NULL: there are not so many. */
WATT_API const char *watt_board_info_get_compatible(const struct watt_board_info *info,
						    size_t index);
/**
 * The files that tell how busy the memory controller is, below the folder of sysfs: cycles in which
 * it was busy in a period, the period's length, and its clock.
 *
 * @return those that the board names; where it names none, or @p info is NULL, where boards that
 * are built in have them. NULL: there are not so many.
 */
WATT_API const char *watt_board_info_get_emc_file(const struct watt_board_info *info, size_t index);

WATT_END_DECLS

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Known boards: which rail contains which, and where context is. Immutable, thread-safe. */
#ifndef WATT_SOURCE_POWER_SENSOR_BOARD_H
#define WATT_SOURCE_POWER_SENSOR_BOARD_H

#include <stdint.h>

#include "source/source.h"

struct watt_board_rail {
	const char *label;   /* cleaned */
	const char *address; /* of its sensor on the i2c bus: "0040"; NULL: anywhere */
	const char *path;    /* in the domain tree */
	enum watt_domain_kind kind;
	uint32_t flags; /* enum watt_channel_flag */
	/* The driver of its sensor, which has no other and no label; NULL: its label names it. */
	const char *chip;
};

/* Files of the memory controller, below sysfs: busy cycles of a period, its length in us, and Hz. */
struct watt_board_emc {
	const char *activity; /* NULL: not known */
	const char *period;
	const char *rate;
};

struct watt_board {
	const char *name;
	const char *const *modules; /* parts of devicetree compatible strings; ended by NULL */
	const struct watt_board_rail *rails; /* ended by a NULL label */
	/* Lists below are ended by NULL; NULL: not known. */
	const char *const *gpu_loads; /* files below sysfs, per mille; the first that is there */
	const char *const *zones; /* types of thermal zones: those that are read, in that order */
	struct watt_board_emc emc;
};

/*
 * Those that are built in, ended by one without a name: made of the files in boards/. A rail inside
 * another is a path inside its path, and roots may be summed.
 */
extern const struct watt_board watt_boards[];

/* The devicetree's compatible strings, each ended by NUL; *ret is to be freed. */
int watt_board_read_compatible(const struct watt_env *env, char **ret, size_t *ret_len);
/* The board of a list of compatible strings, each ended by NUL; NULL: not known. */
const struct watt_board *watt_board_find(const char *compatible, size_t len);
/* A rail of a board by cleaned label and i2c address (NULL: not on i2c); NULL: not known. */
const struct watt_board_rail *watt_board_find_rail(const struct watt_board *board,
						   const char *label, const char *address);
/* The same where its address is not known. */
const struct watt_board_rail *watt_board_find_label(const struct watt_board *board,
						    const char *label);
/* The first board that has rails of all these cleaned labels; NULL: none, or no labels. */
const struct watt_board *watt_board_find_by_labels(const char *const *labels, size_t n);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the user wrote in the configuration file: options, rules for hwmon chips and rails, boards,
 * models of estimation. Immutable once read; an empty one is valid.
 */
#ifndef WATT_SOURCE_CONFIG_CONFIG_H
#define WATT_SOURCE_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/log.h"

struct watt_config_pair {
	uint32_t voltage; /* index of inN */
	uint32_t current; /* index of currN */
};

/* How the voltages and currents of a chip belong together. Overrides the built-in rule. */
struct watt_config_chip {
	char *name; /* content of the chip's `name` file */
	struct watt_config_pair *pairs;
	size_t n_pairs;
	uint32_t *skip_voltages;
	size_t n_skip_voltages;
	uint32_t *skip_currents;
	size_t n_skip_currents;
	bool is_same_index;
};

/* Where a rail belongs. Matched by cleaned label, case-insensitively. */
struct watt_config_rail {
	char *label;
	char *domain; /* path in the domain tree */
	int32_t kind; /* enum watt_domain_kind; -1: not said */
	/* of a board's: of its sensor on the i2c bus, "0040"; NULL: anywhere */
	char *address;
	char *chip;    /* of a board's: whose only sensor has no label; NULL: it has one */
	bool is_alone; /* of a board's: how it overlaps with the others is not known */
};

/* Files of the memory controller that a board names. */
enum watt_config_emc {
	WATT_CONFIG_EMC_ACTIVITY,
	WATT_CONFIG_EMC_PERIOD,
	WATT_CONFIG_EMC_RATE,
	WATT_CONFIG_EMC_N,
};

/* A board that is not built in, or means something else here: which of its rails contains which. */
struct watt_config_board {
	char *name;
	char **compatible; /* parts of the devicetree's compatible strings */
	size_t n_compatible;
	struct watt_config_rail *rails;
	size_t n_rails;
	/* files, below the folder of sysfs; lists are ended by NULL, or NULL */
	char **gpu_loads;
	size_t n_gpu_loads;
	char *emc[WATT_CONFIG_EMC_N];
	char **zones; /* types of thermal zones */
	size_t n_zones;
};

/* A model of estimation: power = idle + (full - idle) * utilisation, per logical CPU. */
struct watt_config_model {
	char *name;       /* microarchitecture or free text */
	char *match;      /* substring of the model name in cpuinfo; NULL: always */
	uint32_t idle_uw; /* per logical CPU */
	uint32_t full_uw; /* per logical CPU */
	uint32_t uncertainty_ppm;
};

/* An option of a session, as text: what it means is not known here. */
struct watt_config_option {
	char *name;
	char *value;
	int line; /* of the file, from 1 */
};

struct watt_config {
	struct watt_config_option *options;
	size_t n_options;
	struct watt_config_chip *chips;
	size_t n_chips;
	struct watt_config_rail *rails;
	size_t n_rails;
	struct watt_config_board *boards;
	size_t n_boards;
	struct watt_config_model *models;
	size_t n_models;
};

/*
 * Reads a YAML file. path NULL gives an empty configuration. -ENOENT, -EACCES, -EINVAL (the log
 * says file, line and what is wrong), -EOPNOTSUPP (built without YAML), -ENOMEM.
 */
int watt_config_open(const char *path, const struct watt_log *log, struct watt_config **ret);
/* The same from memory; name is for messages. */
int watt_config_parse(const char *text, size_t len, const char *name, const struct watt_log *log,
		      struct watt_config **ret);
struct watt_config *watt_config_free(struct watt_config *config);

#endif

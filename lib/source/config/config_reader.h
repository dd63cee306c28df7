/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strict reading of YAML nodes for the configuration file: each of these either takes what it is
 * told to, or says in the log what is wrong on which line and what is allowed, and returns
 * -EINVAL (-ENOMEM without a word). One thread per object.
 */
#ifndef WATT_SOURCE_CONFIG_CONFIG_READER_H
#define WATT_SOURCE_CONFIG_CONFIG_READER_H

#include <libfyaml.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/log.h"

/* More of one kind, and a longer text, than a configuration can mean. */
#define WATT_CONFIG_ENTRIES_MAX 1024
#define WATT_CONFIG_KEYS_MAX 256
#define WATT_CONFIG_DEPTH_MAX 32
#define WATT_CONFIG_TEXT_MAX 255
/* The highest number of a sensor in its chip. */
#define WATT_CONFIG_INDEX_MAX 255

struct watt_config_reader {
	const char *name; /* of the file */
	const struct watt_log *log;
	int line; /* of the key that was read last, from 1; 0: none yet */
};

/* A key that a mapping may have. */
struct watt_config_field {
	const char *key;
	int (*take)(struct watt_config_reader *rd, struct fy_node *node, void *obj);
	bool is_required;
};

/* Names the line of the node; where it has none (NULL), that of the last key. Returns -EINVAL. */
__attribute__((format(printf, 3, 4), nonnull(3))) int
watt_config_complain(struct watt_config_reader *rd, struct fy_node *node, const char *fmt, ...);

/*
 * Refuses what no configuration needs and libfyaml 0.7.12 does not end on, or may not: bytes that
 * are not UTF-8, NUL among them, and directives ('%' at the begin of a line).
 */
int watt_config_check_text(struct watt_config_reader *rd, const char *text, size_t len);

/*
 * Refuses more entries in a list or keys in a mapping than any configuration has, before libfyaml
 * compares each key of a mapping with all others. What is not YAML passes: others complain.
 */
int watt_config_check_entries(struct watt_config_reader *rd, struct fy_parser *parser);

/* The text of a scalar, to be freed; NULL if it is none or too long. Complains of nothing. */
char *watt_config_dup_scalar(struct fy_node *node);
/* A text that is not empty; replaces *ret, which is freed. */
int watt_config_take_text(struct watt_config_reader *rd, struct fy_node *node, const char *what,
			  char **ret);
int watt_config_take_index(struct watt_config_reader *rd, struct fy_node *node, uint32_t *ret);
/* "0.41" times 10^places, exactly; from 0 to max (after that). */
int watt_config_take_decimal(struct watt_config_reader *rd, struct fy_node *node, const char *what,
			     unsigned int places, uint32_t max, uint32_t *ret);

/* Every key by its field; fields end with an empty one, at most 32. */
int watt_config_read_mapping(struct watt_config_reader *rd, struct fy_node *node, const char *what,
			     const struct watt_config_field *fields, void *obj);
/* Every key, whatever it is called: take() frees it, also on failure. */
int watt_config_read_pairs(struct watt_config_reader *rd, struct fy_node *node, const char *what,
			   int (*take)(struct watt_config_reader *rd, char *key,
				       struct fy_node *value, void *obj),
			   void *obj);
int watt_config_read_sequence(struct watt_config_reader *rd, struct fy_node *node, const char *what,
			      int (*take)(struct watt_config_reader *rd, struct fy_node *node,
					  void *obj),
			      void *obj);
/* Makes room for one more than n elements in *array, which only this function grows. */
int watt_config_grow(struct watt_config_reader *rd, void **array, size_t n, size_t size);

#endif

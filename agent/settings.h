/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent's settings: one table, from which come the keys of the file, the variables of the
 * environment, the flags, --print-config and --help. Later ones win: the default, the file, the
 * environment, the flags. Every error is a sentence that says where, what, and what is allowed.
 *
 * One thread per object.
 */
#ifndef WATT_AGENT_SETTINGS_H
#define WATT_AGENT_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* In the order in which people are told of them. */
enum setting_id {
	SETTING_LISTEN,
	SETTING_CONNECTIONS,
	SETTING_CONNECTION_TIMEOUT,
	SETTING_WEB_CONFIG,
	SETTING_USER,
	SETTING_INTERVAL,
	SETTING_LEVELS,
	SETTING_LEVEL_DOMAINS,
	SETTING_TOP,
	SETTING_MIN_AGE,
	SETTING_KEEP_ENDED,
	SETTING_CREATED,
	SETTING_COMPAT,
	SETTING_LOG_LEVEL,
	SETTING_SOURCES,
	SETTING_USAGE,
	SETTING_PRECISE,
	SETTING_SLICE,
	SETTING_PERIOD,
	SETTING_RATES,
	SETTING_DELAYS,
	SETTING_IDLE_POLICY,
	SETTING_SHARE_KEYS,
	SETTING_PRIOR,
	SETTING_PRIVACY,
	SETTING_CONFIG,
	SETTING_MACHINE,
	SETTING_SYSFS_ROOT,
	SETTING_PROCFS_ROOT,
	SETTING_NVML_LIB,
	SETTING_REDFISH_URL,
	SETTING_REDFISH_AUTH,
	SETTING_REDFISH_TLS,
	SETTING_METER,
	SETTING_KUBELET_URL,
	SETTING_KUBELET_TOKEN,
	SETTING_KUBELET_TLS,
	SETTING_OTLP_URL,
	SETTING_OTLP_INTERVAL,
	SETTING_OTLP_HEADERS,
	SETTING_OTLP_TLS,
	SETTING_OTLP_QUEUE,
	SETTING_OTLP_QUEUE_MIB,
	SETTING_RECORDINGS,
	SETTING_RECORDINGS_MOST,
	SETTING_RECORDING_MIB,
	SETTING_N,
};

enum setting_type {
	SETTING_TEXT,   /* anything; empty: not set */
	SETTING_BOOL,   /* true or false */
	SETTING_COUNT,  /* a whole number from least to most */
	SETTING_TIME,   /* a duration with its unit, from least to most ns */
	SETTING_CHOICE, /* one of words */
	SETTING_LIST,   /* some of words, joined by commas; empty: none */
};

/* A row of the table. Immutable. */
struct setting {
	const char *name; /* "keep_ended": of the file; --keep-ended, WATTRIBUTE_KEEP_ENDED */
	enum setting_type type;
	uint64_t least, most;
	const char *words; /* of CHOICE and LIST, joined by '|' */
	const char *value; /* the default, as it is written */
	const char *help;  /* one line for people */
};

struct setting_value {
	char *text;      /* owned; as it was written */
	uint64_t number; /* of COUNT; ns of TIME; 0 or 1; index of CHOICE; bits of LIST */
	char *where;     /* owned; "agent.yaml:3"; NULL: the default */
};

struct settings {
	struct setting_value values[SETTING_N];
	char error[640]; /* the sentence about what failed last */
};

const struct setting *setting_get(enum setting_id id);
/* "from 1 to 10,000", "a time ...": what the setting takes. Returns buf. */
const char *setting_range(const struct setting *setting, char *buf, size_t size);

/* All of them at their defaults. */
void settings_init(struct settings *settings);
void settings_done(struct settings *settings);
/* One value; `where` begins the sentence of an error. 0 or -EINVAL, and nothing has changed. */
int settings_take(struct settings *settings, enum setting_id id, const char *text,
		  const char *where);
/*
 * A mapping of names to values as YAML. `name` is that of the file, for errors. 0 or -EINVAL, and
 * nothing has changed.
 */
int settings_take_yaml(struct settings *settings, const char *text, size_t n, const char *name);
/* 0; -ENOENT and the like if it can't be read; as settings_take_yaml(). */
int settings_take_file(struct settings *settings, const char *path);
/* Variables that begin with WATTRIBUTE_ and are none of ours are an error. */
int settings_take_environment(struct settings *settings, const char *const *environment);
/* Whether they make sense together. 0 or -EINVAL. */
int settings_check(struct settings *settings);

const char *settings_text(const struct settings *settings, enum setting_id id);
/* NULL where the text is empty: not set. */
const char *settings_text_or_null(const struct settings *settings, enum setting_id id);
uint64_t settings_number(const struct settings *settings, enum setting_id id);
/* Whether somebody set it: it is not the default. */
bool settings_is_made(const struct settings *settings, enum setting_id id);

/* All of them, as the file would have them; where each comes from is said beside it. */
void settings_print(const struct settings *settings, FILE *out);
/* The lines of --help. */
void settings_print_help(FILE *out);

#endif

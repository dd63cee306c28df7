/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The simulator's core, as its parts see it. A part (zones, chips, registers, ...) is a module
 * that registers a noun; the core reads scripts, checks each line against the noun's verbs and
 * calls them. All calls of verbs are made with the simulator's mutex held, so that a part needs
 * no lock for its lists.
 */
#ifndef WATTSIM_SIM_H
#define WATTSIM_SIM_H

#include <linux/list.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/types.h>

#define SIM_TEXT_MAX 48
#define SIM_KEYS_MAX 8

enum sim_key_type {
	SIM_NUMBER, /* within [min, max]; decimal, or hexadecimal with 0x */
	SIM_TEXT,   /* without blanks, at most max < SIM_TEXT_MAX characters */
};

struct sim_key {
	const char *name;
	enum sim_key_type type;
	bool is_required;
	u64 min, max;
};

/* What many nouns have: whose energy is shown, and with which error reads fail; 0: none. */
#define SIM_KEY_METER \
	{ \
		"meter", SIM_TEXT, true, 0, SIM_TEXT_MAX - 1 \
	}
#define SIM_KEY_ERRNO \
	{ \
		"errno", SIM_NUMBER, true, 0, 133 \
	}

struct sim_value {
	bool is_set;
	u64 number;
	char text[SIM_TEXT_MAX];
};

static inline u64 sim_number_or(const struct sim_value *value, u64 otherwise)
{
	return value->is_set ? value->number : otherwise;
}

struct sim_verb {
	const char *name;
	bool has_target;                   /* a name follows the verb */
	struct sim_key keys[SIM_KEYS_MAX]; /* up to the first without a name */
	/* values in the order of the keys; 0 or a negative errno */
	int (*run)(const char *target, const struct sim_value *values);
};

struct sim_noun {
	const char *name;
	struct module *owner;
	const struct sim_verb *verbs;
	size_t n_verbs;
	void (*show)(struct seq_file *file); /* one line for each object */
	struct list_head node;               /* the core's */
};

void sim_noun_register(struct sim_noun *noun);
/* Returns when no verb of the noun runs any more and none will; drops its scheduled lines. */
void sim_noun_unregister(struct sim_noun *noun);

/* The simulator's mutex, for what does not begin with a verb. */
void sim_lock(void);
void sim_unlock(void);

/* Says what is wrong with the line that runs now, and returns error. For verbs only. */
__printf(2, 3) int sim_fail(int error, const char *format, ...);

#endif

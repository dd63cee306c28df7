/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of the core share and its parts do not see. */
#ifndef WATTSIM_CORE_H
#define WATTSIM_CORE_H

#include "sim.h"

struct dentry;

/* One line of a script that has been read and found right. */
struct sim_command {
	const struct sim_noun *noun;
	const struct sim_verb *verb;
	unsigned int line; /* for messages */
	u64 delay_ms;
	char target[SIM_TEXT_MAX];
	struct sim_value values[SIM_KEYS_MAX];
};

/* noun.c: the table of nouns; with the simulator's mutex held */
const struct sim_noun *sim_noun_find(const char *name);
int sim_nouns_show(struct seq_file *file, void *unused);
void sim_nouns_help(struct seq_file *file);

/* error.c: the last message, for the file `error`; with the mutex held */
void sim_error_line(unsigned int line);
void sim_error_clear(void);
int sim_error_show(struct seq_file *file, void *unused);

/*
 * parse.c: reads a line, which it cuts up. 1: a command; 0: a blank line or a comment; else what is
 * wrong has been said by sim_fail().
 */
int sim_parse_line(char *line, struct sim_command *ret);

/* schedule.c: commands for later; with the mutex held */
int sim_schedule_add(const struct sim_command *command);
void sim_schedule_drop(const struct sim_noun *noun); /* NULL: all */
int sim_schedule_count(void);
void sim_schedule_exit(void); /* without the mutex */

/* script.c */
int sim_script_init(struct dentry *dir);
int sim_command_run(const struct sim_command *command);

/* meter.c */
void sim_meter_init(void);
void sim_meter_exit(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* A command: its name, what it does, and the function that does it. */
#ifndef WATT_CLI_COMMAND_H
#define WATT_CLI_COMMAND_H

struct command {
	const char *name;
	int (*fn)(int argc, char **argv); /* argv[0] is the command's name; returns the status */
	const char *summary;
};

int cmd_top(int argc, char **argv);
int cmd_stat(int argc, char **argv);
int cmd_replay(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_sources(int argc, char **argv);
int cmd_board(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_record(int argc, char **argv);
int cmd_mark(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_plot(int argc, char **argv);
int cmd_calibrate(int argc, char **argv);
int cmd_capture(int argc, char **argv);
int cmd_learn(int argc, char **argv);
int cmd_agent(int argc, char **argv);

#endif

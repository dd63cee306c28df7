/* SPDX-License-Identifier: Apache-2.0 */
/* The options by which a person chooses what a table of entities shows, live or of a recording. */
#ifndef WATT_CLI_TOP_CHOICE_H
#define WATT_CLI_TOP_CHOICE_H

#include "top_model.h"

/*
 * Takes -g, -s or -f as getopt_long() found it. 0; -EINVAL: it is none of these, or its value is
 * wrong and a line has been printed.
 */
int top_choice_take(struct top_model *model, int code);

#endif

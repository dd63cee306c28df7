/* SPDX-License-Identifier: Apache-2.0 */
/* `top` for pipes, files and dumb terminals: a plain table for each refresh. */
#ifndef WATT_CLI_TOP_PLAIN_H
#define WATT_CLI_TOP_PLAIN_H

#include <stdio.h>

#include "top_frame.h"

void top_plain_print(const struct top_frame *frame, FILE *out);

#endif

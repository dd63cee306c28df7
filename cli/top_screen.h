/* SPDX-License-Identifier: Apache-2.0 */
/* `top` on a full screen. One at a time; the terminal is as it was after top_screen_close(). */
#ifndef WATT_CLI_TOP_SCREEN_H
#define WATT_CLI_TOP_SCREEN_H

#include "top_frame.h"

struct top_screen;

/* What a key asks the program to do. */
enum top_action {
	TOP_NOTHING,
	TOP_QUIT,
	TOP_REDRAW,  /* the same data again */
	TOP_REBUILD, /* sort, group or filter have changed */
	TOP_PAUSE,
	TOP_THREADS, /* below their processes, or not */
	TOP_DOMAINS, /* columns of domains on or off */
	TOP_JOULES,  /* joules or watts */
	TOP_REFRESH, /* new data at once */
};

/* Takes the terminal. 0 or a negative errno; -EOPNOTSUPP: built without it. */
int top_screen_open(struct top_screen **ret);
struct top_screen *top_screen_close(struct top_screen *screen);
void top_screen_draw(struct top_screen *screen, const struct top_frame *frame);
/* Takes one key; changes the settings of model (never its rows). TOP_NOTHING: there is none. */
enum top_action top_screen_take_key(struct top_screen *screen, struct top_model *model);
/* The terminal has another size. */
void top_screen_resize(struct top_screen *screen);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The full screen of a command that was built without ncurses. */
#include "top_screen.h"

#include <errno.h>

int top_screen_open(struct top_screen **ret)
{
	return -EOPNOTSUPP;
}

struct top_screen *top_screen_close(struct top_screen *screen)
{
	return NULL;
}

void top_screen_draw(struct top_screen *screen, const struct top_frame *frame)
{
}

enum top_action top_screen_take_key(struct top_screen *screen, struct top_model *model)
{
	return TOP_NOTHING;
}

void top_screen_resize(struct top_screen *screen)
{
}

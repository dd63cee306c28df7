/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who is not known yet: attribution's questions go to the meta providers at once, and what they
 * answer goes to the executor whenever that is. One thread per object.
 */
#ifndef WATT_NAMING_H
#define WATT_NAMING_H

#include <stdbool.h>

#include "executor.h"
#include "sample/inquiry.h"

struct watt_naming {
	struct watt_inquiry *inquiry;
	struct watt_executor *executor; /* who is told */
	struct watt_attrib *attrib;     /* of it: who asks */
};

/* env is borrowed, and needed until watt_naming_stop() says that nothing hangs. 0 or -ENOMEM. */
int watt_naming_init(struct watt_naming *naming, const struct watt_env *env);
/* Before all that follows. */
void watt_naming_connect(struct watt_naming *naming, struct watt_executor *executor);
/* Asks what attribution would like to know. */
void watt_naming_ask(struct watt_naming *naming);
/* Whatever has been answered meanwhile, to whichever question. What the executor says. */
int watt_naming_take_answers(struct watt_naming *naming);
/* Whether something may yet be answered soon. */
bool watt_naming_is_pending(const struct watt_naming *naming);
/* Ends the threads. How many hang. Accepts what was not initialized, of zeros. */
int watt_naming_stop(struct watt_naming *naming);
void watt_naming_done(struct watt_naming *naming);

#endif

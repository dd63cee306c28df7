/* SPDX-License-Identifier: Apache-2.0 */
/* What the user chooses about sharing, from words to what the ledger does. */
#ifndef WATT_ATTRIB_KEYS_H
#define WATT_ATTRIB_KEYS_H

#include <wattribute/domain.h>

#include "attrib/key.h"
#include "attrib/tree.h"
#include "base/log.h"

/*
 * Gives domains of a tree other share keys: "KEY" for all, or a comma list of "DOMAIN=KEY"; the
 * last word on a domain holds. KEY is one of `keys`, or auto. NULL: all stay. 0, or -EINVAL and
 * the log has the sentence.
 */
int watt_keys_apply(const char *text, const struct watt_key_ops *const *keys,
		    struct watt_tree *tree, const struct watt_log *log);
/* NULL: separate. 0, or -EINVAL and the log has the sentence. */
int watt_idle_policy_parse(const char *text, const struct watt_log *log,
			   enum watt_idle_policy *ret);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What the user chooses about sharing, from words to what the ledger does. */
#ifndef WATT_ATTRIB_KEYS_H
#define WATT_ATTRIB_KEYS_H

#include <wattribute/domain.h>

#include "attrib/key.h"
#include "attrib/tree.h"
#include "base/log.h"
#include "base/rules.h"

/*
 * Gives domains of a tree other share keys, by their path or kind: one of `keys`, or
 * WATT_KEY_AUTO. NULL: all stay. 0, or -ENOENT and the log has the sentence.
 */
int watt_keys_apply(const struct watt_rules *rules, const struct watt_key_ops *const *keys,
		    struct watt_tree *tree, const struct watt_log *log);

#endif

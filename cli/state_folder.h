/* SPDX-License-Identifier: Apache-2.0 */
/* Where what is found out about this machine's sensors is kept, as the environment says. */
#ifndef WATT_CLI_STATE_FOLDER_H
#define WATT_CLI_STATE_FOLDER_H

#include <wattribute/options.h>

/*
 * Sets option state-dir: to $STATE_DIRECTORY, which a service manager names; of root to nothing,
 * which is the library's own; of others below $XDG_STATE_HOME or ~/.local/state. 0 or -ENOMEM.
 */
int state_folder_set(struct watt_options *options);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* No folder is made here, nor looked at. */
#include "state_folder.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* An absolute path that the environment holds; NULL: none. */
static const char *get_path(const char *name)
{
	const char *path = secure_getenv(name);

	return path && path[0] == '/' ? path : NULL;
}

int state_folder_set(struct watt_options *options)
{
	const char *given = get_path("STATE_DIRECTORY"), *state = get_path("XDG_STATE_HOME");
	const char *home = get_path("HOME");
	char path[PATH_MAX];
	int n = 0;

	if (given)
		return watt_options_set_state_dir(options, given);
	if (geteuid() == 0)
		return 0;
	if (state)
		n = snprintf(path, sizeof(path), "%s/wattribute", state);
	else if (home)
		n = snprintf(path, sizeof(path), "%s/.local/state/wattribute", home);
	return n > 0 && (size_t)n < sizeof(path) ? watt_options_set_state_dir(options, path) : 0;
}

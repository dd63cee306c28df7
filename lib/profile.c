/* SPDX-License-Identifier: Apache-2.0 */
/* Files of profiles. What they say is profile_file.c's. */
#include "profile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <wattribute/profile.h>

#include "base/cleanup.h"

static int read_all(FILE *file, char **ret, size_t *ret_len)
{
	char *text = NULL, *grown;
	size_t len = 0, cap = 0, n;

	do {
		if (cap - len < 2) {
			cap = cap ? 2 * cap : 65536;
			grown = realloc(text, cap);
			if (!grown) {
				free(text);
				return -ENOMEM;
			}
			text = grown;
		}
		n = fread(text + len, 1, cap - len - 1, file);
		len += n;
	} while (n > 0 && len <= WATT_PROFILE_TEXT_MAX);
	if (ferror(file) || len > WATT_PROFILE_TEXT_MAX) {
		int r = ferror(file) ? -errno : -EFBIG;

		free(text);
		return r;
	}
	text[len] = '\0';
	*ret = text;
	*ret_len = len;
	return 0;
}

int watt_profile_slurp(const char *path, const struct watt_log *log, char **ret, size_t *ret_len)
{
	FILE *file = fopen(path, "re");
	int r;

	errno = file ? 0 : errno;
	r = file ? read_all(file, ret, ret_len) : -errno;
	if (file)
		fclose(file);
	if (r < 0)
		watt_log(log, WATT_LOG_ERROR, "the profile %s can't be read: %s", path,
			 strerror(-r));
	return r;
}

int watt_profile_read(const char *path, watt_log_fn fn, void *data, struct watt_profile **ret)
{
	const struct watt_log log = { fn, data };
	_cleanup_free_ char *text = NULL;
	size_t len = 0;
	int r;

	if (!path || !ret)
		return -EINVAL;
	r = watt_profile_slurp(path, &log, &text, &len);
	return r < 0 ? r : watt_profile_parse(text, len, fn, data, ret);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Levels of privacy. What a secret looks like is base/redact's to know. */
#include "base/privacy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/redact.h"

bool watt_privacy_shows(enum watt_privacy privacy, uint32_t owner_uid,
			const struct watt_identity *identity)
{
	switch (privacy) {
	case WATT_PRIVACY_USERS:
	case WATT_PRIVACY_ALL:
		return true;
	case WATT_PRIVACY_OWN:
		return !(identity->missing & WATT_IDENTITY_UID) && identity->uid == owner_uid;
	default:
		return false;
	}
}

size_t watt_privacy_apply(enum watt_privacy privacy, char *bytes, size_t len)
{
	return privacy == WATT_PRIVACY_ALL ? len : watt_redact(bytes, len);
}

int watt_privacy_tell_command(enum watt_privacy privacy, const char *command, char **ret)
{
	size_t len;

	*ret = command ? strdup(command) : NULL;
	if (!*ret)
		return command ? -ENOMEM : 0;
	len = strlen(*ret);
	if (privacy == WATT_PRIVACY_NAMES)
		len = strcspn(*ret, " ");
	(*ret)[watt_privacy_apply(privacy, *ret, len)] = '\0';
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* sudo says it in the environment, in which nobody else can put it for root. */
#include "caller.h"

#include <stdlib.h>
#include <unistd.h>

#include "number.h"

static bool get_id(const char *name, uint32_t *ret)
{
	const char *text = geteuid() == 0 ? getenv(name) : NULL;
	uint64_t value;

	if (!text || number_count(text, 1, UINT32_MAX - 1, &value) < 0)
		return false;
	*ret = (uint32_t)value;
	return true;
}

bool caller_get_uid(uint32_t *ret)
{
	return get_id("SUDO_UID", ret);
}

bool caller_get_gid(uint32_t *ret)
{
	return get_id("SUDO_GID", ret);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as a passwd file and as /proc/PID/status, for the user that its first bytes name. */
#include "fuzz.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "source/meta/passwd.h"
#include "source/host/procdir.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint32_t uid = 0, status_uid;
	char name[16], *text;
	int r;

	if (size < sizeof(uid))
		return 0;
	memcpy(&uid, data, sizeof(uid));
	size -= sizeof(uid);
	text = malloc(size + 1);
	if (!text)
		return 0;
	memcpy(text, data + sizeof(uid), size);
	text[size] = '\0';
	r = watt_passwd_find(text, uid, name, sizeof(name));
	if (r != 0 && r != -ENOENT && r != -ENAMETOOLONG)
		abort();
	if (r == 0 && (strlen(name) == 0 || strchr(name, ':') || strchr(name, '\n')))
		abort();
	watt_procdir_parse_uid(text, &status_uid);
	free(text);
	return 0;
}

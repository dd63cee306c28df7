/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `wattribute agent`: becomes wattribute-agent, which is installed beside it. It is another program
 * so that this one need not load the libraries of a server.
 */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "message.h"
#include "status.h"
#include "xalloc.h"

#define AGENT "wattribute-agent"

/* Beside this program, or where the build has it. */
static void become(const char *place, char **argv)
{
	char self[PATH_MAX], *slash;
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n < 0)
		return;
	self[n] = '\0';
	slash = strrchr(self, '/');
	if (!slash)
		return;
	*slash = '\0';
	{
		auto_free char *path = xasprintf("%s%s" AGENT, self, place);

		execv(path, argv);
	}
}

int cmd_agent(int argc, char **argv)
{
	(void)argc;
	become("/", argv);
	if (errno == ENOENT)
		become("/../agent/", argv);
	if (errno == ENOENT)
		message_error("there is no " AGENT " beside this program; it is built where "
			      "libmicrohttpd is, and may be a package of its own");
	else
		message_error("cannot run " AGENT ": %s", strerror(errno));
	return STATUS_FAILURE;
}

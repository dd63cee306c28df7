/* SPDX-License-Identifier: Apache-2.0 */
/* Exit statuses, the same for every command; documented in wattribute(1). */
#ifndef WATT_CLI_STATUS_H
#define WATT_CLI_STATUS_H

enum status {
	STATUS_OK = 0,
	STATUS_FAILURE = 1,
	STATUS_USAGE = 2,
	STATUS_NOT_EXECUTABLE = 126, /* stat: the command is there and can't be run */
	STATUS_NOT_FOUND = 127,      /* stat: there is no such command */
	STATUS_SIGNAL = 128,         /* stat: plus the signal that ended the command */
};

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* `wattribute stat --json` where the command was built without JSON. */
#include <errno.h>

#include "stat_report.h"

int stat_report_json(const struct stat_report *report, FILE *out)
{
	return -EOPNOTSUPP;
}

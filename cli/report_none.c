/* SPDX-License-Identifier: Apache-2.0 */
/* Stands in for the report's JSON and page where the command is built without JSON. */
#include <errno.h>

#include "report.h"

int report_json_print(const struct report *report, FILE *out)
{
	(void)report;
	(void)out;
	return -EOPNOTSUPP;
}

int report_html_print(const struct report *report, FILE *out)
{
	(void)report;
	(void)out;
	return -EOPNOTSUPP;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The page without its data, made by web/report/build.py. */
#ifndef WATT_CLI_REPORT_TEMPLATE_H
#define WATT_CLI_REPORT_TEMPLATE_H

#include <stddef.h>

extern const unsigned char report_template[];
extern const size_t report_template_size; /* 0: the program was built without it */
extern const size_t report_template_hole; /* where the data go */

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The page without its data, made by web/report/build.py. */
#ifndef WATT_SINK_HTML_TEMPLATE_H
#define WATT_SINK_HTML_TEMPLATE_H

#include <stddef.h>

extern const unsigned char watt_html_template[];
extern const size_t watt_html_template_size; /* 0: the library was built without it */
extern const size_t watt_html_template_hole; /* where the data go */

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* In place of PNG, where the library is built without the headers of librsvg. */
#include "sink/png.h"

#include <errno.h>

int watt_png_write(const struct watt_log *log, const char *svg, size_t len, double width,
		   double height, FILE *out)
{
	(void)svg;
	(void)len;
	(void)width;
	(void)height;
	(void)out;
	watt_log(log, WATT_LOG_ERROR,
		 "this program was built without PNG (librsvg); give a name that ends in .svg");
	return -EOPNOTSUPP;
}

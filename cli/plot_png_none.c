/* SPDX-License-Identifier: Apache-2.0 */
/* In place of PNG, where the program is built without the headers of librsvg. */
#include <errno.h>

#include "message.h"
#include "plot.h"

int plot_png(const char *svg, size_t len, double width, double height, FILE *out)
{
	message_error("this program was built without PNG (librsvg); give a name that ends in "
		      ".svg");
	return -EOPNOTSUPP;
}

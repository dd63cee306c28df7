/* SPDX-License-Identifier: Apache-2.0 */
/* What can be printed where. Escape sequences go to terminals only, never to files or pipes. */
#include "page.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define WIDTH_DEFAULT 80

size_t page_get_width(FILE *out, size_t most)
{
	struct winsize size;

	if (ioctl(fileno(out), TIOCGWINSZ, &size) < 0 || size.ws_col < 20)
		return WIDTH_DEFAULT < most ? WIDTH_DEFAULT : most;
	return size.ws_col < most ? size.ws_col : most;
}

static bool has_colours(FILE *out)
{
	const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");

	return isatty(fileno(out)) && term && strcmp(term, "dumb") != 0 && !(no_color && *no_color);
}

const char *page_style(FILE *out, enum page_style style)
{
	static const char *const sequences[] = {
		[PAGE_PLAIN] = "\033[0m", [PAGE_BOLD] = "\033[1m", [PAGE_GOOD] = "\033[32m",
		[PAGE_WARN] = "\033[33m", [PAGE_BAD] = "\033[31m", [PAGE_DIM] = "\033[2m",
	};

	return has_colours(out) ? sequences[style] : "";
}

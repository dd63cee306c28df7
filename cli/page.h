/* SPDX-License-Identifier: Apache-2.0 */
/* The page that text is printed on: how wide it is, and whether it shows colours. */
#ifndef WATT_CLI_PAGE_H
#define WATT_CLI_PAGE_H

#include <stddef.h>
#include <stdio.h>

/* Columns of the terminal behind out, at most `most`; 80 where there is none. */
size_t page_get_width(FILE *out, size_t most);

enum page_style {
	PAGE_PLAIN,
	PAGE_BOLD,
	PAGE_GOOD,
	PAGE_WARN,
	PAGE_BAD,
	PAGE_DIM,
};

/* The escape sequence of a style, or "" where out is no colour terminal or NO_COLOR is set. */
const char *page_style(FILE *out, enum page_style style);

#endif

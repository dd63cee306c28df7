/* SPDX-License-Identifier: Apache-2.0 */
/* The files of the page, as the build puts them into the program. Immutable. */
#ifndef WATT_AGENT_PAGE_FILES_H
#define WATT_AGENT_PAGE_FILES_H

#include <stddef.h>

struct page_file {
	const char *path; /* of the URL */
	const char *mime;
	const unsigned char *bytes;
	size_t n;
};

extern const struct page_file page_files[];
extern const size_t page_n_files;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What an answer of a few words takes, whoever gives it. */
#ifndef WATT_AGENT_ANSWER_H
#define WATT_AGENT_ANSWER_H

#include <microhttpd.h>

#define ANSWER_TEXT "text/plain; charset=utf-8"

struct answer_header {
	const char *name; /* NULL: the last one is before it */
	const char *value;
};

/* The text is copied. headers: beside that of the type; NULL: none. */
enum MHD_Result answer_text(struct MHD_Connection *connection, unsigned int status,
			    const char *mime, const char *text,
			    const struct answer_header *headers);

#endif

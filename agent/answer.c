/* SPDX-License-Identifier: Apache-2.0 */
#include "answer.h"

#include <string.h>

enum MHD_Result answer_text(struct MHD_Connection *connection, unsigned int status,
			    const char *mime, const char *text, const struct answer_header *headers)
{
	struct MHD_Response *response =
		MHD_create_response_from_buffer(strlen(text), (void *)text, MHD_RESPMEM_MUST_COPY);
	enum MHD_Result result;

	if (!response)
		return MHD_NO;
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, mime);
	for (; headers && headers->name; headers++)
		MHD_add_response_header(response, headers->name, headers->value);
	result = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return result;
}

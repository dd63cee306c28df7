/* SPDX-License-Identifier: Apache-2.0 */
/* Which request is which call of recordings.h, and what its errors are in HTTP. */
#include "recording_routes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "answer.h"
#include "xalloc.h"

#define ROOT "/api/v1/recordings"

bool recording_routes_has(const char *path)
{
	size_t n = strlen(ROOT);

	return strncmp(path, ROOT, n) == 0 && (path[n] == '\0' || path[n] == '/');
}

static enum MHD_Result say(struct MHD_Connection *connection, unsigned int status, const char *mime,
			   const char *text, const char *location)
{
	struct answer_header headers[4] = { { MHD_HTTP_HEADER_CACHE_CONTROL, "no-store" } };
	size_t n = 1;

	if (location)
		headers[n++] = (struct answer_header){ MHD_HTTP_HEADER_LOCATION, location };
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		headers[n++] =
			(struct answer_header){ MHD_HTTP_HEADER_ALLOW, "GET, HEAD, POST, DELETE" };
	return answer_text(connection, status, mime, text, headers);
}

static enum MHD_Result refuse(struct MHD_Connection *connection, unsigned int status,
			      const char *text)
{
	return say(connection, status, ANSWER_TEXT, text, NULL);
}

/* A negative errno of recordings.h. */
static enum MHD_Result refuse_error(struct MHD_Connection *connection, int error)
{
	char text[256];

	switch (error) {
	case -ENOENT:
		return refuse(connection, MHD_HTTP_NOT_FOUND, "There is no such recording.\n");
	case -EBUSY:
		return refuse(connection, MHD_HTTP_CONFLICT,
			      "A recording runs; wait for its end, or delete it.\n");
	case -EUCLEAN:
		return refuse(
			connection, MHD_HTTP_CONFLICT,
			"The agent was killed while it wrote this: its last seconds are in a "
			"file beside it, so take both from the agent's folder, or delete it.\n");
	case -EDQUOT:
		return refuse(connection, MHD_HTTP_CONFLICT,
			      "There are as many recordings as there may be; delete one.\n");
	default:
		snprintf(text, sizeof(text), "This failed: %s.\n", strerror(-error));
		return refuse(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, text);
	}
}

/* What a page of somebody else makes a browser send is never JSON. */
static bool is_json(struct MHD_Connection *connection)
{
	const char *type = MHD_lookup_connection_value(connection, MHD_HEADER_KIND,
						       MHD_HTTP_HEADER_CONTENT_TYPE);
	size_t n = type ? strcspn(type, "; \t") : 0;

	return n == strlen("application/json") && strncasecmp(type, "application/json", n) == 0;
}

static enum MHD_Result begin(struct recordings *recordings, struct MHD_Connection *connection,
			     const struct request_body *body)
{
	char error[256], location[64];
	auto_free char *text = NULL;
	uint32_t seconds;
	uint64_t id;
	int r;

	if (!is_json(connection))
		return refuse(connection, MHD_HTTP_UNSUPPORTED_MEDIA_TYPE,
			      "This takes Content-Type: application/json.\n");
	if (!body || body->n > sizeof(body->text))
		return refuse(connection, MHD_HTTP_CONTENT_TOO_LARGE,
			      "Say {\"seconds\": N}, and nothing else.\n");
	if (recordings_parse(body->text, body->n, &seconds, error, sizeof(error)) < 0)
		return refuse(connection, MHD_HTTP_BAD_REQUEST, error);
	r = recordings_begin(recordings, seconds, &id);
	if (r < 0)
		return refuse_error(connection, r);
	text = recordings_describe_id(id);
	snprintf(location, sizeof(location), ROOT "/%" PRIu64, id);
	return say(connection, MHD_HTTP_ACCEPTED, "application/json", text ? text : "", location);
}

static enum MHD_Result list(struct recordings *recordings, struct MHD_Connection *connection)
{
	auto_free char *text = recordings_list(recordings);

	return say(connection, MHD_HTTP_OK, "application/json", text ? text : "", NULL);
}

static enum MHD_Result fetch(struct recordings *recordings, struct MHD_Connection *connection,
			     uint64_t id)
{
	struct MHD_Response *response;
	enum MHD_Result result;
	struct stat status;
	int fd, r = recordings_open_file(recordings, id, &fd);
	char name[96];

	if (r < 0)
		return refuse_error(connection, r);
	if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode)) {
		close(fd);
		return refuse_error(connection, -ENOENT);
	}
	response = MHD_create_response_from_fd((size_t)status.st_size, fd);
	if (!response) {
		close(fd);
		return MHD_NO;
	}
	snprintf(name, sizeof(name), "attachment; filename=\"wattribute-%" PRIu64 ".watt\"", id);
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, "application/vnd.sqlite3");
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_DISPOSITION, name);
	MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
	result = MHD_queue_response(connection, MHD_HTTP_OK, response);
	MHD_destroy_response(response);
	return result;
}

static enum MHD_Result forget(struct recordings *recordings, struct MHD_Connection *connection,
			      uint64_t id)
{
	auto_free char *text = NULL;
	int r = recordings_delete(recordings, id);

	if (r < 0)
		return refuse_error(connection, r);
	text = recordings_describe_id(id);
	return say(connection, MHD_HTTP_OK, "application/json", text ? text : "", NULL);
}

enum MHD_Result recording_routes_answer(struct recordings *recordings, bool is_known_client,
					struct MHD_Connection *connection, const char *path,
					const char *method, const struct request_body *body)
{
	const char *name = path + strlen(ROOT);
	bool is_get = strcmp(method, MHD_HTTP_METHOD_GET) == 0 ||
		      strcmp(method, MHD_HTTP_METHOD_HEAD) == 0;
	uint64_t id;

	if (!recordings)
		return refuse(connection, MHD_HTTP_NOT_FOUND,
			      "This agent makes no recordings: its setting 'recordings' says no "
			      "folder.\n");
	if (!is_known_client)
		return refuse(connection, MHD_HTTP_FORBIDDEN,
			      "Recordings are for who shows a password or a certificate: the "
			      "agent's setting 'web_config' says which.\n");
	if (*name == '\0' && is_get)
		return list(recordings, connection);
	if (*name == '\0' && strcmp(method, MHD_HTTP_METHOD_POST) == 0)
		return begin(recordings, connection, body);
	if (*name && recordings_parse_id(name + 1, &id) < 0)
		return refuse_error(connection, -ENOENT);
	if (*name && is_get)
		return fetch(recordings, connection, id);
	if (*name && strcmp(method, MHD_HTTP_METHOD_DELETE) == 0)
		return forget(recordings, connection, id);
	return refuse(connection, MHD_HTTP_METHOD_NOT_ALLOWED,
		      "This can be read, begun (POST) or deleted.\n");
}

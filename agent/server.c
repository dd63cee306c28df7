/* SPDX-License-Identifier: Apache-2.0 */
/* Listens, finds the answer to a request, and sends it. */
#include "server.h"

#include <errno.h>
#include <microhttpd.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "answer.h"
#include "message.h"
#include "page_files.h"
#include "recording_routes.h"
#include "xalloc.h"

#define REQUEST_MAX 16384 /* bytes of a request's head, and of what it takes to answer */

#define JSON "application/json"
/* The page gets everything from here, and runs nothing that stands in it. */
#define POLICY \
	"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " \
	"img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/* ---- answers ---- */

static enum MHD_Result send_text(struct MHD_Connection *connection, unsigned int status,
				 const char *text, const char *header, const char *value)
{
	const struct answer_header headers[] = { { header, value }, { NULL, NULL } };

	return answer_text(connection, status, ANSWER_TEXT, text, headers);
}

static void put_rendering(void *rendering)
{
	rendering_unref(rendering);
}

static enum MHD_Result send_document(struct server *server, struct MHD_Connection *connection,
				     enum document document, const char *mime)
{
	struct rendering *rendering = monitor_render(server->monitor, document);
	struct MHD_Response *response;
	enum MHD_Result result;

	if (!rendering)
		return send_text(connection, MHD_HTTP_INTERNAL_SERVER_ERROR,
				 "This can't be made; the agent's log says more.\n", NULL, NULL);
	response = MHD_create_response_from_buffer_with_free_callback_cls(
		rendering->bytes.n, rendering->bytes.data, put_rendering, rendering);
	if (!response) {
		rendering_unref(rendering);
		return MHD_NO;
	}
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, mime);
	MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
	MHD_add_response_header(response, MHD_HTTP_HEADER_VARY, MHD_HTTP_HEADER_ACCEPT);
	result = MHD_queue_response(connection, MHD_HTTP_OK, response);
	MHD_destroy_response(response);
	return result;
}

static enum MHD_Result send_metrics(struct server *server, struct MHD_Connection *connection)
{
	const char *accept =
		MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT);
	enum exposition_format format = exposition_choose(accept);

	return send_document(server, connection, (enum document)format, exposition_mime(format));
}

static enum MHD_Result send_status(struct server *server, struct MHD_Connection *connection)
{
	return send_document(server, connection, DOCUMENT_STATUS, JSON);
}

static enum MHD_Result send_history(struct server *server, struct MHD_Connection *connection)
{
	const char *level = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "level");
	int kind;

	if (!level)
		return send_document(server, connection, DOCUMENT_HISTORY, JSON);
	for (kind = 0; kind < LEVEL_N; kind++)
		if (strcmp(level, level_name((enum level_kind)kind)) == 0)
			break;
	if (kind == LEVEL_N)
		return send_text(connection, MHD_HTTP_BAD_REQUEST,
				 "'level' is process, container, pod, unit, user or vm.\n", NULL,
				 NULL);
	if (!(server->monitor->roster.opts.levels & 1u << kind))
		return send_text(connection, MHD_HTTP_NOT_FOUND,
				 "This agent does not tell of that level: its setting 'levels'.\n",
				 NULL, NULL);
	return send_document(server, connection, (enum document)(DOCUMENT_TAKERS + kind), JSON);
}

static enum MHD_Result send_snapshot(struct server *server, struct MHD_Connection *connection)
{
	return send_document(server, connection, DOCUMENT_SNAPSHOT, JSON);
}

static enum MHD_Result send_sources(struct server *server, struct MHD_Connection *connection)
{
	return send_document(server, connection, DOCUMENT_SOURCES, JSON);
}

static enum MHD_Result send_doctor(struct server *server, struct MHD_Connection *connection)
{
	const struct answer_header headers[] = { { MHD_HTTP_HEADER_CACHE_CONTROL, "no-store" },
						 { NULL, NULL } };
	enum MHD_Result result;
	int error;
	char *document = checkup_get(server->checkup, &error);

	if (!document && error)
		return send_text(connection, MHD_HTTP_INTERNAL_SERVER_ERROR,
				 "The doctor can't look at this machine now.\n", NULL, NULL);
	if (!document)
		return send_text(connection, MHD_HTTP_ACCEPTED,
				 "The doctor is looking at the machine: ask again in a second.\n",
				 MHD_HTTP_HEADER_RETRY_AFTER, "1");
	result = answer_text(connection, MHD_HTTP_OK, JSON, document, headers);
	free(document);
	return result;
}

/* Parts of the page, which are in this program. */
static enum MHD_Result send_file(struct MHD_Connection *connection, const struct page_file *file)
{
	struct MHD_Response *response = MHD_create_response_from_buffer(
		file->n, (void *)file->bytes, MHD_RESPMEM_PERSISTENT);
	enum MHD_Result result;

	if (!response)
		return MHD_NO;
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, file->mime);
	MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-cache");
	MHD_add_response_header(response, "Content-Security-Policy", POLICY);
	MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
	MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
	result = MHD_queue_response(connection, MHD_HTTP_OK, response);
	MHD_destroy_response(response);
	return result;
}

static enum MHD_Result send_health(struct server *server, struct MHD_Connection *connection)
{
	return send_text(connection, MHD_HTTP_OK, "It measures.\n", NULL, NULL);
}

static const struct route {
	const char *path;
	enum MHD_Result (*send)(struct server *server, struct MHD_Connection *connection);
} routes[] = {
	{ "/metrics", send_metrics },        { "/api/v1/status", send_status },
	{ "/api/v1/history", send_history }, { "/api/v1/snapshot", send_snapshot },
	{ "/api/v1/sources", send_sources }, { "/api/v1/doctor", send_doctor },
	{ "/-/healthy", send_health },       { "/-/ready", send_health },
};

/* ---- who may ask ---- */

static gnutls_session_t session_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);

	return info ? info->tls_session : NULL;
}

static enum gate_verdict ask_gate(struct server *server, struct MHD_Connection *connection)
{
	char *password = NULL;
	char *name = MHD_basic_auth_get_username_password(connection, &password);
	enum gate_verdict verdict =
		gate_check(server->gate, session_of(connection), name, password);

	if (password)
		explicit_bzero(password, strlen(password));
	MHD_free(password);
	MHD_free(name);
	return verdict;
}

static enum MHD_Result send_refusal(struct MHD_Connection *connection, enum gate_verdict verdict)
{
	switch (verdict) {
	case GATE_OPEN:
	case GATE_SHUT:
		break;
	case GATE_WHO:
		return send_text(connection, MHD_HTTP_UNAUTHORIZED,
				 "This takes a name and a password.\n",
				 MHD_HTTP_HEADER_WWW_AUTHENTICATE,
				 "Basic realm=\"wattribute\", charset=\"UTF-8\"");
	case GATE_BUSY:
		return send_text(connection, MHD_HTTP_TOO_MANY_REQUESTS,
				 "Too many wrong passwords.\n", MHD_HTTP_HEADER_RETRY_AFTER, "1");
	}
	return send_text(connection, MHD_HTTP_FORBIDDEN,
			 "This takes a certificate that this agent trusts.\n", NULL, NULL);
}

/* ---- requests ---- */

static const struct page_file *find_file(const char *path)
{
	size_t i;

	for (i = 0; i < page_n_files; i++)
		if (strcmp(page_files[i].path, path) == 0)
			return &page_files[i];
	return NULL;
}

static const struct route *find_route(const char *path)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(routes); i++)
		if (strcmp(routes[i].path, path) == 0)
			return &routes[i];
	return NULL;
}

static enum MHD_Result answer_path(struct server *server, struct MHD_Connection *connection,
				   const char *path, const char *method)
{
	const struct page_file *file = find_file(path);
	const struct route *route = find_route(path);
	bool is_known = strcmp(method, MHD_HTTP_METHOD_GET) == 0 ||
			strcmp(method, MHD_HTTP_METHOD_HEAD) == 0;

	if (!route && !file)
		return send_text(connection, MHD_HTTP_NOT_FOUND,
				 "There is nothing here; / says what there is.\n", NULL, NULL);
	if (!is_known)
		return send_text(connection, MHD_HTTP_METHOD_NOT_ALLOWED,
				 "This can only be read: GET or HEAD.\n", MHD_HTTP_HEADER_ALLOW,
				 "GET, HEAD");
	return file ? send_file(connection, file) : route->send(server, connection);
}

/* Whether it is known who asks, once the gate has let it in. */
static bool is_known_client(const struct server *server)
{
	return server->gate && (server->gate->config.n_users ||
				server->gate->config.client_auth == CLIENT_REQUIRED);
}

/* Of a path that takes no body it is forgotten. */
static void take_body(struct request_body *taken, const char *path, const char *body, size_t size)
{
	size_t room = taken->n < sizeof(taken->text) ? sizeof(taken->text) - taken->n : 0;

	if (!recording_routes_has(path))
		return;
	if (room)
		memcpy(taken->text + taken->n, body, size < room ? size : room);
	taken->n = size <= room ? taken->n + size : sizeof(taken->text) + 1;
}

/* A body is read before the answer. */
static enum MHD_Result answer(void *data, struct MHD_Connection *connection, const char *path,
			      const char *method, const char *version, const char *body,
			      size_t *body_size, void **state)
{
	struct server *server = data;
	enum gate_verdict verdict;

	(void)version;
	if (!*state) {
		*state = xcalloc(1, sizeof(struct request_body));
		return MHD_YES;
	}
	if (*body_size) {
		take_body(*state, path, body, *body_size);
		*body_size = 0;
		return MHD_YES;
	}
	verdict = server->gate ? ask_gate(server, connection) : GATE_OPEN;
	if (verdict != GATE_OPEN)
		return send_refusal(connection, verdict);
	if (recording_routes_has(path))
		return recording_routes_answer(server->recordings, is_known_client(server),
					       connection, path, method, *state);
	return answer_path(server, connection, path, method);
}

static void forget_request(void *data, struct MHD_Connection *connection, void **state,
			   enum MHD_RequestTerminationCode code)
{
	(void)data;
	(void)connection;
	(void)code;
	free(*state);
	*state = NULL;
}

/* ---- listening ---- */

/* What clients do wrong is theirs; who looks for something wants to see it. */
__attribute__((format(printf, 2, 0))) static void log_client(void *data, const char *format,
							     va_list args)
{
	char text[512];

	(void)data;
	vsnprintf(text, sizeof(text), format, args);
	text[strcspn(text, "\n")] = '\0';
	message_log(NULL, WATT_LOG_DEBUG, text);
}

/* A socket that listens; a negative errno. */
static int listen_on(union address *address)
{
	socklen_t size = address->any.sa_family == AF_INET ? sizeof(address->v4) :
							     sizeof(address->v6);
	int fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int on = 1, off = 0, error;

	/* A kernel without IPv6 still has all addresses of IPv4. */
	if (fd < 0 && errno == EAFNOSUPPORT && address->any.sa_family == AF_INET6 &&
	    IN6_IS_ADDR_UNSPECIFIED(&address->v6.sin6_addr)) {
		struct sockaddr_in v4 = { .sin_family = AF_INET,
					  .sin_port = address->v6.sin6_port };

		address->v4 = v4;
		return listen_on(address);
	}
	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (address->any.sa_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	if (bind(fd, &address->any, size) < 0 || listen(fd, SOMAXCONN) < 0 ||
	    getsockname(fd, &address->any, &size) < 0) {
		error = -errno;
		close(fd);
		return error;
	}
	return fd;
}

static bool has_tls(const struct server *server)
{
	return server->gate && server->gate->config.cert;
}

static struct MHD_Daemon *start(struct server *server, int fd, const struct settings *settings)
{
	static const struct web_config none;
	const struct web_config *config = server->gate ? &server->gate->config : &none;
	uint64_t timeout_ns = settings_number(settings, SETTING_CONNECTION_TIMEOUT);
	struct MHD_OptionItem tls[] = {
		{ MHD_OPTION_HTTPS_MEM_CERT, 0, config->cert },
		{ MHD_OPTION_HTTPS_MEM_KEY, 0, config->key },
		{ MHD_OPTION_HTTPS_PRIORITIES, 0, (char *)config->priorities },
		{ config->client_ca ? MHD_OPTION_HTTPS_MEM_TRUST : MHD_OPTION_END, 0,
		  config->client_ca },
		{ MHD_OPTION_END, 0, NULL },
	};
	unsigned int flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ERROR_LOG | MHD_USE_ITC;

	if (has_tls(server))
		flags |= MHD_USE_TLS;
	else
		tls[0].option = MHD_OPTION_END;
	return MHD_start_daemon(flags, 0, NULL, NULL, answer, server, MHD_OPTION_EXTERNAL_LOGGER,
				log_client, NULL, MHD_OPTION_LISTEN_SOCKET, fd,
				MHD_OPTION_CONNECTION_LIMIT,
				(unsigned int)settings_number(settings, SETTING_CONNECTIONS),
				MHD_OPTION_CONNECTION_TIMEOUT,
				(unsigned int)((timeout_ns + 999999999) / 1000000000),
				MHD_OPTION_NOTIFY_COMPLETED, forget_request, NULL,
				MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)REQUEST_MAX,
				MHD_OPTION_ARRAY, tls, MHD_OPTION_END);
}

/* Who may ask, as the settings say; NULL: everybody. 0 or a negative errno. */
static int read_gate(struct gate **ret, const struct settings *settings)
{
	const char *path = settings_text_or_null(settings, SETTING_WEB_CONFIG);
	struct web_config config;
	int r;

	*ret = NULL;
	if (!path)
		return 0;
	r = web_config_read(&config, path);
	if (r < 0)
		message_error("web_config: %s", config.yaml.error);
	else if (!(*ret = gate_new(&config)))
		r = -EIO;
	web_config_done(&config);
	return r;
}

static int open_one(struct server *server, const struct settings *settings)
{
	union address *address = &server->addresses[server->n];
	char text[ADDRESS_TEXT_MAX];
	int fd = listen_on(address);

	if (fd < 0) {
		message_error("cannot listen on %s: %s", address_print(address, text),
			      strerror(-fd));
		return fd;
	}
	server->daemons[server->n] = start(server, fd, settings);
	if (!server->daemons[server->n]) {
		message_error("cannot serve on %s: %s", address_print(address, text),
			      strerror(errno));
		close(fd);
		return -EIO;
	}
	message_note("serves http%s://%s/metrics", has_tls(server) ? "s" : "",
		     address_print(address, text));
	server->n++;
	return 0;
}

int server_open(struct server *server, struct monitor *monitor, const struct settings *settings)
{
	char error[256];
	int n = addresses_parse(settings_text(settings, SETTING_LISTEN), server->addresses, error,
				sizeof(error));
	int i, r = 0;

	server->monitor = monitor;
	server->n = 0;
	if (n < 0) {
		message_error("listen: %s", error);
		return n;
	}
	r = recordings_open(&server->recordings, settings);
	if (r == 0)
		r = checkup_open(&server->checkup, settings);
	if (r == 0)
		r = read_gate(&server->gate, settings);
	for (i = 0; i < n && r == 0; i++)
		r = open_one(server, settings);
	return r;
}

/* Other rules from now on. The sockets stay: who comes meanwhile waits. */
static void restart(struct server *server, struct gate *gate, const struct settings *settings)
{
	int fds[ADDRESSES_MAX], i, n = 0;

	for (i = 0; i < server->n; i++)
		fds[i] = MHD_quiesce_daemon(server->daemons[i]);
	for (i = 0; i < server->n; i++)
		MHD_stop_daemon(server->daemons[i]);
	gate_free(server->gate);
	server->gate = gate;
	for (i = 0; i < server->n; i++) {
		server->daemons[n] = start(server, fds[i], settings);
		server->addresses[n] = server->addresses[i];
		if (server->daemons[n]) {
			n++;
			continue;
		}
		message_error("cannot go on to serve on an address: %s", strerror(errno));
		close(fds[i]);
	}
	server->n = n;
}

void server_reload(struct server *server, const struct settings *settings)
{
	struct gate *gate;

	if (read_gate(&gate, settings) < 0) {
		message_error("who may ask stays as it was");
		return;
	}
	if (gate || server->gate)
		restart(server, gate, settings);
}

void server_close(struct server *server)
{
	while (server->n > 0)
		MHD_stop_daemon(server->daemons[--server->n]);
	server->gate = gate_free(server->gate);
	checkup_close(server->checkup);
	server->checkup = NULL;
	recordings_close(server->recordings);
	server->recordings = NULL;
}

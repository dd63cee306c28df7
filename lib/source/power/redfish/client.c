/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sessions with a token where there are any, else a password with each question. A password that
 * is refused is not tried again for a while: accounts are locked by that.
 */
#include "source/power/redfish/client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/http.h"
#include "base/util.h"
#include "source/power/redfish/credentials.h"

#define LOGIN_PAUSE_NS (60 * WATT_NSEC_PER_SEC)
#define LOGOUT_TIMEOUT_NS (1500 * WATT_NSEC_PER_MSEC)
#define OLD_SESSIONS "/redfish/v1/Sessions"
#define MAX_SIZE ((size_t)4 << 20)

struct watt_redfish_client {
	struct watt_http *http;
	char url[256]; /* https://host:port */
	struct watt_credentials who;
	bool has_login;
	char sessions[256]; /* "": it has none */
	bool has_no_sessions;
	char token[512];
	char session[512]; /* to delete */
	uint64_t login_again_ns;
	uint64_t timeout_ns;
	uint64_t deadline_ns;
	struct watt_bmc_clock clock;
	char problem[320];
};

#define SAY(client, ...) snprintf((client)->problem, sizeof((client)->problem), __VA_ARGS__)

/* ---- who and where ---- */

static int set_url(struct watt_redfish_client *client, const char *url, char *problem, size_t size)
{
	const char *host = strstr(url, "://");
	size_t len;

	if (host && strncasecmp(url, "https://", 8) && strncasecmp(url, "http://", 7)) {
		snprintf(problem, size, "'%.60s' is no https:// or http:// URL", url);
		return -EINVAL;
	}
	host = host ? host + 3 : url;
	len = strcspn(host, "/?#");
	if (len == 0 || len > 200) {
		snprintf(problem, size, "'%.60s' names no host", url);
		return -EINVAL;
	}
	if (memchr(host, '@', len)) {
		snprintf(problem, size, "a URL is seen by everybody: no password belongs in it");
		return -EINVAL;
	}
	snprintf(client->url, sizeof(client->url), "%.*s%.*s", host == url ? 8 : (int)(host - url),
		 host == url ? "https://" : url, (int)len, host);
	return 0;
}

static int read_login(const struct watt_env *env, struct watt_redfish_client *client, char *problem,
		      size_t size)
{
	char node[256] = "";
	unsigned int line;
	int r;

	if (env->redfish_user) {
		watt_strlcpy(client->who.user, env->redfish_user, sizeof(client->who.user));
		watt_strlcpy(client->who.password,
			     env->redfish_password ? env->redfish_password : "",
			     sizeof(client->who.password));
		client->has_login = true;
	}
	if (!env->redfish_auth)
		return 0;
	gethostname(node, sizeof(node) - 1);
	r = watt_credentials_read(env->redfish_auth, node, &client->who, &line);
	client->has_login = r == 0;
	if (r == -EPERM)
		snprintf(problem, size, "others may read %.120s: chmod o= it", env->redfish_auth);
	else if (r == -EBADMSG)
		snprintf(problem, size,
			 "%.120s, line %u: neither user,password nor node,user,password,URL",
			 env->redfish_auth, line);
	else if (r == -ENOENT && line)
		snprintf(problem, size, "%.120s has no line for %.60s, nor for *",
			 env->redfish_auth, node);
	else if (r < 0)
		snprintf(problem, size, "cannot read %.120s: %s", env->redfish_auth, strerror(-r));
	return r == -EPERM ? -EACCES : r == -EBADMSG ? -EINVAL : r;
}

static int open_http(const struct watt_env *env, struct watt_redfish_client *client, char *problem,
		     size_t size)
{
	const char *tls = env->redfish_tls;
	struct watt_http_opts opts = { .max_size = MAX_SIZE };
	int r;

	if (tls && !strcmp(tls, "insecure"))
		opts.is_insecure = true;
	else if (tls && !strncmp(tls, "sha256//", 8))
		opts.pin = tls;
	else if (tls && strcmp(tls, "verify"))
		opts.ca_file = tls;
	if (opts.ca_file && access(opts.ca_file, R_OK) < 0) {
		r = -errno;
		snprintf(problem, size, "cannot read the certificates in %.120s: %s", opts.ca_file,
			 strerror(-r));
		return r;
	}
	r = watt_http_open(&opts, &client->http);
	if (r == -EOPNOTSUPP)
		snprintf(problem, size, "libcurl.so.4 is not there: install libcurl4");
	return r;
}

int watt_redfish_client_open(const struct watt_env *env, struct watt_redfish_client **ret,
			     char *problem, size_t size)
{
	struct watt_redfish_client *client = calloc(1, sizeof(*client));
	int r;

	if (!client)
		return -ENOMEM;
	r = read_login(env, client, problem, size);
	if (r == 0 && (env->redfish_url || client->who.url[0]))
		r = set_url(client, env->redfish_url ? env->redfish_url : client->who.url, problem,
			    size);
	else if (r == 0)
		r = -ENODEV;
	if (r == 0)
		r = open_http(env, client, problem, size);
	if (r < 0) {
		watt_redfish_client_free(client);
		return r;
	}
	*ret = client;
	return 0;
}

/* ---- one question ---- */

static uint64_t time_left_ns(const struct watt_redfish_client *client)
{
	uint64_t now_ns = watt_now_ns();

	if (!client->deadline_ns)
		return client->timeout_ns;
	if (now_ns >= client->deadline_ns)
		return 1;
	return client->timeout_ns ? WATT_MIN(client->timeout_ns, client->deadline_ns - now_ns) :
				    client->deadline_ns - now_ns;
}

static int ask(struct watt_redfish_client *client, const struct watt_http_request *what,
	       const char *path, struct watt_http_answer *ret)
{
	struct watt_http_request request = *what;
	bool has_token = client->token[0];
	char url[768];
	int r;

	if (snprintf(url, sizeof(url), "%s%s", client->url, path) >= (int)sizeof(url)) {
		SAY(client, "it names a place that is too long");
		return -EBADMSG;
	}
	request.url = url;
	request.timeout_ns = time_left_ns(client);
	request.header = "OData-Version: 4.0";
	request.token = has_token ? client->token : NULL;
	if (!has_token && client->has_login && client->has_no_sessions) {
		request.user = client->who.user;
		request.password = client->who.password;
	}
	r = watt_http_ask(client->http, &request, ret);
	if (r < 0) {
		SAY(client, "%.200s", watt_http_get_problem(client->http));
		return r;
	}
	if (ret->date_s)
		watt_bmc_clock_see(&client->clock, ret->date_s * (int64_t)WATT_NSEC_PER_SEC,
				   WATT_NSEC_PER_SEC, ret->t_before_ns, ret->t_after_ns);
	return 0;
}

/* ---- sessions ---- */

void watt_redfish_set_sessions(struct watt_redfish_client *client, const char *path)
{
	watt_strlcpy(client->sessions, path ? path : "", sizeof(client->sessions));
	client->has_no_sessions = !path;
}

/* The path of the session that was begun: some say it with the host. */
static void keep_session(struct watt_redfish_client *client, const struct watt_http_answer *answer)
{
	const char *path = strstr(answer->location, "://");

	path = path ? strchr(path + 3, '/') : answer->location;
	watt_strlcpy(client->token, answer->token, sizeof(client->token));
	watt_strlcpy(client->session, path && path[0] == '/' ? path : "", sizeof(client->session));
}

static int post_login(struct watt_redfish_client *client, const char *path,
		      struct watt_http_answer *ret)
{
	struct watt_http_request request = { .method = "POST" };
	json_t *login = json_pack("{s:s,s:s}", "UserName", client->who.user, "Password",
				  client->who.password);
	char *body = login ? json_dumps(login, JSON_COMPACT) : NULL;
	int r = -ENOMEM;

	json_decref(login);
	request.body = body;
	if (body)
		r = ask(client, &request, path, ret);
	if (body)
		explicit_bzero(body, strlen(body));
	free(body);
	return r;
}

/* 0: there is a token, or none is needed; -EACCES: we are refused. */
static int log_in(struct watt_redfish_client *client)
{
	struct watt_http_answer answer = WATT_HTTP_ANSWER_INIT;
	uint64_t now_ns = watt_now_ns();
	int r;

	client->token[0] = '\0';
	if (!client->has_login || client->has_no_sessions)
		return 0;
	if (now_ns < client->login_again_ns)
		return -EACCES; /* the sentence is that of the last time */
	r = post_login(client, client->sessions, &answer);
	if (r == 0 && answer.code == 405 && strcmp(client->sessions, OLD_SESSIONS)) {
		watt_http_answer_done(&answer);
		r = post_login(client, OLD_SESSIONS, &answer);
	}
	if (r == 0 && answer.code / 100 == 2 && answer.token[0]) {
		keep_session(client, &answer);
	} else if (r == 0 && (answer.code == 401 || answer.code == 403 || answer.code == 400)) {
		SAY(client, "it refuses this user and password (%ld)", answer.code);
		client->login_again_ns = now_ns + LOGIN_PAUSE_NS;
		r = -EACCES;
	} else if (r == 0) {
		client->has_no_sessions = true; /* then with each question */
	}
	watt_http_answer_done(&answer);
	return r;
}

struct watt_redfish_client *watt_redfish_client_free(struct watt_redfish_client *client)
{
	struct watt_http_request request = { .method = "DELETE" };
	struct watt_http_answer answer = WATT_HTTP_ANSWER_INIT;

	if (!client)
		return NULL;
	if (client->token[0] && client->session[0]) {
		watt_redfish_set_limits(client, LOGOUT_TIMEOUT_NS, 0);
		ask(client, &request, client->session, &answer);
		watt_http_answer_done(&answer);
	}
	watt_http_free(client->http);
	watt_credentials_done(&client->who);
	explicit_bzero(client->token, sizeof(client->token));
	free(client);
	return NULL;
}

/* ---- documents ---- */

static int judge_code(struct watt_redfish_client *client, const char *path,
		      const struct watt_http_answer *answer)
{
	if (answer->code / 100 == 2)
		return 0;
	if (answer->code == 401 || answer->code == 403) {
		SAY(client,
		    client->has_login ? "this user may not read %.120s (%ld)" :
					"it wants a user and a password for %.120s (%ld)",
		    path, answer->code);
		return -EACCES;
	}
	SAY(client, "it answers %ld to %.120s", answer->code, path);
	if (answer->code == 404 || answer->code == 410)
		return -ENOENT;
	return answer->code == 429 || answer->code == 503 ? -EBUSY : -EREMOTEIO;
}

static int judge_body(struct watt_redfish_client *client, const char *path,
		      const struct watt_http_answer *answer, json_t **ret)
{
	char text[128];
	json_t *doc;
	int r;

	r = watt_redfish_parse(answer->body, answer->len, &doc);
	if (r < 0) {
		SAY(client, "what it answers to %.120s is no JSON object", path);
		return r;
	}
	r = watt_redfish_find_error(doc, text, sizeof(text));
	if (r < 0) {
		SAY(client, "it answers %.80s with %.127s", path, text);
		json_decref(doc);
		return r;
	}
	*ret = doc;
	return 0;
}

static int ask_document(struct watt_redfish_client *client, const char *path,
			struct watt_http_answer *answer)
{
	struct watt_http_request request = { 0 };
	int r;

	if (client->sessions[0] && !client->token[0]) {
		r = log_in(client);
		if (r < 0)
			return r;
	}
	r = ask(client, &request, path, answer);
	if (r < 0 || answer->code != 401 || !client->token[0])
		return r;
	/* the session has ended: they do, after minutes or when the BMC has begun again */
	watt_http_answer_done(answer);
	client->session[0] = '\0';
	r = log_in(client);
	return r < 0 ? r : ask(client, &request, path, answer);
}

int watt_redfish_get(struct watt_redfish_client *client, const char *path, json_t **ret,
		     struct watt_redfish_answer *ret_answer)
{
	struct watt_http_answer answer = WATT_HTTP_ANSWER_INIT;
	int r;

	r = ask_document(client, path, &answer);
	if (r == 0)
		r = judge_code(client, path, &answer);
	if (ret_answer) {
		*ret_answer = (struct watt_redfish_answer){ answer.t_before_ns, answer.t_after_ns,
							    "", answer.retry_after_s };
		watt_strlcpy(ret_answer->etag, answer.etag, sizeof(ret_answer->etag));
	}
	if (r == 0)
		r = judge_body(client, path, &answer, ret);
	watt_http_answer_done(&answer);
	return r;
}

void watt_redfish_set_limits(struct watt_redfish_client *client, uint64_t timeout_ns,
			     uint64_t deadline_ns)
{
	client->timeout_ns = timeout_ns;
	client->deadline_ns = deadline_ns;
}

const char *watt_redfish_get_problem(const struct watt_redfish_client *client)
{
	return client->problem;
}

const char *watt_redfish_get_url(const struct watt_redfish_client *client)
{
	return client->url;
}

const struct watt_bmc_clock *watt_redfish_get_clock(const struct watt_redfish_client *client)
{
	return &client->clock;
}

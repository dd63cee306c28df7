/* SPDX-License-Identifier: Apache-2.0 */
/* The kubelet's /pods, the API server's list and watch: URLs, tokens, certificates and codes. */
#include "source/meta/kubernetes/kube_link.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/http.h"
#include "base/util.h"
#include "source/meta/state_file.h"

#define ACCOUNT "/var/run/secrets/kubernetes.io/serviceaccount/"
#define MAX_TOKEN 16384
/* How long a server is asked to go on with a watch, and when it is taken for dead. */
#define WATCH_S 240
#define WATCH_TIMEOUT_NS ((WATCH_S + 60) * WATT_NSEC_PER_SEC)

struct watt_kube_link {
	struct watt_http *http;
	const atomic_bool *is_given_up;
	char *url;
	char *token_file;
	bool is_api;
	bool needs_token; /* somebody named the file */
	char problem[256];
};

#define SAY(link, ...) snprintf((link)->problem, sizeof((link)->problem), __VA_ARGS__)

/* An answer while it comes. */
struct arrival {
	struct watt_pieces pieces;
	long code;
};

/* ---- opening ---- */

static int check_url(struct watt_kube_link *link, const char *url)
{
	const char *host = strstr(url, "://");
	size_t len;

	if (strncmp(url, "https://", 8) && strncmp(url, "http://", 7)) {
		SAY(link, "'%.80s' is no https:// or http:// URL", url);
		return -EINVAL;
	}
	len = strcspn(host + 3, "/?#");
	if (!len || host[3] == ':') {
		SAY(link, "'%.80s' names no host", url);
		return -EINVAL;
	}
	if (memchr(host + 3, '@', len)) {
		SAY(link, "no password belongs in the URL; --kubelet-token=FILE has the token");
		return -EINVAL;
	}
	return 0;
}

/* The kubelet's list has a place of its own; an API server's is named in full. */
static int set_url(struct watt_kube_link *link, const char *url)
{
	size_t len = strlen(url);
	int r = check_url(link, url);

	if (r < 0)
		return r;
	link->is_api = strstr(url, "/api/v1/pods");
	while (!link->is_api && len && url[len - 1] == '/')
		len--;
	if (link->is_api || (len > 5 && !memcmp(url + len - 5, "/pods", 5)))
		r = asprintf(&link->url, "%.*s", (int)len, url);
	else
		r = asprintf(&link->url, "%.*s/pods", (int)len, url);
	if (r >= 0)
		return 0;
	link->url = NULL;
	return -ENOMEM;
}

static int open_http(struct watt_kube_link *link, const char *tls)
{
	struct watt_http_opts opts = { 0 };
	int r;

	if (tls && !strcmp(tls, "insecure"))
		opts.is_insecure = true;
	else if (tls && !strncmp(tls, "sha256//", 8))
		opts.pin = tls;
	else if (tls && strcmp(tls, "verify"))
		opts.ca_file = tls;
	else if (!tls && access(ACCOUNT "ca.crt", R_OK) == 0)
		opts.ca_file = ACCOUNT "ca.crt";
	if (opts.ca_file && access(opts.ca_file, R_OK) < 0) {
		r = -errno;
		SAY(link, "cannot read the certificates in %.120s: %s", opts.ca_file, strerror(-r));
		return r;
	}
	r = watt_http_open(&opts, &link->http);
	if (r == -EOPNOTSUPP)
		SAY(link, "libcurl.so.4 is not there: install libcurl4");
	return r;
}

int watt_kube_link_open(const struct watt_env *env, const atomic_bool *is_given_up,
			struct watt_kube_link **ret, char *problem, size_t size)
{
	struct watt_kube_link *link;
	int r = 0;

	if (!env->kubelet_url) {
		snprintf(problem, size, "nobody named a kubelet to ask");
		return -ENODEV;
	}
	link = calloc(1, sizeof(*link));
	if (!link)
		return -ENOMEM;
	link->is_given_up = is_given_up;
	link->needs_token = env->kubelet_token;
	link->token_file = strdup(env->kubelet_token ? env->kubelet_token : ACCOUNT "token");
	if (!link->token_file)
		r = -ENOMEM;
	if (r == 0)
		r = set_url(link, env->kubelet_url);
	if (r == 0)
		r = open_http(link, env->kubelet_tls);
	if (r < 0) {
		snprintf(problem, size, "%s", link->problem[0] ? link->problem : strerror(-r));
		watt_kube_link_free(link);
		return r;
	}
	*ret = link;
	return 0;
}

struct watt_kube_link *watt_kube_link_free(struct watt_kube_link *link)
{
	if (!link)
		return NULL;
	watt_http_free(link->http);
	free(link->token_file);
	free(link->url);
	free(link);
	return NULL;
}

bool watt_kube_link_is_api(const struct watt_kube_link *link)
{
	return link->is_api;
}

const char *watt_kube_link_get_url(const struct watt_kube_link *link)
{
	return link->url;
}

const char *watt_kube_link_get_problem(const struct watt_kube_link *link)
{
	return link->problem;
}

/* ---- asking ---- */

/* NULL in *ret: there is none, and nobody said that there is. */
static int read_token(struct watt_kube_link *link, char **ret)
{
	_cleanup_close_ int fd = open(link->token_file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	_cleanup_free_ char *token = malloc(MAX_TOKEN + 1);
	ssize_t len;

	*ret = NULL;
	if (!token)
		return -ENOMEM;
	if (fd < 0 && errno == ENOENT && !link->needs_token)
		return 0;
	len = fd < 0 ? -1 : read(fd, token, MAX_TOKEN + 1);
	if (len < 0) {
		int r = -errno;

		SAY(link, "cannot read the token in %.120s: %s", link->token_file, strerror(-r));
		return r;
	}
	while (len > 0 && (unsigned char)token[len - 1] <= ' ')
		len--;
	token[WATT_MIN(len, (ssize_t)MAX_TOKEN)] = '\0';
	if (len > MAX_TOKEN || strlen(token) != (size_t)len || token[strcspn(token, " \r\n")]) {
		SAY(link, "%.120s is no token", link->token_file);
		return -EBADMSG;
	}
	if (len) {
		*ret = token;
		token = NULL;
	}
	return 0;
}

static bool take_piece(void *data, long code, const char *text, size_t len)
{
	struct arrival *arrival = data;

	arrival->code = code;
	/* what explains an error is not for us */
	return code != 200 || watt_pieces_feed(&arrival->pieces, text, len) == 0;
}

static int error_of_code(struct watt_kube_link *link, long code)
{
	if (code == 200)
		return 0;
	if (code == 410) {
		SAY(link, "it does not remember so far back");
		return -ESTALE;
	}
	if (code == 401) {
		SAY(link, "it does not accept the token (401)");
		return -EACCES;
	}
	if (code == 403) {
		SAY(link, "the token's account may not %s (403)",
		    link->is_api ? "list and watch pods" : "get nodes/pods or nodes/proxy");
		return -EACCES;
	}
	SAY(link, "it answers with code %ld", code);
	return -EREMOTEIO;
}

static int ask(struct watt_kube_link *link, const char *url, uint64_t timeout_ns,
	       struct arrival *arrival)
{
	struct watt_http_answer answer = WATT_HTTP_ANSWER_INIT;
	_cleanup_free_ char *token = NULL;
	struct watt_http_request request = {
		.url = url,
		.timeout_ns = timeout_ns,
		.take = take_piece,
		.data = arrival,
		.is_given_up = link->is_given_up,
	};
	int r;

	link->problem[0] = '\0';
	r = read_token(link, &token);
	if (r < 0)
		return r;
	request.bearer = token;
	r = watt_http_ask(link->http, &request, &answer);
	arrival->code = answer.code;
	watt_http_answer_done(&answer);
	if (arrival->pieces.error) {
		SAY(link, "its answer is no list of pods");
		return arrival->pieces.error;
	}
	if (r < 0) {
		SAY(link, "%.250s", watt_http_get_problem(link->http));
		return r;
	}
	return error_of_code(link, arrival->code);
}

int watt_kube_link_list(struct watt_kube_link *link, uint64_t timeout_ns, watt_piece_fn fn,
			void *data)
{
	struct arrival arrival = {
		.pieces = { .of = WATT_PIECES_LIST,
			    .max_len = WATT_STATE_SIZE_MAX,
			    .fn = fn,
			    .data = data },
	};
	int r = ask(link, link->url, timeout_ns, &arrival);

	if (r == 0) {
		r = watt_pieces_end(&arrival.pieces);
		if (r < 0)
			SAY(link, "its answer is no list of pods, or not all of it");
	}
	watt_pieces_done(&arrival.pieces);
	return r;
}

int watt_kube_link_watch(struct watt_kube_link *link, const char *version, watt_piece_fn fn,
			 void *data)
{
	struct arrival arrival = {
		.pieces = { .of = WATT_PIECES_STREAM,
			    .max_len = WATT_STATE_SIZE_MAX,
			    .fn = fn,
			    .data = data },
	};
	_cleanup_free_ char *url = NULL;
	int r;

	if (asprintf(&url,
		     "%s%cwatch=1&allowWatchBookmarks=true&timeoutSeconds=%d&resourceVersion=%s",
		     link->url, strchr(link->url, '?') ? '&' : '?', WATCH_S, version) < 0) {
		url = NULL;
		return -ENOMEM;
	}
	r = ask(link, url, WATCH_TIMEOUT_NS, &arrival);
	watt_pieces_done(&arrival.pieces);
	return r;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HTTP by libcurl, one connection that is kept. What a server sends is limited while it comes; no
 * proxy of the environment is used: what is asked is in the neighbourhood.
 */
#include "base/http.h"

#include <curl/curl.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/parse.h"
#include "base/util.h"

#define DEFAULT_MAX_SIZE ((size_t)4 << 20)
#define MAX_HEADER_BYTES ((size_t)64 << 10)
#define MAX_REDIRECTIONS 4
#define DEFAULT_TIMEOUT_NS (10 * WATT_NSEC_PER_SEC)

/* What is used of libcurl. */
struct curl_api {
	CURL *(*easy_init)(void);
	void (*easy_cleanup)(CURL *);
	void (*easy_reset)(CURL *);
	CURLcode (*easy_setopt)(CURL *, CURLoption, ...);
	CURLcode (*easy_perform)(CURL *);
	CURLcode (*easy_getinfo)(CURL *, CURLINFO, ...);
	const char *(*easy_strerror)(CURLcode);
	time_t (*getdate)(const char *, const time_t *);
	struct curl_slist *(*slist_append)(struct curl_slist *, const char *);
	void (*slist_free_all)(struct curl_slist *);
};

struct watt_http {
	struct curl_api api;
	CURL *curl;
	char *ca_file;
	char *pin;
	bool is_insecure;
	size_t max_size;
	char error[CURL_ERROR_SIZE];
	char problem[CURL_ERROR_SIZE + 64];
};

/* An answer while it comes. */
struct arrival {
	struct watt_http *http;
	const struct watt_http_request *request;
	struct watt_http_answer *answer;
	size_t cap;
	size_t header_bytes;
	bool is_too_long;
	bool is_refused; /* nobody takes more of it */
	bool is_out_of_memory;
};

/* ---- the library ---- */

#define SYMBOL(name) \
	{ \
		"curl_" #name, offsetof(struct curl_api, name) \
	}

static int load(struct curl_api *api)
{
	static const char *const files[] = { "libcurl.so.4", "libcurl-gnutls.so.4" };
	static const struct {
		const char *name;
		size_t place;
	} symbols[] = {
		SYMBOL(easy_init),      SYMBOL(easy_cleanup), SYMBOL(easy_reset),
		SYMBOL(easy_setopt),    SYMBOL(easy_perform), SYMBOL(easy_getinfo),
		SYMBOL(easy_strerror),  SYMBOL(getdate),      SYMBOL(slist_append),
		SYMBOL(slist_free_all),
	};
	void *lib = NULL;
	size_t i;

	/* never unloaded: its own libraries leave threads and handlers behind */
	for (i = 0; i < WATT_ARRAY_SIZE(files) && !lib; i++)
		lib = dlopen(files[i], RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	for (i = 0; lib && i < WATT_ARRAY_SIZE(symbols); i++) {
		void *symbol = dlsym(lib, symbols[i].name);

		if (!symbol)
			return -EOPNOTSUPP;
		memcpy((char *)api + symbols[i].place, &symbol, sizeof(symbol));
	}
	return lib ? 0 : -EOPNOTSUPP;
}

int watt_http_open(const struct watt_http_opts *opts, struct watt_http **ret)
{
	struct watt_http *http = calloc(1, sizeof(*http));
	int r = 0;

	if (!http)
		return -ENOMEM;
	http->is_insecure = opts->is_insecure;
	http->max_size = opts->max_size ? opts->max_size : DEFAULT_MAX_SIZE;
	http->ca_file = watt_strdup(opts->ca_file, &r);
	http->pin = watt_strdup(opts->pin, &r);
	if (r == 0)
		r = load(&http->api);
	if (r == 0) {
		http->curl = http->api.easy_init();
		r = http->curl ? 0 : -ENOMEM;
	}
	if (r < 0) {
		watt_http_free(http);
		return r;
	}
	*ret = http;
	return 0;
}

struct watt_http *watt_http_free(struct watt_http *http)
{
	if (!http)
		return NULL;
	if (http->curl)
		http->api.easy_cleanup(http->curl);
	free(http->ca_file);
	free(http->pin);
	free(http);
	return NULL;
}

const char *watt_http_get_problem(const struct watt_http *http)
{
	return http->problem;
}

void watt_http_answer_done(struct watt_http_answer *answer)
{
	free(answer->body);
	*answer = (struct watt_http_answer)WATT_HTTP_ANSWER_INIT;
}

/* ---- what comes ---- */

static size_t hand_on(struct arrival *arrival, const char *data, size_t len)
{
	const struct watt_http_request *request = arrival->request;
	struct watt_http *http = arrival->http;
	long code = 0;

	http->api.easy_getinfo(http->curl, CURLINFO_RESPONSE_CODE, &code);
	arrival->is_refused = !request->take(request->data, code, data, len);
	return arrival->is_refused ? 0 : len;
}

static size_t take_body(char *data, size_t size, size_t n, void *to)
{
	struct arrival *arrival = to;
	struct watt_http_answer *answer = arrival->answer;
	size_t len = size * n, cap = arrival->cap;
	char *body;

	if (arrival->request->take)
		return hand_on(arrival, data, len);
	if (len > arrival->http->max_size - answer->len) {
		arrival->is_too_long = true;
		return 0;
	}
	while (cap < answer->len + len + 1)
		cap = cap ? cap * 2 : 4096;
	if (cap > arrival->cap) {
		body = realloc(answer->body, cap);
		arrival->is_out_of_memory = !body;
		if (!body)
			return 0;
		answer->body = body;
		arrival->cap = cap;
	}
	memcpy(answer->body + answer->len, data, len);
	answer->len += len;
	answer->body[answer->len] = '\0';
	return len;
}

/* The value of a header, cut, if it is the one that is asked for. What does not fit is not there. */
static bool is_header(const char *line, size_t len, const char *name, char *buf, size_t size)
{
	size_t n = strlen(name);

	if (len <= n || line[n] != ':' || strncasecmp(line, name, n))
		return false;
	line += n + 1;
	len -= n + 1;
	while (len && (*line == ' ' || *line == '\t')) {
		line++;
		len--;
	}
	while (len && (unsigned char)line[len - 1] <= ' ')
		len--;
	if (len >= size || memchr(line, '\0', len))
		return false;
	memcpy(buf, line, len);
	buf[len] = '\0';
	return true;
}

static void begin_answer(struct arrival *arrival)
{
	struct watt_http_answer *answer = arrival->answer;
	uint64_t t_before_ns = answer->t_before_ns;

	free(answer->body);
	*answer = (struct watt_http_answer){ .t_before_ns = t_before_ns };
	arrival->cap = 0;
}

static size_t take_header(char *line, size_t size, size_t n, void *to)
{
	struct arrival *arrival = to;
	struct watt_http_answer *answer = arrival->answer;
	size_t len = size * n;
	char text[128];
	uint64_t number;

	arrival->header_bytes += len;
	if (arrival->header_bytes > MAX_HEADER_BYTES) {
		arrival->is_too_long = true;
		return 0;
	}
	if (len > 5 && !memcmp(line, "HTTP/", 5))
		begin_answer(arrival); /* after one that only said "go on" */
	is_header(line, len, "ETag", answer->etag, sizeof(answer->etag));
	is_header(line, len, "X-Auth-Token", answer->token, sizeof(answer->token));
	is_header(line, len, "Location", answer->location, sizeof(answer->location));
	if (is_header(line, len, "Date", text, sizeof(text)))
		answer->date_s = WATT_MAX((int64_t)arrival->http->api.getdate(text, NULL), 0);
	if (is_header(line, len, "Retry-After", text, sizeof(text)) &&
	    watt_parse_u64(text, &number) == 0)
		answer->retry_after_s = (uint32_t)WATT_MIN(number, (uint64_t)3600);
	return len;
}

/* ---- asking ---- */

/* Called now and then, once a second at least. Not 0: that was all. */
static int look_up(void *to, curl_off_t all_down, curl_off_t down, curl_off_t all_up, curl_off_t up)
{
	const struct arrival *arrival = to;

	(void)all_down;
	(void)down;
	(void)all_up;
	(void)up;
	return atomic_load(arrival->request->is_given_up);
}

static void set_up(struct watt_http *http, const struct watt_http_request *request, const char *url,
		   uint64_t left_ns, struct arrival *arrival)
{
	CURLcode (*set)(CURL *, CURLoption, ...) = http->api.easy_setopt;
	bool is_verified = !http->is_insecure && !http->pin;
	long left_ms = (long)(left_ns / WATT_NSEC_PER_MSEC) + 1;
	CURL *curl = http->curl;

	http->api.easy_reset(curl);
	set(curl, CURLOPT_URL, url);
#if LIBCURL_VERSION_NUM >= 0x075500
	set(curl, CURLOPT_PROTOCOLS_STR, "http,https");
#else
	set(curl, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
	set(curl, CURLOPT_NOSIGNAL, 1L);
	set(curl, CURLOPT_PROXY, "");
	set(curl, CURLOPT_TIMEOUT_MS, left_ms);
	set(curl, CURLOPT_CONNECTTIMEOUT_MS, left_ms);
	set(curl, CURLOPT_ERRORBUFFER, http->error);
	set(curl, CURLOPT_WRITEFUNCTION, take_body);
	set(curl, CURLOPT_WRITEDATA, arrival);
	set(curl, CURLOPT_HEADERFUNCTION, take_header);
	set(curl, CURLOPT_HEADERDATA, arrival);
	set(curl, CURLOPT_SSL_VERIFYPEER, is_verified ? 1L : 0L);
	set(curl, CURLOPT_SSL_VERIFYHOST, is_verified ? 2L : 0L);
	if (request->is_given_up) {
		set(curl, CURLOPT_NOPROGRESS, 0L);
		set(curl, CURLOPT_XFERINFOFUNCTION, look_up);
		set(curl, CURLOPT_XFERINFODATA, arrival);
	}
	if (http->ca_file)
		set(curl, CURLOPT_CAINFO, http->ca_file);
	if (http->pin)
		set(curl, CURLOPT_PINNEDPUBLICKEY, http->pin);
	if (request->method)
		set(curl, CURLOPT_CUSTOMREQUEST, request->method);
	if (request->body)
		set(curl, CURLOPT_POSTFIELDS, request->body);
	if (!request->token && request->user) {
		set(curl, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
		set(curl, CURLOPT_USERNAME, request->user);
		set(curl, CURLOPT_PASSWORD, request->password ? request->password : "");
	}
}

/* Frees the list when there is no memory for more. */
static int add_header(struct watt_http *http, struct curl_slist **list, const char *name,
		      const char *value)
{
	_cleanup_free_ char *line = NULL;
	struct curl_slist *longer;

	if (asprintf(&line, "%s%s", name, value) < 0) {
		line = NULL;
		return -ENOMEM;
	}
	longer = http->api.slist_append(*list, line);
	if (!longer)
		return -ENOMEM;
	*list = longer;
	return 0;
}

static int list_headers(struct watt_http *http, const struct watt_http_request *request,
			struct curl_slist **ret)
{
	struct curl_slist *list = NULL;
	int r;

	r = add_header(http, &list, "Accept: application/json", "");
	if (r == 0)
		r = add_header(http, &list, "Expect:", "");
	if (r == 0 && request->body)
		r = add_header(http, &list, "Content-Type: application/json", "");
	if (r == 0 && request->header)
		r = add_header(http, &list, request->header, "");
	if (r == 0 && request->token)
		r = add_header(http, &list, "X-Auth-Token: ", request->token);
	if (r == 0 && request->bearer)
		r = add_header(http, &list, "Authorization: Bearer ", request->bearer);
	if (r < 0) {
		http->api.slist_free_all(list);
		return r;
	}
	*ret = list;
	return 0;
}

static int error_of(const struct arrival *arrival, CURLcode code)
{
	if (arrival->is_too_long)
		return -EMSGSIZE;
	if (arrival->is_out_of_memory)
		return -ENOMEM;
	if (arrival->is_refused)
		return -ECANCELED;
	switch (code) {
	case CURLE_OK:
		return 0;
	case CURLE_OPERATION_TIMEDOUT:
		return -ETIMEDOUT;
	case CURLE_COULDNT_RESOLVE_HOST:
	case CURLE_COULDNT_CONNECT:
		return -EHOSTUNREACH;
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
	case CURLE_SSL_CACERT_BADFILE:
		return -EKEYREJECTED;
	case CURLE_URL_MALFORMAT:
	case CURLE_UNSUPPORTED_PROTOCOL:
		return -EINVAL;
	case CURLE_ABORTED_BY_CALLBACK:
		return -ECANCELED;
	case CURLE_OUT_OF_MEMORY:
		return -ENOMEM;
	default:
		return -EPROTO;
	}
}

static void note_problem(struct watt_http *http, const struct arrival *arrival, CURLcode code)
{
	if (arrival->is_too_long)
		snprintf(http->problem, sizeof(http->problem), "its answer is longer than %zu KiB",
			 http->max_size >> 10);
	else
		snprintf(http->problem, sizeof(http->problem), "%s",
			 http->error[0] ? http->error : http->api.easy_strerror(code));
}

/* One exchange; *ret_next is where the server sends us, or empty. */
static int ask_once(struct watt_http *http, const struct watt_http_request *request,
		    const char *url, uint64_t left_ns, struct watt_http_answer *ret, char *ret_next,
		    size_t size)
{
	struct arrival arrival = { .http = http, .request = request, .answer = ret };
	struct curl_slist *headers;
	char *next = NULL;
	CURLcode code;
	int r;

	r = list_headers(http, request, &headers);
	if (r < 0)
		return r;
	set_up(http, request, url, left_ns, &arrival);
	http->api.easy_setopt(http->curl, CURLOPT_HTTPHEADER, headers);
	http->error[0] = '\0';
	ret->t_before_ns = watt_now_ns();
	begin_answer(&arrival);
	code = http->api.easy_perform(http->curl);
	ret->t_after_ns = watt_now_ns();
	http->api.easy_getinfo(http->curl, CURLINFO_RESPONSE_CODE, &ret->code);
	http->api.easy_getinfo(http->curl, CURLINFO_REDIRECT_URL, &next);
	watt_strlcpy(ret_next, next ? next : "", size);
	http->api.slist_free_all(headers);
	r = error_of(&arrival, code);
	if (r < 0)
		note_problem(http, &arrival, code);
	return r;
}

/* The length of "https://host:port". */
static size_t origin_length(const char *url)
{
	const char *host = strstr(url, "://");

	return host ? (size_t)(host - url) + 3 + strcspn(host + 3, "/?#") : 0;
}

static bool is_same_origin(const char *a, const char *b)
{
	size_t len = origin_length(a);

	return len && len == origin_length(b) && !strncasecmp(a, b, len);
}

int watt_http_ask(struct watt_http *http, const struct watt_http_request *request,
		  struct watt_http_answer *ret)
{
	uint64_t timeout_ns = request->timeout_ns ? request->timeout_ns : DEFAULT_TIMEOUT_NS;
	uint64_t deadline_ns = watt_now_ns() + timeout_ns, now_ns;
	char url[1024], next[1024];
	unsigned int i;
	int r;

	http->problem[0] = '\0';
	if (strlen(request->url) >= sizeof(url)) {
		snprintf(http->problem, sizeof(http->problem), "its URL is too long");
		return -EINVAL;
	}
	watt_strlcpy(url, request->url, sizeof(url));
	for (i = 0; i <= MAX_REDIRECTIONS; i++) {
		now_ns = watt_now_ns();
		r = ask_once(http, request, url, deadline_ns > now_ns ? deadline_ns - now_ns : 0,
			     ret, next, sizeof(next));
		if (r < 0 || !next[0])
			return r;
		if (!is_same_origin(url, next) || (request->method && request->body)) {
			snprintf(http->problem, sizeof(http->problem),
				 "it sends us elsewhere, to %.200s", next);
			return -ELOOP;
		}
		watt_strlcpy(url, next, sizeof(url));
	}
	snprintf(http->problem, sizeof(http->problem), "it sends us in circles");
	return -ELOOP;
}

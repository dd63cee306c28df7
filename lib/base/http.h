/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks HTTP servers that nobody has to trust: every answer has a deadline and a size, TLS is
 * verified unless somebody says otherwise, and a redirection never leaves the server. libcurl is
 * loaded when the first one is opened, so that whoever asks nobody does not carry it. It must not
 * know what is asked. One thread per object.
 */
#ifndef WATT_BASE_HTTP_H
#define WATT_BASE_HTTP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct watt_http;

struct watt_http_opts {
	const char *ca_file; /* PEM; NULL: whom the system trusts */
	const char *pin;     /* "sha256//BASE64" of the server's key: it is trusted, and no other */
	bool is_insecure;    /* anybody who answers is trusted */
	size_t max_size;     /* of an answer; 0: 4 MiB */
};

struct watt_http_request {
	const char *method; /* NULL: GET */
	const char *url;    /* http:// or https:// */
	const char *body;   /* JSON; NULL: none */
	const char *token;  /* value of X-Auth-Token; NULL: none */
	const char *bearer; /* of Authorization: Bearer; NULL: none */
	const char *header; /* one more line, "OData-Version: 4.0"; NULL: none */
	const char *user;   /* with password; NULL: none */
	const char *password;
	uint64_t timeout_ns;
	/*
	 * Takes each piece of the answer while it comes, instead of body: false ends it. It is told
	 * what the answer's code is. NULL: the answer is kept.
	 */
	bool (*take)(void *data, long code, const char *text, size_t len);
	void *data;
	/* Once it is set, by any thread, the question is given up within a second. NULL: never. */
	const atomic_bool *is_given_up;
};

struct watt_http_answer {
	long code;  /* 200 */
	char *body; /* NUL-terminated; NULL: none was read */
	size_t len;
	char etag[128];
	char token[512];        /* X-Auth-Token */
	char location[512];     /* as the server says it */
	int64_t date_s;         /* of the server's clock; 0: it does not say */
	uint32_t retry_after_s; /* 0: it does not say */
	uint64_t t_before_ns;   /* CLOCK_MONOTONIC */
	uint64_t t_after_ns;
};

#define WATT_HTTP_ANSWER_INIT \
	{ \
		0 \
	}

/* Strings of opts are copied. 0; -EOPNOTSUPP: libcurl is not there; -ENOMEM. */
int watt_http_open(const struct watt_http_opts *opts, struct watt_http **ret);
/* Accepts NULL; returns NULL. */
struct watt_http *watt_http_free(struct watt_http *http);
/*
 * Asks, and waits for the whole answer; any code is one. -ETIMEDOUT, -EHOSTUNREACH (no such host,
 * or nobody there), -EKEYREJECTED (the certificate is not to be trusted), -EMSGSIZE, -ELOOP (it
 * sends us around, or elsewhere), -EPROTO (no HTTP), -EINVAL (no URL), -ECANCELED (given up, or
 * nobody takes more), -ENOMEM. *ret is freed by
 * watt_http_answer_done(), also after an error.
 */
int watt_http_ask(struct watt_http *http, const struct watt_http_request *request,
		  struct watt_http_answer *ret);
/* What was wrong with the newest question that failed, in words. */
const char *watt_http_get_problem(const struct watt_http *http);
void watt_http_answer_done(struct watt_http_answer *answer);

#endif

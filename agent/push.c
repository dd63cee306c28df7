/* SPDX-License-Identifier: Apache-2.0 */
/* HTTP by libcurl; its multi interface can be waken up in the middle of a request. */
#include "push.h"

#include <ctype.h>
#include <curl/curl.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "message.h"
#include "otlp.h"
#include "outbox.h"
#include "xalloc.h"

#define MS 1000000ULL
#define SECOND (1000 * MS)
#define LEAST_PAUSE_NS SECOND
#define MOST_PAUSE_NS (60 * SECOND)
#define MOST_ASKED_NS (3600 * SECOND)
#define REQUEST_TIMEOUT_MS 30000L
#define ANSWER_MAX 4096
#define HEADERS_MAX 16384

struct push {
	struct monitor *monitor;
	struct outbox outbox;
	uint64_t interval_ns;
	char *url; /* owned */
	CURLM *multi;
	CURL *curl;
	struct curl_slist *headers;
	char error[CURL_ERROR_SIZE];
	char answer[ANSWER_MAX]; /* the beginning of it */
	size_t n_answer;
	uint64_t pause_ns; /* before the next try; 0: the last one went well */
	bool has_told;     /* of the trouble that it is in */
	uint64_t told_ns;  /* the instant that the last document tells of, by the wall clock */
	unsigned int seed;
	pthread_t thread;
	bool is_ending; /* atomic */
};

static bool is_ending(const struct push *push)
{
	return __atomic_load_n(&push->is_ending, __ATOMIC_ACQUIRE);
}

static void count(uint64_t *counter, uint64_t n)
{
	__atomic_add_fetch(counter, n, __ATOMIC_RELAXED);
}

/* ---- one request ---- */

static size_t take_answer(char *data, size_t size, size_t n, void *user)
{
	struct push *push = user;
	size_t room = sizeof(push->answer) - push->n_answer;
	size_t taken = size * n < room ? size * n : room;

	memcpy(push->answer + push->n_answer, data, taken);
	push->n_answer += taken;
	return size * n; /* the rest is not looked at */
}

/* Until it is done, or we are to end. -ECANCELED: that. */
static int perform(struct push *push, CURLcode *ret)
{
	int running = 1, left;
	CURLMsg *message;

	while (running) {
		if (is_ending(push))
			return -ECANCELED;
		if (curl_multi_perform(push->multi, &running) != CURLM_OK)
			return -EIO;
		if (running)
			curl_multi_poll(push->multi, NULL, 0, 1000, NULL);
	}
	while ((message = curl_multi_info_read(push->multi, &left)))
		if (message->msg == CURLMSG_DONE)
			*ret = message->data.result;
	return 0;
}

/* The status of the answer; 0: there is none; -ECANCELED. */
static long post(struct push *push, const char *text, size_t n)
{
	CURLcode code = CURLE_FAILED_INIT;
	long status = 0;
	int r;

	push->n_answer = 0;
	push->error[0] = '\0';
	curl_easy_setopt(push->curl, CURLOPT_POSTFIELDS, text);
	curl_easy_setopt(push->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)n);
	curl_multi_add_handle(push->multi, push->curl);
	r = perform(push, &code);
	curl_multi_remove_handle(push->multi, push->curl);
	if (r == -ECANCELED)
		return r;
	if (r < 0 || code != CURLE_OK) {
		if (!push->error[0])
			snprintf(push->error, sizeof(push->error), "%s", curl_easy_strerror(code));
		return 0;
	}
	curl_easy_getinfo(push->curl, CURLINFO_RESPONSE_CODE, &status);
	snprintf(push->error, sizeof(push->error), "it answers %ld", status);
	return status;
}

/* ---- what becomes of a document ---- */

static bool is_to_try_again(long status)
{
	return status == 0 || status == 429 || status == 502 || status == 503 || status == 504;
}

/* Each of many agents after another time, so that a receiver that comes back is not run over. */
static uint64_t spread(struct push *push, uint64_t pause_ns)
{
	return pause_ns / 2 + (uint64_t)((double)pause_ns / 2 * rand_r(&push->seed) / RAND_MAX);
}

static uint64_t next_pause_ns(struct push *push)
{
	curl_off_t asked_s = 0;

	push->pause_ns = push->pause_ns ? 2 * push->pause_ns : LEAST_PAUSE_NS;
	if (push->pause_ns > MOST_PAUSE_NS)
		push->pause_ns = MOST_PAUSE_NS;
	curl_easy_getinfo(push->curl, CURLINFO_RETRY_AFTER, &asked_s);
	if (asked_s > 0)
		return (uint64_t)asked_s < MOST_ASKED_NS / SECOND ? (uint64_t)asked_s * SECOND :
								    MOST_ASKED_NS;
	return spread(push, push->pause_ns);
}

static void tell_trouble(struct push *push, const char *what)
{
	if (!push->has_told)
		message_error("otlp: %s %.120s: %.200s", what, push->url, push->error);
	push->has_told = true;
}

static void tell_well(struct push *push)
{
	if (push->has_told)
		message_note("otlp: %.120s takes documents again", push->url);
	push->has_told = false;
	push->pause_ns = 0;
}

/* One document. How long to wait before the next one; 0: not at all. */
static uint64_t send_first(struct push *push, const char *text, size_t n)
{
	struct exports *exports = &push->monitor->exports;
	long status = post(push, text, n);

	if (status == -ECANCELED)
		return 0;
	if (is_to_try_again(status)) {
		count(&exports->tries_failed, 1);
		tell_trouble(push, "cannot push now, and will try again:");
		return next_pause_ns(push);
	}
	if (status / 100 == 2) {
		count(&exports->sent, 1);
		count(&exports->rejected_points,
		      otlp_rejected_points(push->answer, push->n_answer));
		tell_well(push);
	} else {
		count(&exports->refused, 1);
		tell_trouble(push, "what is pushed is refused, and lost:");
		push->pause_ns = 0;
	}
	outbox_remove_first(&push->outbox);
	return 0;
}

/* All that waits, as far as it is taken. When to go on; 0: when there is something. */
static uint64_t send_all(struct push *push)
{
	uint64_t pause_ns = 0;
	size_t n;
	char *text;

	while (pause_ns == 0 && !is_ending(push) && (text = outbox_copy_first(&push->outbox, &n))) {
		pause_ns = send_first(push, text, n);
		free(text);
	}
	return pause_ns ? clock_ns(CLOCK_MONOTONIC) + pause_ns : 0;
}

/* ---- the thread ---- */

static void add_document(struct push *push)
{
	char *text = NULL;
	int error_before = push->outbox.error;

	pthread_mutex_lock(&push->monitor->lock);
	/* What is no newer than the last one says nothing, and would be sent twice. */
	if (push->monitor->realtime_ns != push->told_ns) {
		push->told_ns = push->monitor->realtime_ns;
		text = otlp_document(push->monitor);
	}
	pthread_mutex_unlock(&push->monitor->lock);
	if (!text)
		return;
	outbox_add(&push->outbox, text);
	if (push->outbox.error && push->outbox.error != error_before)
		message_error("otlp: cannot keep what waits in its folder: %s; a restart loses it",
			      strerror(-push->outbox.error));
}

static void publish(struct push *push)
{
	struct exports *exports = &push->monitor->exports;

	__atomic_store_n(&exports->waiting, push->outbox.n_items, __ATOMIC_RELAXED);
	__atomic_store_n(&exports->lost, push->outbox.lost, __ATOMIC_RELAXED);
}

static void *run(void *data)
{
	struct push *push = data;
	uint64_t next_ns = clock_ns(CLOCK_MONOTONIC) + push->interval_ns, again_ns = 0;

	while (!is_ending(push)) {
		uint64_t now = clock_ns(CLOCK_MONOTONIC), until_ns;

		if (now >= next_ns) {
			add_document(push);
			next_ns = now + push->interval_ns;
		}
		if (now >= again_ns)
			again_ns = send_all(push);
		publish(push);
		until_ns = again_ns && again_ns < next_ns ? again_ns : next_ns;
		now = clock_ns(CLOCK_MONOTONIC);
		if (until_ns > now && !is_ending(push))
			curl_multi_poll(push->multi, NULL, 0, (int)((until_ns - now) / MS) + 1,
					NULL);
	}
	return NULL;
}

/* ---- opening ---- */

/* A URL without a path is that of a receiver as OTEL_EXPORTER_OTLP_ENDPOINT names it. */
static int set_url(struct push *push, const char *url)
{
	const char *host = strstr(url, "://"), *path;

	if (!host || (strncasecmp(url, "http://", 7) && strncasecmp(url, "https://", 8)) ||
	    !host[3] || host[3] == '/') {
		message_error("otlp_url: '%.80s' is no http:// or https:// URL", url);
		return -EINVAL;
	}
	path = strchr(host + 3, '/');
	if (memchr(host + 3, '@', path ? (size_t)(path - host - 3) : strlen(host + 3))) {
		message_error("otlp_url: a URL is seen by everybody: a password belongs into "
			      "otlp_headers");
		return -EINVAL;
	}
	push->url = path && path[1] ?
			    xstrdup(url) :
			    xasprintf("%.*s/v1/metrics",
				      (int)(path ? (size_t)(path - url) : strlen(url)), url);
	return 0;
}

static int add_header(struct push *push, const char *path, unsigned int number, char *line)
{
	const char *colon = strchr(line, ':');
	size_t n = strlen(line), i;

	while (n && isspace((unsigned char)line[n - 1]))
		line[--n] = '\0';
	if (!n || line[0] == '#')
		return 0;
	for (i = 0; i < n; i++)
		if (iscntrl((unsigned char)line[i]) && line[i] != '\t')
			colon = NULL;
	if (!colon || colon == line || colon[1] == '\0') {
		message_error("otlp_headers: %.120s:%u: not 'NAME: VALUE'", path, number);
		return -EINVAL;
	}
	push->headers = curl_slist_append(push->headers, line);
	return push->headers ? 0 : -ENOMEM;
}

/* Lines 'NAME: VALUE', as they hold secrets in a file that only we may read. */
static int read_headers(struct push *push, const char *path)
{
	char line[HEADERS_MAX];
	unsigned int number = 0;
	struct stat status;
	FILE *file = fopen(path, "re");
	int r = 0;

	if (!file || fstat(fileno(file), &status) < 0) {
		r = -errno;
		message_error("otlp_headers: cannot read %.120s: %s", path, strerror(-r));
	} else if (status.st_mode & 077) {
		r = -EACCES;
		message_error("otlp_headers: others may read %.120s: chmod 600 it", path);
	}
	while (r == 0 && fgets(line, sizeof(line), file))
		r = add_header(push, path, ++number, line);
	if (file)
		fclose(file);
	return r;
}

static int set_tls(struct push *push, const char *tls)
{
	if (!tls)
		return 0;
	if (strcmp(tls, "insecure") == 0) {
		curl_easy_setopt(push->curl, CURLOPT_SSL_VERIFYPEER, 0L);
		curl_easy_setopt(push->curl, CURLOPT_SSL_VERIFYHOST, 0L);
		return 0;
	}
	if (access(tls, R_OK) < 0) {
		int r = -errno;

		message_error("otlp_tls: cannot read the certificates in %.120s: %s", tls,
			      strerror(-r));
		return r;
	}
	curl_easy_setopt(push->curl, CURLOPT_CAINFO, tls);
	return 0;
}

static int open_curl(struct push *push)
{
	push->headers = curl_slist_append(NULL, "Content-Type: application/json");
	/* Nothing is to be asked before a document is sent. */
	push->headers = curl_slist_append(push->headers, "Expect:");
	push->multi = curl_multi_init();
	push->curl = curl_easy_init();
	if (!push->headers || !push->multi || !push->curl) {
		message_error("otlp: libcurl can't be used");
		return -ENOMEM;
	}
	curl_easy_setopt(push->curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(push->curl, CURLOPT_TIMEOUT_MS, REQUEST_TIMEOUT_MS);
	curl_easy_setopt(push->curl, CURLOPT_ERRORBUFFER, push->error);
	curl_easy_setopt(push->curl, CURLOPT_WRITEFUNCTION, take_answer);
	curl_easy_setopt(push->curl, CURLOPT_WRITEDATA, push);
	return 0;
}

static int open_outbox(struct push *push, const struct settings *settings)
{
	const char *folder = settings_text_or_null(settings, SETTING_OTLP_QUEUE);
	size_t mib = settings_number(settings, SETTING_OTLP_QUEUE_MIB);
	int r = outbox_open(&push->outbox, folder, mib << 20);

	if (r == -EBUSY)
		message_error("otlp_queue: another process has %.120s", folder);
	else if (r < 0)
		message_error("otlp_queue: cannot use %.120s: %s", folder, strerror(-r));
	return r;
}

static int set_up(struct push *push, const struct settings *settings)
{
	const char *headers = settings_text_or_null(settings, SETTING_OTLP_HEADERS);
	int r = open_curl(push);

	if (r == 0)
		r = set_url(push, settings_text(settings, SETTING_OTLP_URL));
	if (r == 0)
		r = set_tls(push, settings_text_or_null(settings, SETTING_OTLP_TLS));
	if (r == 0 && headers)
		r = read_headers(push, headers);
	if (r == 0)
		r = open_outbox(push, settings);
	if (r < 0)
		return r;
	curl_easy_setopt(push->curl, CURLOPT_URL, push->url);
	curl_easy_setopt(push->curl, CURLOPT_HTTPHEADER, push->headers);
	return 0;
}

static void push_free(struct push *push)
{
	outbox_close(&push->outbox);
	curl_easy_cleanup(push->curl);
	curl_multi_cleanup(push->multi);
	curl_slist_free_all(push->headers);
	free(push->url);
	free(push);
}

int push_open(struct push **ret, struct monitor *monitor, const struct settings *settings)
{
	struct push *push;
	int r;

	*ret = NULL;
	if (!settings_text_or_null(settings, SETTING_OTLP_URL))
		return 0;
	push = xcalloc(1, sizeof(*push));
	push->monitor = monitor;
	push->interval_ns = settings_number(settings, SETTING_OTLP_INTERVAL);
	push->seed = (unsigned int)(clock_ns(CLOCK_MONOTONIC) ^ (uint64_t)getpid());
	push->outbox = (struct outbox){ .folder = -1, .lock = -1 };
	r = set_up(push, settings);
	if (r == 0) {
		r = -pthread_create(&push->thread, NULL, run, push);
		if (r < 0)
			message_error("otlp: no thread: %s", strerror(-r));
	}
	if (r < 0) {
		push_free(push);
		return r;
	}
	pthread_mutex_lock(&monitor->lock);
	monitor->has_exports = true;
	pthread_mutex_unlock(&monitor->lock);
	*ret = push;
	return 0;
}

void push_close(struct push *push)
{
	if (!push)
		return;
	__atomic_store_n(&push->is_ending, true, __ATOMIC_RELEASE);
	curl_multi_wakeup(push->multi);
	pthread_join(push->thread, NULL);
	push_free(push);
}

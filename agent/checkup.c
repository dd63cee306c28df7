/* SPDX-License-Identifier: Apache-2.0 */
/* One at a time, each by a thread that nobody waits for: whoever is last frees what both hold. */
#include "checkup.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <wattribute/json.h>

#include "clock.h"
#include "diags.h"
#include "message.h"
#include "monitor.h"

#define PAUSE_NS 60000000000ULL
#define PAUSE_FACTOR 100 /* of what the last one took: sources that hang are left alone longer */

struct checkup {
	struct watt_options *options; /* owned */
	pthread_mutex_t mutex;        /* of what follows */
	unsigned int refs;
	bool is_under_way;
	char *document;   /* owned; NULL: there is none */
	int error;        /* of the last one */
	uint64_t next_ns; /* CLOCK_MONOTONIC; there is no other one before */
};

/* With the mutex, which it gives up. */
static void unref(struct checkup *checkup)
{
	bool is_last = --checkup->refs == 0;

	pthread_mutex_unlock(&checkup->mutex);
	if (!is_last)
		return;
	pthread_mutex_destroy(&checkup->mutex);
	watt_options_free(checkup->options);
	free(checkup->document);
	free(checkup);
}

static int make_document(const struct watt_options *options, char **ret)
{
	struct watt_diag *diags;
	size_t n;
	int r = diags_get(options, &diags, &n);

	if (r < 0)
		return r;
	r = watt_doctor_to_json(diags, n, 0, ret);
	free(diags);
	return r;
}

static void *examine(void *data)
{
	struct checkup *checkup = data;
	uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC), took_ns;
	char *document = NULL;
	int r = make_document(checkup->options, &document);

	took_ns = clock_ns(CLOCK_MONOTONIC) - begin_ns;
	pthread_mutex_lock(&checkup->mutex);
	checkup->error = r;
	if (r == 0) {
		free(checkup->document);
		checkup->document = document;
	}
	checkup->next_ns = begin_ns + took_ns +
			   (took_ns > PAUSE_NS / PAUSE_FACTOR ? took_ns * PAUSE_FACTOR : PAUSE_NS);
	checkup->is_under_way = false;
	unref(checkup);
	return NULL;
}

/* With the mutex. */
static void begin(struct checkup *checkup)
{
	pthread_attr_t attr;
	pthread_t thread;
	int r;

	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	checkup->refs++;
	checkup->is_under_way = true;
	r = pthread_create(&thread, &attr, examine, checkup);
	pthread_attr_destroy(&attr);
	if (r == 0)
		return;
	checkup->refs--;
	checkup->is_under_way = false;
	checkup->error = -r;
}

int checkup_open(struct checkup **ret, const struct settings *settings)
{
	struct checkup *checkup = calloc(1, sizeof(*checkup));
	int r = checkup ? monitor_make_options(settings, &checkup->options) : -ENOMEM;

	if (r < 0) {
		if (checkup)
			watt_options_free(checkup->options);
		free(checkup);
		return r;
	}
	/* What is wrong is in its findings, and was in the log when the session began. */
	watt_options_set_log(checkup->options, NULL, NULL);
	pthread_mutex_init(&checkup->mutex, NULL);
	checkup->refs = 1;
	*ret = checkup;
	return 0;
}

void checkup_close(struct checkup *checkup)
{
	if (!checkup)
		return;
	pthread_mutex_lock(&checkup->mutex);
	unref(checkup);
}

char *checkup_get(struct checkup *checkup, int *ret_error)
{
	char *document;

	pthread_mutex_lock(&checkup->mutex);
	if (!checkup->is_under_way && clock_ns(CLOCK_MONOTONIC) >= checkup->next_ns)
		begin(checkup);
	document = checkup->document ? strdup(checkup->document) : NULL;
	*ret_error = document || checkup->is_under_way ? 0 : checkup->error;
	pthread_mutex_unlock(&checkup->mutex);
	return document;
}

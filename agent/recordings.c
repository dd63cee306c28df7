/* SPDX-License-Identifier: Apache-2.0 */
/* A thread with a session of its own for the one that runs; the folder says which there are. */
#include "recordings.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <wattribute/recording.h>

#include "clock.h"
#include "message.h"
#include "monitor.h"
#include "xalloc.h"

#define SUFFIX ".watt"
#define NAME_SIZE 32
/* How long the last value of a slow sensor is waited for, and how often it is looked who hurries. */
#define PATIENCE_MS 100
#define TRIES 30
#define LOOK_NS 200000000 /* how often it is looked whether the file is as large as it may be */

struct recordings {
	struct watt_options *options; /* of the agent's session; owned */
	char *path;                   /* owned */
	int folder;
	size_t most;
	uint64_t most_bytes;
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t changed;
	pthread_t thread;
	bool has_thread;  /* it must be joined */
	bool is_running;  /* the thread records */
	bool is_stopping; /* it has to end now */
	bool is_unwanted; /* and its file is to go */
	uint64_t id;      /* of the one that runs, or ran last */
	uint32_t seconds; /* for which it runs */
	int error;        /* that the last one ended with */
};

/* ---- what is asked ---- */

int recordings_parse_id(const char *text, uint64_t *ret_id)
{
	uint64_t id;
	char again[NAME_SIZE];

	errno = 0;
	id = strtoull(text, NULL, 10);
	snprintf(again, sizeof(again), "%" PRIu64, id);
	if (errno || !id || strcmp(again, text) != 0)
		return -EINVAL;
	*ret_id = id;
	return 0;
}

int recordings_parse(const char *text, size_t n, uint32_t *ret_seconds, char *error, size_t size)
{
	json_error_t problem;
	json_t *asked = json_loadb(text, n, JSON_REJECT_DUPLICATES, &problem);
	json_t *seconds = json_object_get(asked, "seconds");
	int r = -EINVAL;

	if (!asked)
		snprintf(error, size, "This is no JSON: %.160s.\n", problem.text);
	else if (!json_is_integer(seconds) || json_object_size(asked) != 1)
		snprintf(error, size, "Say {\"seconds\": N}, and nothing else.\n");
	else if (json_integer_value(seconds) < 1 ||
		 json_integer_value(seconds) > RECORDING_SECONDS_MAX)
		snprintf(error, size, "\"seconds\" is a number from 1 to %d.\n",
			 RECORDING_SECONDS_MAX);
	else
		r = 0;
	if (r == 0)
		*ret_seconds = (uint32_t)json_integer_value(seconds);
	json_decref(asked);
	return r;
}

/* ---- which there are ---- */

/* Whether a file is one of ours. */
static bool is_recording(const char *name, uint64_t *ret_id)
{
	size_t n = strlen(name), suffix = strlen(SUFFIX);
	char id[NAME_SIZE];

	if (n <= suffix || n >= sizeof(id) || strcmp(name + n - suffix, SUFFIX) != 0)
		return false;
	snprintf(id, sizeof(id), "%.*s", (int)(n - suffix), name);
	return recordings_parse_id(id, ret_id) == 0;
}

static int compare_ids(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* The oldest first; owned by the caller. */
static uint64_t *find_all(const struct recordings *recordings, size_t *ret_n)
{
	DIR *folder = opendir(recordings->path);
	const struct dirent *entry;
	uint64_t *ids = NULL, id;
	size_t n = 0;

	while (folder && (entry = readdir(folder)))
		if (is_recording(entry->d_name, &id)) {
			ids = xrealloc(ids, n + 1, sizeof(*ids));
			ids[n++] = id;
		}
	if (folder)
		closedir(folder);
	if (n)
		qsort(ids, n, sizeof(*ids), compare_ids);
	*ret_n = n;
	return ids;
}

/* What the database has beside its file while it is written, or its writer was killed. */
static const char *const tails[] = { "", "-wal", "-shm" };

/* Of a file of a recording; 0: there is none. */
static uint64_t size_of(const struct recordings *recordings, uint64_t id, const char *tail)
{
	struct stat status;
	char name[NAME_SIZE + 8];

	snprintf(name, sizeof(name), "%" PRIu64 SUFFIX "%s", id, tail);
	if (fstatat(recordings->folder, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	return (uint64_t)status.st_size;
}

static const char *state_of(const struct recordings *recordings, uint64_t id)
{
	if (recordings->is_running && recordings->id == id)
		return "running";
	return size_of(recordings, id, "-wal") ? "interrupted" : "done";
}

static json_t *describe(const struct recordings *recordings, uint64_t id)
{
	uint64_t bytes = size_of(recordings, id, "") + size_of(recordings, id, "-wal");
	char text[NAME_SIZE];

	snprintf(text, sizeof(text), "%" PRIu64, id);
	return json_pack("{s:s, s:s, s:f, s:I}", "id", text, "state", state_of(recordings, id),
			 "began_s", (double)id / 1e3, "bytes", (json_int_t)bytes);
}

/* All that is on the disk of one. 0, or why its file can't go. */
static int unlink_all(const struct recordings *recordings, uint64_t id)
{
	char name[NAME_SIZE + 8];
	size_t i;
	int r = 0;

	for (i = 0; i < ARRAY_SIZE(tails); i++) {
		snprintf(name, sizeof(name), "%" PRIu64 SUFFIX "%s", id, tails[i]);
		if (unlinkat(recordings->folder, name, 0) < 0 && i == 0)
			r = -errno;
	}
	return r;
}

char *recordings_describe_id(uint64_t id)
{
	char digits[NAME_SIZE];
	json_t *document;
	char *text;

	snprintf(digits, sizeof(digits), "%" PRIu64, id);
	document = json_pack("{s:s}", "id", digits);
	text = json_dumps(document, JSON_COMPACT);
	json_decref(document);
	return text;
}

char *recordings_list(struct recordings *recordings)
{
	json_t *list = json_array(), *document;
	bool is_told = false;
	size_t n, i;
	uint64_t *ids;
	char *text;

	pthread_mutex_lock(&recordings->lock);
	ids = find_all(recordings, &n);
	for (i = 0; i < n; i++) {
		is_told = is_told || ids[i] == recordings->id;
		json_array_append_new(list, describe(recordings, ids[i]));
	}
	free(ids);
	/* One that has just begun has no file yet. */
	if (recordings->is_running && !is_told)
		json_array_append_new(list, describe(recordings, recordings->id));
	document = json_pack("{s:o, s:I, s:I, s:s?}", "recordings", list, "most",
			     (json_int_t)recordings->most, "most_bytes",
			     (json_int_t)recordings->most_bytes, "last_error",
			     recordings->error ? strerror(-recordings->error) : NULL);
	pthread_mutex_unlock(&recordings->lock);
	text = json_dumps(document, JSON_COMPACT | JSON_REAL_PRECISION(15));
	json_decref(document);
	return text;
}

/* ---- recording ---- */

static int open_session(struct recordings *recordings, uint64_t id, struct watt_session **ret)
{
	const struct watt_record_opts opts = { .sz = sizeof(opts), .command = "agent" };
	auto_free char *path = xasprintf("%s/%" PRIu64 SUFFIX, recordings->path, id);
	struct watt_session *session;
	int r = watt_session_open(recordings->options, &session);

	if (r < 0)
		return r;
	r = watt_session_record(session, path, &opts);
	if (r == 0)
		r = watt_session_start(session);
	if (r < 0)
		session = watt_session_close(session);
	*ret = session;
	return r;
}

/* Until its time is over, the file is as large as it may be, or somebody wants it to end. */
static void wait_for_end(struct recordings *recordings, struct watt_session *session)
{
	struct watt_record_stats stats = { .sz = sizeof(stats) };
	uint64_t end_ns;

	pthread_mutex_lock(&recordings->lock);
	end_ns = clock_ns(CLOCK_MONOTONIC) + recordings->seconds * 1000000000ULL;
	while (!recordings->is_stopping && stats.bytes < recordings->most_bytes) {
		uint64_t now_ns = clock_ns(CLOCK_MONOTONIC), until_ns = now_ns + LOOK_NS;
		struct timespec until;

		if (now_ns >= end_ns)
			break;
		if (until_ns > end_ns)
			until_ns = end_ns;
		until.tv_sec = (time_t)(until_ns / 1000000000);
		until.tv_nsec = (long)(until_ns % 1000000000);
		pthread_cond_timedwait(&recordings->changed, &recordings->lock, &until);
		watt_session_get_record_stats(session, &stats);
	}
	pthread_mutex_unlock(&recordings->lock);
}

static bool is_hurried(struct recordings *recordings)
{
	bool is;

	pthread_mutex_lock(&recordings->lock);
	is = recordings->is_stopping;
	pthread_mutex_unlock(&recordings->lock);
	return is;
}

/* Until slow sensors have told of the end, which is where who reads it ends, too. */
static void finish(struct recordings *recordings, struct watt_session *session)
{
	uint64_t end_ns = clock_ns(CLOCK_MONOTONIC);
	struct watt_snapshot *snap = NULL;
	int tries = 0, r;

	do
		r = watt_session_snapshot_at(session, end_ns, PATIENCE_MS, &snap);
	while (r == -ETIMEDOUT && ++tries < TRIES && !is_hurried(recordings));
	if (r == 0)
		end_ns = watt_snapshot_get_time_ns(snap);
	watt_snapshot_unref(snap);
	watt_session_end_recording(session, end_ns);
}

static void *record(void *data)
{
	struct recordings *recordings = data;
	struct watt_session *session = NULL;
	int r = open_session(recordings, recordings->id, &session);

	if (r == 0) {
		wait_for_end(recordings, session);
		finish(recordings, session);
	}
	watt_session_close(session);
	pthread_mutex_lock(&recordings->lock);
	if (r < 0 || recordings->is_unwanted)
		unlink_all(recordings, recordings->id);
	recordings->error = r;
	recordings->is_running = false;
	pthread_mutex_unlock(&recordings->lock);
	return NULL;
}

/* Of the one before: it has ended, or ends without the lock that its caller has. */
static void join(struct recordings *recordings)
{
	if (recordings->has_thread)
		pthread_join(recordings->thread, NULL);
	recordings->has_thread = false;
}

/* Whether there is room for one more, and nothing runs. The caller has the lock. */
static int check_room(const struct recordings *recordings)
{
	size_t n;

	if (recordings->is_running)
		return -EBUSY;
	free(find_all(recordings, &n));
	return n < recordings->most ? 0 : -EDQUOT;
}

int recordings_begin(struct recordings *recordings, uint32_t seconds, uint64_t *ret_id)
{
	int r;

	pthread_mutex_lock(&recordings->lock);
	r = check_room(recordings);
	if (r == 0) {
		join(recordings);
		recordings->id = clock_ns(CLOCK_REALTIME) / 1000000;
		recordings->seconds = seconds;
		recordings->is_stopping = recordings->is_unwanted = false;
		recordings->is_running = true;
		r = -pthread_create(&recordings->thread, NULL, record, recordings);
		recordings->has_thread = recordings->is_running = r == 0;
		*ret_id = recordings->id;
	}
	pthread_mutex_unlock(&recordings->lock);
	return r;
}

int recordings_open_file(struct recordings *recordings, uint64_t id, int *ret_fd)
{
	char name[NAME_SIZE];
	int fd = -EBUSY;

	snprintf(name, sizeof(name), "%" PRIu64 SUFFIX, id);
	pthread_mutex_lock(&recordings->lock);
	if (strcmp(state_of(recordings, id), "interrupted") == 0)
		fd = -EUCLEAN;
	else if (!recordings->is_running || recordings->id != id)
		fd = openat(recordings->folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd == -1)
		fd = -errno;
	pthread_mutex_unlock(&recordings->lock);
	if (fd >= 0)
		*ret_fd = fd;
	return fd < 0 ? fd : 0;
}

int recordings_delete(struct recordings *recordings, uint64_t id)
{
	int r = 0;

	pthread_mutex_lock(&recordings->lock);
	if (recordings->is_running && recordings->id == id) {
		recordings->is_stopping = recordings->is_unwanted = true;
		pthread_cond_signal(&recordings->changed);
	} else {
		r = unlink_all(recordings, id);
	}
	pthread_mutex_unlock(&recordings->lock);
	return r;
}

/* ---- opening ---- */

static int open_folder(struct recordings *recordings)
{
	if (mkdir(recordings->path, 0700) < 0 && errno != EEXIST)
		return -errno;
	recordings->folder = open(recordings->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (recordings->folder < 0 || faccessat(recordings->folder, ".", W_OK, AT_EACCESS) < 0)
		return -errno;
	return 0;
}

int recordings_open(struct recordings **ret, const struct settings *settings)
{
	const char *path = settings_text_or_null(settings, SETTING_RECORDINGS);
	struct recordings *recordings;
	pthread_condattr_t clock;
	int r;

	*ret = NULL;
	if (!path)
		return 0;
	recordings = xcalloc(1, sizeof(*recordings));
	recordings->path = xstrdup(path);
	recordings->most = settings_number(settings, SETTING_RECORDINGS_MOST);
	recordings->most_bytes = settings_number(settings, SETTING_RECORDING_MIB) << 20;
	pthread_mutex_init(&recordings->lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&recordings->changed, &clock);
	pthread_condattr_destroy(&clock);
	recordings->folder = -1;
	r = open_folder(recordings);
	if (r < 0)
		message_error("recordings: cannot write into '%.200s': %s", path, strerror(-r));
	else
		r = monitor_make_options(settings, &recordings->options);
	*ret = recordings;
	return r;
}

void recordings_close(struct recordings *recordings)
{
	if (!recordings)
		return;
	pthread_mutex_lock(&recordings->lock);
	recordings->is_stopping = true;
	pthread_cond_signal(&recordings->changed);
	pthread_mutex_unlock(&recordings->lock);
	join(recordings);
	if (recordings->folder >= 0)
		close(recordings->folder);
	watt_options_free(recordings->options);
	pthread_cond_destroy(&recordings->changed);
	pthread_mutex_destroy(&recordings->lock);
	free(recordings->path);
	free(recordings);
}

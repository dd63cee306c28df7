/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines for standard error. What the library logs may contain names from the machine, so every
 * line is cleaned before a terminal sees it.
 */
#include "message.h"

#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "status.h"
#include "text.h"
#include "xalloc.h"

#define DEFERRED_MAX 64

static struct {
	pthread_mutex_t lock;
	const char *name;
	int verbosity;
	unsigned int errors;
	bool is_deferred;
	char *deferred[DEFERRED_MAX];
	size_t n_deferred;
} log_state = { .lock = PTHREAD_MUTEX_INITIALIZER, .name = "wattribute" };

void message_set_name(const char *name)
{
	log_state.name = name;
}

void message_set_verbosity(int verbosity)
{
	log_state.verbosity = verbosity;
}

unsigned int message_get_error_count(void)
{
	return __atomic_load_n(&log_state.errors, __ATOMIC_RELAXED);
}

/*
 * A pipe that nobody reads would keep us for ever, and with us the thread that measures: who reads
 * nothing for so long misses a line. What a pipe says it takes is more than a line of ours.
 */
#define PATIENCE_MS 200

static bool is_read(void)
{
	struct pollfd fd = { .fd = STDERR_FILENO, .events = POLLOUT };

	return poll(&fd, 1, PATIENCE_MS) != 0;
}

static void print(const char *word, const char *text)
{
	if (is_read())
		fprintf(stderr, "%s: %s%s\n", log_state.name, word, text);
}

static void emit(const char *word, const char *text)
{
	char clean[1024];

	text_clean(clean, sizeof(clean), text);
	pthread_mutex_lock(&log_state.lock);
	if (!log_state.is_deferred)
		print(word, clean);
	else if (log_state.n_deferred < DEFERRED_MAX)
		log_state.deferred[log_state.n_deferred++] = xasprintf("%s%s", word, clean);
	pthread_mutex_unlock(&log_state.lock);
}

__attribute__((format(printf, 2, 0))) static void format_emit(const char *word, const char *format,
							      va_list args)
{
	char text[1024];

	vsnprintf(text, sizeof(text), format, args);
	emit(word, text);
}

void message_error(const char *format, ...)
{
	va_list args;

	__atomic_add_fetch(&log_state.errors, 1, __ATOMIC_RELAXED);
	va_start(args, format);
	format_emit("", format, args);
	va_end(args);
}

void message_note(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	format_emit("note: ", format, args);
	va_end(args);
}

int message_usage(const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	message_error("%s (try '%s --help')", text, log_state.name);
	return STATUS_USAGE;
}

void message_log(void *data, enum watt_log_level level, const char *text)
{
	static const char *const words[] = {
		[WATT_LOG_ERROR] = "",
		[WATT_LOG_WARNING] = "warning: ",
		[WATT_LOG_INFO] = "",
		[WATT_LOG_DEBUG] = "debug: ",
	};

	if (level == WATT_LOG_ERROR)
		__atomic_add_fetch(&log_state.errors, 1, __ATOMIC_RELAXED);
	if ((int)level <= WATT_LOG_WARNING + log_state.verbosity)
		emit(level < ARRAY_SIZE(words) ? words[level] : "", text);
}

void message_defer(void)
{
	log_state.is_deferred = true;
}

void message_get_deferred(char *buf, size_t size)
{
	pthread_mutex_lock(&log_state.lock);
	snprintf(buf, size, "%s",
		 log_state.n_deferred ? log_state.deferred[log_state.n_deferred - 1] : "");
	pthread_mutex_unlock(&log_state.lock);
}

void message_release(void)
{
	size_t i;

	pthread_mutex_lock(&log_state.lock);
	for (i = 0; i < log_state.n_deferred; i++) {
		print("", log_state.deferred[i]);
		free(log_state.deferred[i]);
	}
	log_state.n_deferred = 0;
	log_state.is_deferred = false;
	pthread_mutex_unlock(&log_state.lock);
}

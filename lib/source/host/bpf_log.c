/* SPDX-License-Identifier: Apache-2.0 */
/* Lends libbpf the logs of those who load objects. It must not print. */
#include "source/host/bpf_log.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

/*
 * libbpf has one print function for the whole process, and sources load on threads of their own, at
 * the same time. It is ours from the first that begins to the last that ends; what a thread that
 * loads nothing of ours prints meanwhile goes where it went before.
 */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static unsigned int n_loading; /* under mutex */
static _Atomic(libbpf_print_fn_t) print_before;
static _Thread_local const struct watt_log *print_log;

/* The verifier's log can be long, and its last line says most. */
__attribute__((format(printf, 2, 0))) static void print_lines(const struct watt_log *log,
							      const char *fmt, va_list ap)
{
	_cleanup_free_ char *text = NULL;
	char *rest, *line;

	if (vasprintf(&text, fmt, ap) < 0) {
		text = NULL;
		return;
	}
	rest = text;
	while ((line = strsep(&rest, "\n")))
		if (*line)
			watt_log(log, WATT_LOG_DEBUG, "%s", line);
}

__attribute__((format(printf, 2, 0))) static int print(enum libbpf_print_level level,
						       const char *fmt, va_list ap)
{
	libbpf_print_fn_t before = atomic_load(&print_before);

	if (!print_log)
		return before ? before(level, fmt, ap) : 0;
	if (print_log->fn && level != LIBBPF_DEBUG)
		print_lines(print_log, fmt, ap);
	return 0;
}

void watt_bpf_log_begin(const struct watt_log *log)
{
	print_log = log;
	pthread_mutex_lock(&mutex);
	if (!n_loading++)
		atomic_store(&print_before, libbpf_set_print(print));
	pthread_mutex_unlock(&mutex);
}

void watt_bpf_log_end(void)
{
	libbpf_print_fn_t last;

	pthread_mutex_lock(&mutex);
	if (!--n_loading) {
		last = libbpf_set_print(atomic_load(&print_before));
		if (last != print) /* the program's own, set meanwhile */
			libbpf_set_print(last);
	}
	pthread_mutex_unlock(&mutex);
	print_log = NULL;
}

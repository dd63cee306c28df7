/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of containers and pods from Kubernetes: of the kubelet, which is asked when somebody wants
 * to know of a container that was not heard of; or of an API server, which is watched. A thread of
 * its own asks, so that no answer has to be waited for: who asks too early is told so, and asks
 * again when something was heard.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/util.h"
#include "source/meta/kubernetes/kube_link.h"
#include "source/meta/kubernetes/pod.h"
#include "source/meta/state_file.h"
#include "source/registry.h"

/* How long a pod that is not listed any more is known: it may be asked for after its end. */
#define HORIZON_NS (600 * WATT_NSEC_PER_SEC)
#define LIST_TIMEOUT_NS (15 * WATT_NSEC_PER_SEC)
#define PROBE_TIMEOUT_NS (2 * WATT_NSEC_PER_SEC)
/* Between two questions: after one that was answered, and at most. */
#define MIN_GAP_NS WATT_NSEC_PER_SEC
#define MAX_GAP_NS (60 * WATT_NSEC_PER_SEC)
/* So often a container is asked for: of a pod, for a quarter of an hour; of who knows whom. */
#define MAX_ASKED 20
#define MAX_ASKED_STRANGER 3
#define MAX_ASKED_WATCHED 1000
/* So often its pod must have been looked at before what is not listed is its sandbox. */
#define SANDBOX_ASKED 5

/* What the provider and its thread share. The thread may be in a call when nobody is left. */
struct kube {
	pthread_mutex_t mutex; /* of all up to the link */
	pthread_cond_t news;   /* for the thread: it is wanted, or not needed any more */
	unsigned int refs;
	struct watt_log log;
	struct watt_pod_index index;
	bool is_wanted;
	uint64_t gap_ns; /* as it was asked for last */
	int heard_fd;
	bool is_failing; /* and somebody was told */
	bool has_thread;
	atomic_bool is_closing;
	/* the thread's own */
	struct watt_kube_link *link;
	char version[64]; /* of what is known, as an API server counts */
	size_t n_new;
	unsigned int n_failed; /* one after the other */
};

struct kube_meta {
	struct watt_meta base;
	struct kube *kube; /* NULL: it could not be opened */
};

static void kube_unref(struct kube *kube)
{
	bool is_last;

	pthread_mutex_lock(&kube->mutex);
	is_last = --kube->refs == 0;
	pthread_mutex_unlock(&kube->mutex);
	if (!is_last)
		return;
	watt_kube_link_free(kube->link);
	watt_pod_index_done(&kube->index);
	if (kube->heard_fd >= 0)
		close(kube->heard_fd);
	pthread_cond_destroy(&kube->news);
	pthread_mutex_destroy(&kube->mutex);
	free(kube);
}

/* ---- what is heard ---- */

static void tell(struct kube *kube)
{
	uint64_t one = 1;

	/* it fails only when enough was told already */
	if (write(kube->heard_fd, &one, sizeof(one)) < 0)
		return;
}

/* What is no pod is left out: the others are not worse for it. */
static int take_pod(struct kube *kube, struct watt_pod *pod)
{
	struct watt_pod_stamp now = { watt_now_ns(), watt_clock_ns(CLOCK_REALTIME) };

	pthread_mutex_lock(&kube->mutex);
	kube->n_new += watt_pod_index_take(&kube->index, pod, &now);
	pthread_mutex_unlock(&kube->mutex);
	return 0;
}

static void take_version(struct kube *kube, const json_t *metadata)
{
	const char *version = watt_state_text(metadata, "resourceVersion");

	/* it goes into a URL as it is */
	if (version && strlen(version) < sizeof(kube->version) &&
	    !version[strspn(version, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "-_.")])
		watt_strlcpy(kube->version, version, sizeof(kube->version));
}

/* A pod that is no JSON says that the list can't be trusted; one that lacks a name is only odd. */
static int take_listed(void *data, const char *key, const char *text, size_t len)
{
	struct kube *kube = data;
	struct watt_pod pod;
	json_t *object;
	int r;

	if (atomic_load(&kube->is_closing))
		return -ECANCELED;
	r = watt_state_parse(text, len, &object);
	if (r < 0)
		return r;
	if (!strcmp(key, "metadata"))
		take_version(kube, object);
	else if (!strcmp(key, "items") && watt_pod_read(object, &pod) == 0)
		take_pod(kube, &pod);
	json_decref(object);
	return 0;
}

static int take_event_of(struct kube *kube, const char *type, const json_t *object)
{
	struct watt_pod pod;

	if (!strcmp(type, "ERROR"))
		return json_integer_value(json_object_get(object, "code")) == 410 ? -ESTALE :
										    -EREMOTEIO;
	if (strcmp(type, "BOOKMARK") && watt_pod_read(object, &pod) == 0)
		take_pod(kube, &pod);
	take_version(kube, json_object_get(object, "metadata"));
	return 0;
}

static int take_event(void *data, const char *key, const char *text, size_t len)
{
	struct kube *kube = data;
	const char *type;
	json_t *event;
	int r;

	(void)key;
	if (atomic_load(&kube->is_closing))
		return -ECANCELED;
	r = watt_state_parse(text, len, &event);
	if (r < 0)
		return r;
	type = watt_state_text(event, "type");
	kube->n_new = 0;
	r = type ? take_event_of(kube, type, json_object_get(event, "object")) : -EBADMSG;
	json_decref(event);
	if (kube->n_new)
		tell(kube);
	return r;
}

static int list(struct kube *kube)
{
	uint64_t begin_ns = watt_now_ns();
	int r;

	kube->n_new = 0;
	r = watt_kube_link_list(kube->link, LIST_TIMEOUT_NS, take_listed, kube);
	if (r == 0 && begin_ns > HORIZON_NS) {
		pthread_mutex_lock(&kube->mutex);
		watt_pod_index_forget(&kube->index, begin_ns - HORIZON_NS);
		pthread_mutex_unlock(&kube->mutex);
	}
	/* also of half a list: what it had is known now */
	if (r == 0 || kube->n_new)
		tell(kube);
	return r;
}

/* ---- the thread ---- */

/* Said once, and once more when it works again. Nobody hears it after the end. */
static void report(struct kube *kube, int r)
{
	const char *url = watt_kube_link_get_url(kube->link);

	pthread_mutex_lock(&kube->mutex);
	if (atomic_load(&kube->is_closing)) {
		r = 0;
	} else if (r < 0 && !kube->is_failing) {
		kube->is_failing = true;
		watt_log(&kube->log, WATT_LOG_WARNING,
			 "kubernetes: %s: %s; containers are shown by their ids meanwhile", url,
			 watt_kube_link_get_problem(kube->link));
	} else if (r == 0 && kube->is_failing) {
		kube->is_failing = false;
		watt_log(&kube->log, WATT_LOG_WARNING, "kubernetes: %s answers again", url);
	}
	pthread_mutex_unlock(&kube->mutex);
	kube->n_failed = r < 0 ? kube->n_failed + 1 : 0;
}

/* 1 s, 2 s, 4 s, ... */
static uint64_t gap_after(unsigned int n)
{
	return n < 7 ? WATT_MIN(MIN_GAP_NS << n, MAX_GAP_NS) : MAX_GAP_NS;
}

/* With the mutex. */
static void sleep_until(struct kube *kube, uint64_t t_ns)
{
	struct timespec until = watt_timespec_from_ns(t_ns);

	pthread_cond_timedwait(&kube->news, &kube->mutex, &until);
}

/* Until somebody wants to know, and then until the gap since the last question is over. */
static void wait_until_wanted(struct kube *kube, uint64_t asked_ns)
{
	pthread_mutex_lock(&kube->mutex);
	while (!atomic_load(&kube->is_closing)) {
		uint64_t gap_ns =
			WATT_MAX(kube->gap_ns, kube->n_failed ? gap_after(kube->n_failed) : 0);

		if (!kube->is_wanted)
			pthread_cond_wait(&kube->news, &kube->mutex);
		else if (asked_ns && watt_now_ns() < asked_ns + gap_ns)
			sleep_until(kube, asked_ns + gap_ns);
		else
			break;
	}
	kube->is_wanted = false;
	pthread_mutex_unlock(&kube->mutex);
}

static void want_again(struct kube *kube)
{
	pthread_mutex_lock(&kube->mutex);
	kube->is_wanted = true;
	pthread_mutex_unlock(&kube->mutex);
}

static void ask_kubelet(struct kube *kube)
{
	uint64_t asked_ns = 0;
	int r;

	for (;;) {
		wait_until_wanted(kube, asked_ns);
		if (atomic_load(&kube->is_closing))
			return;
		r = list(kube);
		asked_ns = watt_now_ns();
		report(kube, r);
		if (r < 0)
			want_again(kube);
	}
}

static void sleep_for(struct kube *kube, uint64_t time_ns)
{
	uint64_t end_ns = watt_now_ns() + time_ns;

	pthread_mutex_lock(&kube->mutex);
	while (!atomic_load(&kube->is_closing) && watt_now_ns() < end_ns)
		sleep_until(kube, end_ns);
	pthread_mutex_unlock(&kube->mutex);
}

/* An API server ends a watch now and then; after -ESTALE it has to be asked for all of it. */
static void watch_api(struct kube *kube)
{
	bool has_list = false;
	int r;

	while (!atomic_load(&kube->is_closing)) {
		if (!has_list)
			r = list(kube);
		else
			r = watt_kube_link_watch(kube->link, kube->version, take_event, kube);
		has_list = r == 0 || (has_list && r != -ESTALE);
		if (r == -ESTALE)
			r = 0;
		report(kube, r);
		if (r < 0)
			sleep_for(kube, gap_after(kube->n_failed));
		else if (!has_list)
			sleep_for(kube, MIN_GAP_NS);
	}
}

static void *run(void *data)
{
	struct kube *kube = data;

	if (watt_kube_link_is_api(kube->link))
		watch_api(kube);
	else
		ask_kubelet(kube);
	kube_unref(kube);
	return NULL;
}

/* Nobody joins it: whoever closes would have to wait for an answer. */
static int start(struct kube *kube)
{
	sigset_t all, old;
	pthread_t thread;
	int r;

	kube->refs++;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	r = -pthread_create(&thread, NULL, run, kube);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (r < 0) {
		kube->refs--;
		return r;
	}
	pthread_setname_np(thread, "watt-kubernetes");
	pthread_detach(thread);
	return 0;
}

/* ---- the provider ---- */

static struct kube *kube_new(const struct watt_env *env)
{
	struct kube *kube = calloc(1, sizeof(*kube));
	pthread_condattr_t attr;

	if (!kube)
		return NULL;
	pthread_mutex_init(&kube->mutex, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&kube->news, &attr);
	pthread_condattr_destroy(&attr);
	kube->refs = 1;
	kube->log = env->log;
	kube->heard_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (watt_pod_index_init(&kube->index) < 0) {
		kube_unref(kube);
		return NULL;
	}
	return kube;
}

static int kubernetes_open(const struct watt_env *env, struct watt_meta **ret)
{
	struct kube_meta *meta = calloc(1, sizeof(*meta));
	char problem[256] = "";
	int r;

	if (!meta)
		return -ENOMEM;
	meta->base = (struct watt_meta){ &watt_meta_kubernetes, -1 };
	*ret = &meta->base;
	if (!env->kubelet_url)
		return 0;
	meta->kube = kube_new(env);
	if (!meta->kube)
		goto err_free;
	r = watt_kube_link_open(env, &meta->kube->is_closing, &meta->kube->link, problem,
				sizeof(problem));
	if (r == 0)
		r = start(meta->kube);
	if (r == -ENOMEM)
		goto err_unref;
	if (r < 0) {
		watt_log(&env->log, WATT_LOG_WARNING, "kubernetes: %s", problem);
		kube_unref(meta->kube);
		meta->kube = NULL;
		return 0;
	}
	meta->base.fd = meta->kube->heard_fd;
	return 0;

err_unref:
	kube_unref(meta->kube);
err_free:
	free(meta);
	return -ENOMEM;
}

static void kubernetes_close(struct watt_meta *base)
{
	struct kube_meta *meta = watt_container_of(base, struct kube_meta, base);
	struct kube *kube = meta->kube;

	free(meta);
	if (!kube)
		return;
	pthread_mutex_lock(&kube->mutex);
	atomic_store(&kube->is_closing, true);
	pthread_cond_signal(&kube->news);
	pthread_mutex_unlock(&kube->mutex);
	kube_unref(kube);
}

static void kubernetes_listen(struct watt_meta *base)
{
	uint64_t count;

	if (read(base->fd, &count, sizeof(count)) < 0)
		return;
}

/* With the mutex. How long this container is worth asking for, and how soon. */
static int ask_later(struct kube *kube, const struct watt_question *question)
{
	bool is_api = watt_kube_link_is_api(kube->link);
	unsigned int n = question->n_asked, most = MAX_ASKED;

	if (!question->container.pod_uid[0])
		most = MAX_ASKED_STRANGER;
	else if (is_api)
		most = MAX_ASKED_WATCHED;
	if (n >= most)
		return -ENOENT;
	if (!is_api) {
		/* who is new is in a hurry */
		if (!kube->is_wanted || gap_after(n) < kube->gap_ns)
			kube->gap_ns = gap_after(n);
		kube->is_wanted = true;
		pthread_cond_signal(&kube->news);
	}
	return -EAGAIN;
}

static bool is_of_kubernetes(const struct watt_question *question)
{
	static const char *const runtimes[] = { "", "containerd", "cri-o", "docker" };
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(runtimes); i++)
		if (!strcmp(question->container.runtime, runtimes[i]))
			return true;
	return false;
}

static int kubernetes_answer(struct watt_meta *base, const struct watt_question *question,
			     struct watt_answer *ret)
{
	struct kube *kube = watt_container_of(base, struct kube_meta, base)->kube;
	const char *id = question->container.id, *pod_uid = question->container.pod_uid;
	int r;

	if (!kube || !is_of_kubernetes(question))
		return -ENOENT;
	pthread_mutex_lock(&kube->mutex);
	r = watt_pod_index_find(&kube->index, id, ret);
	if (r == -ENOENT && pod_uid[0] && question->n_asked >= SANDBOX_ASKED)
		r = watt_pod_index_find_sandbox(
			&kube->index, pod_uid, id,
			question->container.runtime[0] ? question->container.runtime : NULL, ret);
	if (r == -ENOENT)
		r = ask_later(kube, question);
	pthread_mutex_unlock(&kube->mutex);
	return r;
}

/* ---- looking whether it would work ---- */

static int count_pod(void *data, const char *key, const char *text, size_t len)
{
	unsigned int *n = data;

	(void)text;
	(void)len;
	*n += !strcmp(key, "items");
	return 0;
}

static void explain(struct watt_diag *diag, int r)
{
	diag->state = r == -ENODEV                       ? WATT_ABSENT :
		      r == -EACCES || r == -EKEYREJECTED ? WATT_FORBIDDEN :
							   WATT_BROKEN;
	diag->error = r;
	if (r == -ENODEV)
		snprintf(diag->hint, sizeof(diag->hint),
			 "--kubelet-url=https://NODE:10250 names it");
	else if (r == -EKEYREJECTED)
		snprintf(diag->hint, sizeof(diag->hint),
			 "--kubelet-tls=FILE names the certificate to trust, sha256//PIN its key");
	else if (r == -EACCES)
		snprintf(diag->hint, sizeof(diag->hint),
			 "--kubelet-token=FILE has the token; its account needs get of nodes/pods");
}

static int kubernetes_probe(const struct watt_env *env, struct watt_diag *diag)
{
	static const atomic_bool never = false;
	struct watt_kube_link *link = NULL;
	char problem[256] = "";
	unsigned int n = 0;
	int r;

	r = watt_kube_link_open(env, &never, &link, problem, sizeof(problem));
	if (r == 0) {
		snprintf(diag->path, sizeof(diag->path), "%.200s", watt_kube_link_get_url(link));
		r = watt_kube_link_list(link, PROBE_TIMEOUT_NS, count_pod, &n);
		snprintf(problem, sizeof(problem), "%s", watt_kube_link_get_problem(link));
		watt_kube_link_free(link);
	}
	if (r < 0) {
		explain(diag, r);
		snprintf(diag->why, sizeof(diag->why), "%s", problem);
		return r;
	}
	diag->state = WATT_AVAILABLE;
	snprintf(diag->why, sizeof(diag->why), "names the containers of %u pod%s", n,
		 n == 1 ? "" : "s");
	return 0;
}

const struct watt_meta_ops watt_meta_kubernetes = {
	.name = "kubernetes",
	.summary = "names of containers and pods, of the kubelet or an API server",
	.answers = 1u << WATT_ASK_CONTAINER,
	.probe = kubernetes_probe,
	.open = kubernetes_open,
	.answer = kubernetes_answer,
	.listen = kubernetes_listen,
	.close = kubernetes_close,
};

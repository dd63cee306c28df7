/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells sinks of recordings and of live sessions. What a sink writes goes through a stream to the
 * caller's function; the first error of that ends the writing.
 */
#include "sink/sink.h"

#include <errno.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>

#include <wattribute/window.h>

#include "base/sized.h"
#include "sink/registry.h"

/* A recording that is being told. */
struct telling {
	struct watt_sink_about about;
	struct watt_recording *rec;
	struct watt_session *ses;   /* NULL until it is needed */
	struct watt_cursor *cursor; /* on it; the same */
	struct watt_mark *marks;    /* copies, in the order of time */
	struct watt_series *series; /* NULL: the sink takes something else */
	struct watt_phases *phases; /* of it */
};

/* One that is compared, and what it is compared with. */
#define RECORDINGS_MOST 2

/* A sink with what the formats need not see. */
struct writer {
	struct watt_sink sink; /* the first */
	struct telling told[RECORDINGS_MOST];
	size_t n_told;
	struct watt_recording_info live; /* stands for the recording that there is not */
	struct watt_snapshot *first;     /* whose domains told[0] has */
	watt_write_fn write;
	void *write_data;
	int error; /* of write() */
	uint64_t n_windows;
	bool has_ended;
	bool has_failed; /* to take a recording: nothing comes after it */
};

static struct writer *writer_of(struct watt_sink *sink)
{
	return (struct writer *)sink;
}

/* ---- what there is ---- */

static const struct watt_sink_ops *find(const char *name)
{
	size_t i;

	for (i = 0; watt_sink_registry[i]; i++)
		if (strcmp(watt_sink_registry[i]->info.name, name) == 0)
			return watt_sink_registry[i];
	return NULL;
}

const struct watt_sink_info *watt_sink_get_info(size_t index)
{
	size_t i;

	for (i = 0; watt_sink_registry[i]; i++)
		if (i == index)
			return &watt_sink_registry[i]->info;
	return NULL;
}

const struct watt_sink_info *watt_sink_find_info(const char *name)
{
	const struct watt_sink_ops *ops = name ? find(name) : NULL;

	return ops ? &ops->info : NULL;
}

/* ---- opening ---- */

static ssize_t pass_on(void *cookie, const char *bytes, size_t n)
{
	struct writer *w = cookie;

	if (w->error == 0)
		w->error = w->write(w->write_data, bytes, n);
	if (w->error < 0) {
		errno = -w->error;
		return 0;
	}
	return (ssize_t)n;
}

int watt_sink_open(const char *name, const struct watt_sink_opts *opts, struct watt_sink **ret)
{
	const struct watt_sink_ops *ops = name ? find(name) : NULL;
	struct watt_sink_opts known;
	struct writer *w;

	if (!ret || watt_sized_take(opts, &known, sizeof(known)) < 0 || !known.write)
		return -EINVAL;
	if (!ops)
		return -ENOENT;
	w = calloc(1, sizeof(*w));
	if (!w)
		return -ENOMEM;
	w->write = known.write;
	w->write_data = known.write_data;
	w->sink = (struct watt_sink){ .ops = ops,
				      .log = { known.log, known.log_data },
				      .kinds = watt_sink_kinds_in_sum(),
				      .data = calloc(1, ops->data_size + 1) };
	w->sink.out = fopencookie(w, "w", (cookie_io_functions_t){ .write = pass_on });
	if (!w->sink.data || !w->sink.out) {
		watt_sink_close(&w->sink);
		return -ENOMEM;
	}
	__fsetlocking(w->sink.out, FSETLOCKING_BYCALLER);
	*ret = &w->sink;
	return 0;
}

static bool has_option(const struct watt_sink_ops *ops, const char *name)
{
	const struct watt_sink_option *option = ops->info.options;

	for (; option && option->name; option++)
		if (strcmp(option->name, name) == 0)
			return true;
	return false;
}

/* The kind of a name of n letters, or -1. */
static int kind_of(const char *name, size_t n)
{
	int kind;

	for (kind = 0; kind <= WATT_ENTITY_JOB; kind++) {
		const char *known = watt_entity_kind_name((enum watt_entity_kind)kind);

		if (strlen(known) == n && strncmp(known, name, n) == 0)
			return kind;
	}
	return -1;
}

static int set_kinds(struct watt_sink *sink, const char *value)
{
	uint32_t kinds = 0;

	if (strcmp(value, "all") == 0) {
		sink->kinds = (1u << (WATT_ENTITY_JOB + 1)) - 1;
		return 0;
	}
	for (;;) {
		size_t n = strcspn(value, ",");
		int kind = kind_of(value, n);

		if (kind < 0)
			return -EINVAL;
		kinds |= 1u << kind;
		if (!value[n])
			break;
		value += n + 1;
	}
	sink->kinds = kinds;
	return 0;
}

int watt_sink_set(struct watt_sink *sink, const char *option, const char *value)
{
	if (!sink || !option || !value)
		return -EINVAL;
	if (writer_of(sink)->n_told)
		return -EALREADY;
	if (!has_option(sink->ops, option))
		return -ENOENT;
	if (strcmp(option, "kinds") == 0)
		return set_kinds(sink, value);
	if (strcmp(option, "zeros") == 0) {
		if (strcmp(value, "yes") != 0 && strcmp(value, "no") != 0)
			return -EINVAL;
		sink->with_zeros = strcmp(value, "yes") == 0;
		return 0;
	}
	return sink->ops->set(sink, option, value);
}

/* ---- telling ---- */

static enum watt_sink_need need_of(const struct watt_sink *sink)
{
	if (sink->ops->need)
		return sink->ops->need(sink);
	return sink->ops->series ? WATT_SINK_SERIES : WATT_SINK_WINDOWS;
}

/* What a call comes to: an error of the format, or of the function to write. */
static int outcome(struct writer *w, int r)
{
	if (r == 0 && w->error < 0)
		r = w->error;
	if (r == 0 && ferror(w->sink.out))
		r = -EIO;
	return r;
}

static int begin(struct writer *w, struct telling *t)
{
	w->sink.about = &t->about;
	return outcome(w, w->sink.ops->begin ? w->sink.ops->begin(&w->sink) : 0);
}

static int tell_window(struct writer *w, const struct watt_window *window, const char *phase)
{
	struct watt_sink_window told = { .snap = window->snap,
					 .index = w->n_windows,
					 .t0_ns = window->t0_ns,
					 .t1_ns = window->t1_ns,
					 .phase = phase && *phase ? phase : NULL };
	int r;

	r = watt_view_init(&told.view, window->snap);
	if (r < 0)
		return r;
	told.t1_realtime_ns = watt_snapshot_get_realtime_ns(window->snap);
	r = outcome(w, w->sink.ops->window(&w->sink, &told));
	watt_view_done(&told.view);
	w->n_windows++;
	return r;
}

static int tell_windows(struct writer *w, struct watt_session *ses,
			const struct watt_windows_opts *plan)
{
	struct watt_windows *windows;
	struct watt_window window;
	int r;

	r = watt_windows_open(ses, plan, &windows);
	if (r < 0)
		return r;
	while ((r = watt_windows_next(windows, &window)) == 0) {
		const char *phase = window.mark_index == WATT_NO_MARK ?
					    NULL :
					    plan->marks[window.mark_index].label;

		if (window.t1_ns > window.t0_ns)
			r = tell_window(w, &window, phase);
		watt_snapshot_unref(window.snap);
		if (r < 0)
			break;
	}
	watt_windows_close(windows);
	return r < 0 ? r : 0;
}

/* Channels are apart by their delays, never by this much. */
#define SAMPLES_APART_NS 60000000000ULL

/* All that there are: those behind the end of a recording, too, are of sensors that tell late. */
static uint64_t last_sample_ns(const struct telling *t)
{
	return t->about.to_ns < watt_recording_get_info(t->rec)->end_ns ?
		       t->about.to_ns :
		       UINT64_MAX - SAMPLES_APART_NS;
}

static int tell_samples(struct writer *w, struct telling *t)
{
	struct watt_sample samples[1024];
	uint64_t from_ns = t->about.from_ns, to_ns = last_sample_ns(t);
	int r, n, i;

	r = watt_recording_seek(t->rec, from_ns);
	while (r == 0) {
		n = watt_recording_read_samples(t->rec, samples,
						sizeof(samples) / sizeof(samples[0]));
		if (n <= 0)
			return n;
		for (i = 0; i < n && r == 0; i++)
			if (samples[i].t_after_ns >= from_ns && samples[i].t_after_ns <= to_ns)
				r = outcome(w, w->sink.ops->sample(&w->sink, &samples[i]));
		if (samples[n - 1].t_before_ns > to_ns + SAMPLES_APART_NS)
			break;
	}
	return r;
}

/* ---- recordings ---- */

static void telling_done(struct telling *t)
{
	watt_phases_free(t->phases);
	watt_series_free(t->series);
	watt_cursor_close(t->cursor);
	watt_session_close(t->ses);
	watt_recording_close(t->rec);
	free(t->marks);
	free(t->about.channels);
	free(t->about.domains);
	free(t->about.marks);
	free(t->about.losses);
	*t = (struct telling){ 0 };
}

static int choose_part(struct watt_sink_about *about, const struct watt_excerpt *part)
{
	const struct watt_recording_info *info = about->info;

	about->from_ns = part->from_ns ? part->from_ns : info->start_ns;
	about->to_ns = part->to_ns && part->to_ns < info->end_ns ? part->to_ns : info->end_ns;
	if (about->from_ns < info->start_ns || about->from_ns > about->to_ns)
		return -EINVAL;
	return info->end_ns <= info->start_ns ? -ENODATA : 0;
}

static int about_init(struct telling *t, const char *path)
{
	struct watt_sink_about *about = &t->about;
	size_t i;

	*about = (struct watt_sink_about){ .file = path,
					   .info = watt_recording_get_info(t->rec),
					   .rec = t->rec,
					   .n_channels = watt_recording_get_channel_count(t->rec),
					   .n_marks = watt_recording_get_mark_count(t->rec),
					   .n_losses = watt_recording_get_loss_count(t->rec) };
	about->channels = calloc(about->n_channels + 1, sizeof(*about->channels));
	about->marks = calloc(about->n_marks + 1, sizeof(*about->marks));
	about->losses = calloc(about->n_losses + 1, sizeof(*about->losses));
	t->marks = calloc(about->n_marks + 1, sizeof(*t->marks));
	if (!about->channels || !about->marks || !about->losses || !t->marks)
		return -ENOMEM;
	for (i = 0; i < about->n_channels; i++)
		about->channels[i] = watt_recording_get_channel(t->rec, i);
	for (i = 0; i < about->n_marks; i++) {
		t->marks[i] = *watt_recording_get_mark(t->rec, i);
		about->marks[i] = &t->marks[i];
	}
	for (i = 0; i < about->n_losses; i++)
		about->losses[i] = watt_recording_get_loss(t->rec, i);
	return 0;
}

/* The sink's log hears what is wrong, if nobody else does. */
static int open_session(struct writer *w, struct telling *t, const struct watt_options *chosen)
{
	struct watt_options *options = NULL;
	int r = chosen ? 0 : watt_options_new(&options);

	if (options)
		watt_options_set_log(options, w->sink.log.fn, w->sink.log.data);
	if (r == 0)
		r = watt_session_open_recording(t->about.file, chosen ? chosen : options, &t->ses);
	watt_options_free(options);
	return r;
}

/* Opens a session on the recording, and goes to the beginning of the part. */
static int replay(struct writer *w, struct telling *t, const struct watt_excerpt *part)
{
	struct watt_sink_about *about = &t->about;
	struct watt_snapshot *snap = NULL;
	size_t i;
	int r;

	r = open_session(w, t, part->options);
	if (r == 0)
		r = watt_session_start(t->ses);
	if (r == 0)
		r = watt_cursor_open(t->ses, &t->cursor);
	/* The snapshot that ends before opens the first window. */
	if (r == 0 && about->from_ns > about->info->start_ns)
		r = watt_cursor_snapshot_at(t->cursor, about->from_ns, 0, &snap);
	watt_snapshot_unref(snap);
	if (r < 0)
		return r;
	about->n_domains = watt_session_get_domain_count(t->ses);
	about->domains = calloc(about->n_domains + 1, sizeof(*about->domains));
	if (!about->domains)
		return -ENOMEM;
	for (i = 0; i < about->n_domains; i++)
		about->domains[i] = watt_session_get_domain(t->ses, i);
	return 0;
}

static struct watt_windows_opts plan_of(const struct telling *t, uint64_t window_ns)
{
	const struct watt_sink_about *about = &t->about;
	uint64_t slice_ns = about->info->slice_ns;

	if (window_ns && window_ns < slice_ns)
		window_ns = slice_ns;
	if (!window_ns)
		window_ns = watt_windows_choose_ns(about->to_ns - about->from_ns, slice_ns);
	return (struct watt_windows_opts){ .sz = sizeof(struct watt_windows_opts),
					   .start_ns = about->from_ns,
					   .end_ns = about->to_ns,
					   .window_ns = window_ns,
					   .marks = t->marks,
					   .n_marks = about->n_marks,
					   .cursor = t->cursor };
}

/* By a session of its own, now that it is known whom to keep apart. */
static int read_again(struct writer *w, struct telling *t, const struct watt_excerpt *part)
{
	struct watt_series *first = t->series;
	struct watt_windows_opts plan;
	int r;

	t->series = NULL;
	t->cursor = watt_cursor_close(t->cursor);
	t->ses = watt_session_close(t->ses);
	free(t->about.domains);
	t->about.domains = NULL;
	r = replay(w, t, part);
	plan = plan_of(t, part->window_ns);
	if (r == 0)
		r = watt_series_read_again(t->ses, &plan, first, &t->series);
	watt_series_free(first);
	return r;
}

static int read_series(struct writer *w, struct telling *t, const struct watt_excerpt *part)
{
	struct watt_windows_opts plan = plan_of(t, part->window_ns);
	int r;

	r = watt_series_read(t->ses, &plan, w->sink.ops->n_kept, &t->series);
	if (r == 0 && watt_series_get_info(t->series)->n_misplaced)
		r = read_again(w, t, part);
	/* What was read before is worth to be shown. */
	if (r < 0 && (!t->series || watt_series_get_info(t->series)->n_windows == 0))
		return r;
	if (r < 0)
		watt_log(&w->sink.log, WATT_LOG_ERROR, "%s can be read up to here only: %s",
			 t->about.file, strerror(-r));
	return watt_phases_find(t->series, t->marks, t->about.n_marks, &t->phases);
}

static int open_recording(struct writer *w, struct telling *t, const char *path,
			  const struct watt_excerpt *part)
{
	int r;

	r = watt_recording_open(path, w->sink.log.fn, w->sink.log.data, &t->rec);
	if (r == 0)
		r = about_init(t, path);
	if (r == 0)
		r = choose_part(&t->about, part);
	return r;
}

static int tell_recording(struct writer *w, struct telling *t, const struct watt_excerpt *part)
{
	enum watt_sink_need need = need_of(&w->sink);
	struct watt_windows_opts plan;
	int r = 0;

	if (need == WATT_SINK_WINDOWS || need == WATT_SINK_SERIES)
		r = replay(w, t, part);
	plan = plan_of(t, part->window_ns); /* with the cursor that is at the part's beginning */
	if (r == 0 && need == WATT_SINK_SERIES)
		return read_series(w, t, part);
	if (r == 0)
		r = begin(w, t);
	if (r < 0 || need == WATT_SINK_ABOUT)
		return r;
	return need == WATT_SINK_SAMPLES ? tell_samples(w, t) : tell_windows(w, t->ses, &plan);
}

static int tell_series(struct writer *w)
{
	struct watt_sink_series told[RECORDINGS_MOST] = { 0 };
	size_t i;

	for (i = 0; i < w->n_told; i++)
		told[i] = (struct watt_sink_series){ .about = &w->told[i].about,
						     .series = w->told[i].series,
						     .phases = w->told[i].phases };
	w->sink.about = told[0].about;
	return w->sink.ops->series(&w->sink, &told[0], w->n_told > 1 ? &told[1] : NULL);
}

/* The format may look at what it was told until it has ended. */
static int end(struct writer *w)
{
	int r = 0;

	if (w->has_ended || w->has_failed || !w->n_told)
		return 0;
	w->has_ended = true;
	if (w->told[0].series)
		r = tell_series(w);
	if (r == 0 && w->sink.ops->end)
		r = w->sink.ops->end(&w->sink);
	return outcome(w, r);
}

/* A sink takes one recording, or a second to compare the first with. */
static bool has_room(const struct writer *w)
{
	if (w->has_ended || w->first || w->has_failed)
		return false;
	return !w->n_told ||
	       (w->told[0].series && !w->sink.ops->is_alone && w->n_told < RECORDINGS_MOST);
}

int watt_sink_put_recording(struct watt_sink *sink, const char *path,
			    const struct watt_excerpt *part)
{
	struct watt_excerpt known = { .sz = sizeof(known) };
	struct writer *w = sink ? writer_of(sink) : NULL;
	struct telling *t;
	int r;

	if (!w || !path || (part && watt_sized_take(part, &known, sizeof(known)) < 0))
		return -EINVAL;
	if (!has_room(w))
		return -EALREADY;
	t = &w->told[w->n_told++];
	r = open_recording(w, t, path, &known);
	if (r == 0)
		r = tell_recording(w, t, &known);
	/* Others are whole when no more is to come. */
	if (r == 0 && !t->series)
		r = end(w);
	w->has_failed = r < 0;
	if (!t->series || r < 0) {
		sink->about = NULL;
		telling_done(t);
	}
	return r;
}

/* ---- live sessions ---- */

static int begin_live(struct writer *w, struct watt_snapshot *snap)
{
	struct telling *t = &w->told[w->n_told++];
	struct watt_sink_about *about = &t->about;
	struct watt_recording_info *info = &w->live;
	size_t i;

	*info = (struct watt_recording_info){ .sz = sizeof(*info),
					      .writer = "",
					      .host = "",
					      .os = "",
					      .kernel = "",
					      .arch = "",
					      .cpu = "",
					      .usage = "",
					      .usage_why = "",
					      .command = "",
					      .is_complete = 1 };
	info->start_ns = watt_snapshot_get_start_ns(snap);
	info->end_ns = watt_snapshot_get_time_ns(snap);
	info->start_realtime_ns =
		watt_snapshot_get_realtime_ns(snap) - (info->end_ns - info->start_ns);
	*about = (struct watt_sink_about){ .info = info,
					   .n_domains = watt_snapshot_get_domain_count(snap),
					   .from_ns = watt_snapshot_get_window_start_ns(snap),
					   .to_ns = UINT64_MAX };
	about->domains = calloc(about->n_domains + 1, sizeof(*about->domains));
	if (!about->domains)
		return -ENOMEM;
	for (i = 0; i < about->n_domains; i++)
		about->domains[i] = watt_snapshot_get_domain(snap, i);
	w->first = watt_snapshot_ref(snap);
	return begin(w, t);
}

int watt_sink_put_snapshot(struct watt_sink *sink, struct watt_snapshot *snap)
{
	struct writer *w = sink ? writer_of(sink) : NULL;
	struct watt_window window = { .snap = snap };
	int r = 0;

	if (!w || !snap)
		return -EINVAL;
	if (need_of(sink) != WATT_SINK_WINDOWS)
		return -EOPNOTSUPP;
	if (w->has_ended || (w->n_told && !w->first))
		return -EALREADY;
	if (!w->n_told)
		r = begin_live(w, snap);
	if (r < 0)
		return r;
	window.t0_ns = watt_snapshot_get_window_start_ns(snap);
	window.t1_ns = watt_snapshot_get_time_ns(snap);
	r = tell_window(w, &window, watt_snapshot_get_phase(snap));
	/* Who looks at it live waits for nothing but the next window. */
	if (r == 0 && fflush(sink->out) != 0)
		r = outcome(w, 0);
	return r;
}

/* ---- the end ---- */

int watt_sink_finish(struct watt_sink *sink)
{
	struct writer *w = sink ? writer_of(sink) : NULL;
	int r;

	if (!w)
		return -EINVAL;
	r = end(w);
	fflush(sink->out);
	return outcome(w, r);
}

struct watt_sink *watt_sink_close(struct watt_sink *sink)
{
	struct writer *w = sink ? writer_of(sink) : NULL;
	size_t i;

	if (!w)
		return NULL;
	if (sink->data && sink->ops->done)
		sink->ops->done(sink);
	free(sink->data);
	/* What was not finished is not written. */
	if (w->error == 0)
		w->error = -ECANCELED;
	if (sink->out)
		fclose(sink->out);
	for (i = 0; i < w->n_told; i++)
		telling_done(&w->told[i]);
	watt_snapshot_unref(w->first);
	free(w);
	return NULL;
}

/* ---- what formats ask ---- */

uint32_t watt_sink_kinds_in_sum(void)
{
	uint32_t kinds = 1u << WATT_ENTITY_IDLE | 1u << WATT_ENTITY_UNATTRIBUTED;
	int kind;

	for (kind = 0; kind <= WATT_ENTITY_JOB; kind++)
		if (watt_view_is_user((enum watt_entity_kind)kind))
			kinds |= 1u << kind;
	return kinds;
}

bool watt_sink_has_kind(const struct watt_sink *sink, enum watt_entity_kind kind)
{
	return (unsigned int)kind < 32 && sink->kinds & 1u << kind;
}

int64_t watt_sink_since_ns(const struct watt_sink *sink, uint64_t t_ns)
{
	return (int64_t)(t_ns - sink->about->info->start_ns);
}

uint64_t watt_sink_realtime_ns(const struct watt_sink *sink, uint64_t t_ns)
{
	const struct watt_recording_info *info = sink->about->info;

	if (sink->about->rec)
		return watt_recording_get_realtime_ns(sink->about->rec, t_ns);
	return info->start_realtime_ns + (t_ns - info->start_ns);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the session for a snapshot, keeps it, and hands its windows to the roster. */
#include "monitor.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "api.h"
#include "caller.h"
#include "clock.h"
#include "message.h"
#include "state_folder.h"
#include "xalloc.h"

struct rendering *rendering_ref(struct rendering *rendering)
{
	__atomic_add_fetch(&rendering->refs, 1, __ATOMIC_RELAXED);
	return rendering;
}

void rendering_unref(struct rendering *rendering)
{
	if (!rendering || __atomic_sub_fetch(&rendering->refs, 1, __ATOMIC_ACQ_REL) > 0)
		return;
	bytes_done(&rendering->bytes);
	free(rendering);
}

/* ---- opening ---- */

/* The library's options by their names. What nobody set is the configuration's to say. */
static const struct {
	enum setting_id id;
	const char *option;
} texts[] = {
	{ SETTING_MACHINE, "machine" },
	{ SETTING_SYSFS_ROOT, "sysfs-root" },
	{ SETTING_PROCFS_ROOT, "procfs-root" },
	{ SETTING_NVML_LIB, "nvml-lib" },
	{ SETTING_CONFIG, "config" },
	{ SETTING_REDFISH_URL, "redfish-url" },
	{ SETTING_REDFISH_AUTH, "redfish-auth" },
	{ SETTING_REDFISH_TLS, "redfish-tls" },
	{ SETTING_METER, "meter" },
	{ SETTING_SOURCES, "sources" },
	{ SETTING_USAGE, "usage" },
	{ SETTING_PRECISE, "precise" },
	{ SETTING_IDLE_POLICY, "idle-policy" },
	{ SETTING_SHARE_KEYS, "share-key" },
	{ SETTING_PRIVACY, "privacy" },
	{ SETTING_PRIOR, "prior" },
	{ SETTING_DELAYS, "sensor-delay" },
	{ SETTING_RATES, "rate" },
	{ SETTING_KUBELET_URL, "kubelet-url" },
	{ SETTING_KUBELET_TOKEN, "kubelet-token" },
	{ SETTING_KUBELET_TLS, "kubelet-tls" },
};

static int refuse(const struct watt_options *options, const char *setting, int r)
{
	message_error("%s: %s", setting, watt_options_get_problem(options));
	return r;
}

static int fill_options(struct watt_options *options, const struct settings *settings)
{
	uint32_t caller_uid;
	size_t i;
	int r;

	watt_options_set_log(options, message_log, NULL);
	if (caller_get_uid(&caller_uid))
		watt_options_set_owner(options, caller_uid);
	r = watt_options_set_slice_ns(options, settings_number(settings, SETTING_SLICE));
	if (r < 0)
		return refuse(options, "slice", r);
	r = watt_options_set_period_ns(options, settings_number(settings, SETTING_PERIOD));
	if (r < 0)
		return refuse(options, "period", r);
	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		const char *text = settings_is_made(settings, texts[i].id) ?
					   settings_text_or_null(settings, texts[i].id) :
					   NULL;

		r = text ? watt_options_set(options, texts[i].option, text) : 0;
		if (r < 0)
			return refuse(options, setting_get(texts[i].id)->name, r);
	}
	r = state_folder_set(options);
	if (r < 0)
		return r;
	return watt_options_set_redfish_login(options, getenv("WATTRIBUTE_REDFISH_USER"),
					      getenv("WATTRIBUTE_REDFISH_PASSWORD"));
}

int monitor_make_options(const struct settings *settings, struct watt_options **ret)
{
	int r = watt_options_new(ret);

	if (r == 0)
		r = fill_options(*ret, settings);
	return r;
}

static int open_session(const struct settings *settings, struct watt_session **ret)
{
	struct watt_options *options = NULL;
	int r = monitor_make_options(settings, &options);

	if (r == 0)
		r = watt_session_open(options, ret);
	watt_options_free(options);
	return r;
}

static struct roster_opts roster_opts_of(const struct settings *settings)
{
	return (struct roster_opts){
		.levels = (uint32_t)settings_number(settings, SETTING_LEVELS),
		.top = settings_number(settings, SETTING_TOP),
		.min_age_ns = settings_number(settings, SETTING_MIN_AGE),
		.keep_ns = settings_number(settings, SETTING_KEEP_ENDED),
		.own_pid = (uint32_t)getpid(),
	};
}

static void complain(int error, unsigned int errors_before)
{
	if (message_get_error_count() > errors_before)
		return;
	if (error == -ENODEV)
		message_error("nothing measures power here; 'wattribute doctor' says why");
	else
		message_error("cannot measure: %s", strerror(-error));
}

int monitor_open(struct monitor *monitor, const struct settings *settings)
{
	unsigned int errors = message_get_error_count();
	struct roster_opts roster = roster_opts_of(settings);
	int r;

	memset(monitor, 0, sizeof(*monitor));
	pthread_mutex_init(&monitor->lock, NULL);
	roster_init(&monitor->roster, &roster);
	monitor->total = (struct watt_total){ .sz = sizeof(monitor->total), .power_w = NAN };
	monitor->supplies = (struct watt_balance){ .sz = sizeof(monitor->supplies) };
	monitor_set(monitor, settings);
	r = open_session(settings, &monitor->session);
	if (r == 0)
		r = watt_cursor_open(monitor->session, &monitor->cursor);
	if (r == 0)
		r = watt_session_start(monitor->session);
	if (r < 0)
		complain(r, errors);
	return r;
}

static bool is_metrics(enum document document)
{
	return document == DOCUMENT_TEXT || document == DOCUMENT_OPENMETRICS;
}

/*
 * Keeps the memory of metrics that nobody is being sent any more: new memory for megabytes, page by
 * page, would be a quarter of the time that the next ones take.
 */
static void keep_room(struct monitor *monitor, enum document document)
{
	struct rendering *rendering = monitor->renderings[document];

	if (!rendering || !is_metrics(document) ||
	    __atomic_load_n(&rendering->refs, __ATOMIC_ACQUIRE) > 1)
		return;
	bytes_done(&monitor->room[document]);
	monitor->room[document] = rendering->bytes;
	rendering->bytes = (struct bytes){ 0 };
}

/* Those of the last refresh. Whom they are given to is decided under the same lock. */
static void forget_renderings(struct monitor *monitor)
{
	enum document document;

	for (document = 0; document < DOCUMENT_N; document++) {
		keep_room(monitor, document);
		rendering_unref(monitor->renderings[document]);
		monitor->renderings[document] = NULL;
	}
}

void monitor_close(struct monitor *monitor)
{
	int format;

	forget_renderings(monitor);
	for (format = 0; format < EXPOSITION_N; format++)
		bytes_done(&monitor->room[format]);
	history_done(&monitor->history);
	takers_done(&monitor->takers);
	watt_snapshot_unref(monitor->snap);
	watt_cursor_close(monitor->cursor);
	watt_session_close(monitor->session);
	roster_done(&monitor->roster);
	free(monitor->sensors);
	free(monitor->states);
	free(monitor->is_whole_gpu);
	free(monitor->sources);
	pthread_mutex_destroy(&monitor->lock);
}

void monitor_set(struct monitor *monitor, const struct settings *settings)
{
	struct roster_opts roster = roster_opts_of(settings);

	pthread_mutex_lock(&monitor->lock);
	roster_set_opts(&monitor->roster, &roster);
	monitor->has_created = settings_number(settings, SETTING_CREATED);
	monitor->has_all_domains = settings_number(settings, SETTING_LEVEL_DOMAINS) == 1;
	monitor->compat = settings_number(settings, SETTING_COMPAT);
	pthread_mutex_unlock(&monitor->lock);
}

/* ---- refreshing ---- */

static void look_at_sensor(struct monitor *monitor, size_t index, struct monitor_sensor *sensor)
{
	struct watt_session *session = monitor->session;
	struct watt_sample sample;

	sensor->channel = watt_session_get_channel(session, index);
	sensor->domain = watt_session_get_channel_domain(session, index);
	sensor->is_duplicate = watt_session_channel_is_duplicate(session, index);
	sensor->stats.sz = sizeof(sensor->stats);
	sensor->has_stats = watt_session_get_reader_stats(session, index, &sensor->stats) == 0;
	sensor->has_sample = watt_session_get_sample(session, index, &sample) == 0;
	sensor->status = WATT_STATUS_PENDING;
	if (sensor->has_sample)
		sensor->status = (enum watt_status)sample.status;
	/* one that hangs may never have been read */
	sensor->has_sample = sensor->has_sample && sample.t_after_ns;
	if (sensor->has_sample)
		sensor->age_ns =
			monitor->t_ns > sample.t_after_ns ? monitor->t_ns - sample.t_after_ns : 0;
}

/* Outside the lock: a session may take its time. */
static struct monitor_sensor *look_at_sensors(struct monitor *monitor, size_t *ret_n)
{
	size_t n = watt_session_get_channel_count(monitor->session), i;
	struct monitor_sensor *sensors = xcalloc(n, sizeof(*sensors));

	for (i = 0; i < n; i++)
		look_at_sensor(monitor, i, &sensors[i]);
	*ret_n = n;
	return sensors;
}

static struct monitor_source *look_at_sources(const struct monitor *monitor, size_t *ret_n)
{
	struct monitor_source *sources = NULL;
	struct monitor_source one;
	size_t n = 0;

	while ((one.name = watt_session_get_source(monitor->session, n, &one.status))) {
		sources = xrealloc(sources, n + 1, sizeof(*sources));
		sources[n++] = one;
	}
	*ret_n = n;
	return sources;
}

static void update_roster(struct monitor *monitor, const struct watt_snapshot *snap)
{
	size_t n_domains = watt_snapshot_get_domain_count(snap);
	size_t n_rows = watt_snapshot_get_row_count(snap), i;
	auto_free const struct watt_domain **domains = xcalloc(n_domains, sizeof(*domains));
	auto_free const struct watt_domain_state **states = xcalloc(n_domains, sizeof(*states));
	auto_free const struct watt_row **rows = xcalloc(n_rows, sizeof(*rows));
	uint64_t t_ns = watt_snapshot_get_time_ns(snap);
	struct census census = {
		.t_ns = t_ns,
		.realtime_ns = watt_snapshot_get_realtime_ns(snap),
		/* Both clocks differ by the time that the machine slept. */
		.boot_ns = t_ns + clock_ns(CLOCK_BOOTTIME) - clock_ns(CLOCK_MONOTONIC),
		.start_ns = watt_snapshot_get_start_ns(snap),
		.n_domains = n_domains,
		.domains = domains,
		.states = states,
		.n_rows = n_rows,
		.rows = rows,
	};

	for (i = 0; i < n_domains; i++) {
		domains[i] = watt_snapshot_get_domain(snap, i);
		states[i] = watt_snapshot_get_domain_state(snap, i);
	}
	for (i = 0; i < n_rows; i++)
		rows[i] = watt_snapshot_get_row(snap, i);
	roster_update(&monitor->roster, &census);
	monitor->unbalanced += !roster_is_balanced(&monitor->roster);
	monitor->realtime_ns = census.realtime_ns;
	if (history_add(&monitor->history, snap))
		takers_add(&monitor->takers, &monitor->history, &monitor->roster, &census);
}

static void keep_window(struct watt_domain_state *state, const struct watt_domain_state *before)
{
	state->window_ns = before->window_ns;
	state->window_nj = before->window_nj;
	state->window_idle_nj = before->window_idle_nj;
	state->window_unattributed_nj = before->window_unattributed_nj;
	state->window_shared_idle_nj = before->window_shared_idle_nj;
}

static void update_states(struct monitor *monitor, const struct watt_snapshot *snap)
{
	size_t n = watt_snapshot_get_domain_count(snap), i;

	if (n > monitor->n_states) {
		monitor->states = xrealloc(monitor->states, n, sizeof(*monitor->states));
		monitor->is_whole_gpu =
			xrealloc(monitor->is_whole_gpu, n, sizeof(*monitor->is_whole_gpu));
		memset(monitor->states + monitor->n_states, 0,
		       (n - monitor->n_states) * sizeof(*monitor->states));
		monitor->n_states = n;
	}
	for (i = 0; i < n; i++) {
		struct watt_domain_state state = *watt_snapshot_get_domain_state(snap, i);

		if (!state.window_ns)
			keep_window(&state, &monitor->states[i]);
		monitor->states[i] = state;
	}
}

static struct monitor_cpus add_cpus(const struct watt_snapshot *snap)
{
	struct monitor_cpus sum = { 0 };
	size_t i;

	for (i = 0; i < watt_snapshot_get_cpu_count(snap); i++) {
		const struct watt_cpu_state *cpu = watt_snapshot_get_cpu(snap, i);

		sum.active_ns += cpu->user_ns + cpu->system_ns + cpu->steal_ns;
		sum.idle_ns += cpu->idle_ns;
		sum.irq_ns += cpu->irq_ns;
		sum.softirq_ns += cpu->softirq_ns;
	}
	return sum;
}

static void update_cpus(struct monitor *monitor, const struct watt_snapshot *snap)
{
	struct monitor_cpus now = add_cpus(snap), last = monitor->cpus;

	monitor->cpus = now;
	if (now.active_ns + now.idle_ns > last.active_ns + last.idle_ns)
		monitor->cpu_window = (struct monitor_cpus){
			.active_ns = now.active_ns - last.active_ns,
			.idle_ns = now.idle_ns - last.idle_ns,
			.irq_ns = now.irq_ns - last.irq_ns,
			.softirq_ns = now.softirq_ns - last.softirq_ns,
		};
}

/* The library's, so that no other output of the same moment has another one. */
static void update_total(struct monitor *monitor, const struct watt_snapshot *snap)
{
	size_t n = watt_snapshot_get_domain_count(snap), i;
	auto_free const struct watt_domain **domains = xcalloc(n, sizeof(*domains));
	auto_free const struct watt_domain_state **states = xcalloc(n, sizeof(*states));
	const struct watt_view view = {
		.sz = sizeof(view), .domains = domains, .states = states, .n_domains = n
	};

	for (i = 0; i < n; i++) {
		domains[i] = watt_snapshot_get_domain(snap, i);
		states[i] = &monitor->states[i];
	}
	for (i = 0; i < n; i++)
		monitor->is_whole_gpu[i] = watt_view_is_whole_gpu(&view, i);
	watt_total_draw(&view, &monitor->total);
	watt_balance_look_outside(&view, monitor->total.power_w, &monitor->supplies);
}

int monitor_refresh(struct monitor *monitor)
{
	uint64_t begin_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	struct monitor_sensor *sensors;
	struct monitor_source *sources;
	struct watt_snapshot *snap, *last;
	size_t n_sensors, n_sources;
	int r;

	r = watt_cursor_snapshot(monitor->cursor, &snap);
	if (r < 0)
		return r;
	monitor->t_ns = watt_session_get_time_ns(monitor->session);
	sensors = look_at_sensors(monitor, &n_sensors);
	sources = look_at_sources(monitor, &n_sources);
	pthread_mutex_lock(&monitor->lock);
	update_roster(monitor, snap);
	update_states(monitor, snap);
	update_cpus(monitor, snap);
	update_total(monitor, snap);
	free(monitor->sensors);
	monitor->sensors = sensors;
	monitor->n_sensors = n_sensors;
	free(monitor->sources);
	monitor->sources = sources;
	monitor->n_sources = n_sources;
	last = monitor->snap;
	monitor->snap = snap;
	monitor->refreshes++;
	monitor->refresh_cost_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
	forget_renderings(monitor);
	pthread_mutex_unlock(&monitor->lock);
	watt_snapshot_unref(last); /* whoever asks need not wait for it */
	return 0;
}

bool monitor_is_counter(const struct monitor *monitor, size_t domain)
{
	int32_t channel = monitor_domain(monitor, domain)->channel;

	return channel < 0 || (size_t)channel >= monitor->n_sensors ||
	       !(monitor->sensors[channel].channel->flags & WATT_CHANNEL_SIGNED);
}

bool monitor_has_counter(const struct monitor *monitor, size_t domain)
{
	return monitor_is_counter(monitor, domain) &&
	       (monitor_state(monitor, domain)->status == WATT_STATUS_OK ||
		monitor->roster.whole[ROSTER_DOMAIN(domain)].out);
}

bool monitor_is_in_levels(const struct monitor *monitor, size_t domain)
{
	return monitor_has_counter(monitor, domain) &&
	       (monitor->has_all_domains || monitor_domain(monitor, domain)->is_partition);
}

double monitor_power_w(const struct monitor *monitor, size_t domain)
{
	const struct watt_domain_state *state = &monitor->states[domain];

	return watt_view_power_w(state, state->window_nj);
}

double monitor_idle_uncertainty_w(const struct monitor *monitor, size_t domain)
{
	uint64_t uncertainty_uw = monitor->states[domain].baseline_uncertainty_uw;

	return uncertainty_uw == UINT64_MAX ? NAN : (double)uncertainty_uw / 1e6;
}

/* ---- rendering ---- */

static struct bytes render_metrics(struct monitor *monitor, enum exposition_format format)
{
	struct exposition ex;

	exposition_begin(&ex, format, &monitor->room[format]);
	metrics_write(&ex, monitor);
	exposition_end(&ex);
	return ex.bytes;
}

static char *render_json(const struct monitor *monitor, enum document document)
{
	if (document >= DOCUMENT_TAKERS && document <= DOCUMENT_TAKERS_LAST)
		return api_history_by(monitor, (enum level_kind)(document - DOCUMENT_TAKERS));
	switch (document) {
	case DOCUMENT_STATUS:
		return api_status(monitor);
	case DOCUMENT_HISTORY:
		return api_history(monitor);
	case DOCUMENT_SNAPSHOT:
		return api_snapshot(monitor);
	case DOCUMENT_SOURCES:
		return api_sources(monitor);
	default:
		return NULL;
	}
}

static struct bytes render(struct monitor *monitor, enum document document)
{
	struct bytes bytes = { 0 };

	if (is_metrics(document))
		return render_metrics(monitor, (enum exposition_format)document);
	bytes.data = render_json(monitor, document);
	bytes.n = bytes.data ? strlen(bytes.data) : 0;
	return bytes;
}

struct rendering *monitor_render(struct monitor *monitor, enum document document)
{
	struct rendering *rendering = NULL;

	pthread_mutex_lock(&monitor->lock);
	if (!monitor->renderings[document]) {
		struct bytes bytes = render(monitor, document);

		if (bytes.data) {
			rendering = xcalloc(1, sizeof(*rendering));
			rendering->bytes = bytes;
			rendering->refs = 1;
			monitor->renderings[document] = rendering;
		}
	}
	if (monitor->renderings[document])
		rendering = rendering_ref(monitor->renderings[document]);
	pthread_mutex_unlock(&monitor->lock);
	return rendering;
}

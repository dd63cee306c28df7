/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lib/sink/csv.c, json.c, perfetto.c, emon.c, report.c, html.c, on a made-up machine of two packages,
 * with names that want to break readers.
 */
#include "unit.h"

#include <jansson.h>

#include "sink/html_template.h"
#include "sink/registry.h"
#include "view/series.h"

#define N_DOMAINS 4
#define N_ROWS 6
#define N_WINDOWS 4
#define S 1000000000ULL
#define HOSTILE "a\",\n\xff<b>&\x1b"

/* package-0, its core, package-1, a battery that charges */
static struct watt_domain domains[N_DOMAINS] = {
	{ .path = "package-0",
	  .kind = WATT_DOMAIN_PACKAGE,
	  .parent = -1,
	  .is_summed = 1,
	  .is_partition = 1 },
	{ .path = "package-0/core", .kind = WATT_DOMAIN_CORES, .parent = 0, .package_id = 0 },
	{ .path = "package-1",
	  .kind = WATT_DOMAIN_PACKAGE,
	  .parent = -1,
	  .package_id = 1,
	  .is_summed = 1,
	  .is_partition = 1 },
	{ .path = "bat0", .kind = WATT_DOMAIN_SUPPLY, .parent = -1, .package_id = -1 },
};
static struct watt_identity who[N_ROWS] = { { .pid = 42, .comm = HOSTILE },
					    { .pid = 43, .comm = "b" },
					    { .pid = 42, .comm = "again" } };
static const struct watt_cgroup cgroup = { .path = "/x", .container = "c1" };
static struct watt_row rows[N_ROWS] = {
	{ .entity = { .id = 10, .kind = WATT_ENTITY_PROCESS, .name = HOSTILE, .cgroup = &cgroup } },
	{ .entity = { .id = 11, .kind = WATT_ENTITY_PROCESS, .name = "b" } },
	{ .entity = { .id = 12, .kind = WATT_ENTITY_PROCESS, .name = "again" } },
	{ .entity = { .id = 13, .kind = WATT_ENTITY_IDLE, .name = "idle" } },
	{ .entity = { .id = 14, .kind = WATT_ENTITY_EXITED, .name = "sh" } },
	{ .entity = { .id = 15, .kind = WATT_ENTITY_CONTAINER, .name = "c1" } },
};
/* window, row, domain; the third process has the pid of the first, later */
static const int64_t used_nj[N_WINDOWS][N_ROWS][N_DOMAINS] = {
	{ { 1000000001, 5, 7, 0 },
	  { 3, 0, 0, 0 },
	  { 0 },
	  { 500, 1, 2, -900 },
	  { 0 },
	  { 1000000001, 5, 7, 0 } },
	{ { 2000, 0, 0, 0 }, { 0 }, { 0 }, { 500, 0, 500, -800 }, { 9, 9, 9, 0 }, { 2000, 0, 0, 0 } },
	{ { 0 }, { 0 }, { 77, 0, 88, 0 }, { 500, 0, 0, -700 }, { 0 }, { 0 } },
	{ { 0 }, { 0 }, { 5, 0, 0, 0 }, { 1, 0, 0, 0 }, { 0 }, { 0 } },
};

struct machine {
	struct watt_recording_info info;
	struct watt_channel channel;
	const struct watt_channel *channels[1];
	const struct watt_domain *domains[N_DOMAINS];
	struct watt_domain_state state[N_DOMAINS];
	const struct watt_domain_state *states[N_DOMAINS];
	const struct watt_row *rows[N_ROWS];
	struct watt_mark mark[2];
	const struct watt_mark *marks[2];
	struct watt_recording_loss loss;
	const struct watt_recording_loss *losses[1];
	struct watt_sink_about about;
};

static void init(struct machine *m)
{
	size_t i;

	*m = (struct machine){ .info = { .writer = "w",
					 .host = HOSTILE,
					 .os = "",
					 .kernel = "6.1",
					 .arch = "x86_64",
					 .cpu = "",
					 .command = "",
					 .usage = "bpf",
					 .start_ns = 100 * S,
					 .end_ns = 104 * S,
					 .start_realtime_ns = 1700000000 * S + 123 },
			       .mark = { { .t_ns = 101 * S, .label = HOSTILE },
					 { .t_ns = 103 * S } },
			       .loss = { .t0_ns = 102 * S, .t1_ns = 103 * S, .why = "disk full" } };
	m->channel = (struct watt_channel){ .name = "ch",
					    .source = "synth",
					    .domain = "package-0",
					    .scale_num = 1,
					    .scale_den = 3 };
	m->channels[0] = &m->channel;
	for (i = 0; i < N_DOMAINS; i++) {
		m->domains[i] = &domains[i];
		m->states[i] = &m->state[i];
	}
	for (i = 0; i < N_ROWS; i++)
		m->rows[i] = &rows[i];
	for (i = 0; i < 3; i++)
		rows[i].entity.identity = &who[i];
	m->marks[0] = &m->mark[0];
	m->marks[1] = &m->mark[1];
	m->losses[0] = &m->loss;
	m->about = (struct watt_sink_about){ .file = "run.watt",
					     .info = &m->info,
					     .channels = m->channels,
					     .n_channels = 1,
					     .domains = m->domains,
					     .n_domains = N_DOMAINS,
					     .marks = m->marks,
					     .n_marks = 2,
					     .losses = m->losses,
					     .n_losses = 1,
					     .from_ns = 100 * S,
					     .to_ns = 104 * S };
}

/* The energy of package-1 is not known in the third window. */
static bool is_missing(size_t window, size_t domain)
{
	return window == 2 && domain == 2;
}

static void make_window(struct machine *m, size_t w, struct watt_sink_window *ret)
{
	size_t i, d;

	for (d = 0; d < N_DOMAINS; d++) {
		m->state[d] = (struct watt_domain_state){ .window_ns = S, .baseline_ready = 1 };
		if (is_missing(w, d))
			m->state[d] = (struct watt_domain_state){ .status = WATT_STATUS_NODATA };
		for (i = 0; i + 1 < N_ROWS && !is_missing(w, d); i++) {
			m->state[d].window_nj += used_nj[w][i][d];
		}
	}
	for (i = 0; i < N_ROWS; i++) {
		rows[i].window_nj = used_nj[w][i];
		rows[i].window_total_nj = used_nj[w][i][0] + used_nj[w][i][2];
	}
	*ret = (struct watt_sink_window){ .view = { .domains = m->domains,
						    .states = m->states,
						    .rows = m->rows,
						    .n_domains = N_DOMAINS,
						    .n_rows = N_ROWS },
					  .index = w,
					  .t0_ns = (100 + w) * S,
					  .t1_ns = (101 + w) * S,
					  .t1_realtime_ns = (1700000001 + w) * S + 123,
					  .phase = w == 1 || w == 2 ? HOSTILE : NULL };
}

/* All of the file, its length in *ret_len; free it. */
static char *exported(const struct watt_sink_ops *ops, const char *what, uint32_t kinds,
		      size_t *ret_len)
{
	struct watt_sink sink = { .ops = ops, .kinds = kinds };
	struct machine m;
	char *text = NULL;
	size_t w;

	init(&m);
	sink.about = &m.about;
	sink.data = calloc(1, ops->data_size);
	sink.out = open_memstream(&text, ret_len);
	if (what)
		assert_int_equal(ops->set(&sink, "what", what), 0);
	assert_int_equal(ops->begin(&sink), 0);
	for (w = 0; w < N_WINDOWS; w++) {
		struct watt_sink_window window;

		make_window(&m, w, &window);
		assert_int_equal(ops->window(&sink, &window), 0);
	}
	if (ops->end)
		assert_int_equal(ops->end(&sink), 0);
	if (ops->done)
		ops->done(&sink);
	free(sink.data);
	fclose(sink.out);
	return text;
}

/* ---- csv ---- */

/* The next field of RFC 4180 text, unquoted in place; its end is '\n', ',' or 0. */
static char *next_field(char **text, char *ret_end)
{
	char *from = *text, *to = *text, *field = *text;
	bool is_quoted = *from == '"';

	if (is_quoted)
		from++;
	for (;;) {
		if (is_quoted && from[0] == '"' && from[1] == '"')
			from++;
		else if (is_quoted && from[0] == '"')
			break;
		else if (!is_quoted && (*from == ',' || *from == '\n' || !*from))
			break;
		assert_true(is_quoted || (*from != '"' && *from != '\r'));
		assert_true(*from);
		*to++ = *from++;
	}
	from += is_quoted;
	*ret_end = *from;
	assert_true(*from == ',' || *from == '\n');
	*to = '\0';
	*text = from + 1;
	return field;
}

#define MAX_FIELDS 32

static size_t next_record(char **text, char **fields)
{
	size_t n = 0;
	char end = ',';

	while (end == ',') {
		assert_true(n < MAX_FIELDS);
		fields[n++] = next_field(text, &end);
	}
	return n;
}

static size_t column(char **names, size_t n, const char *name)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (strcmp(names[i], name) == 0)
			return i;
	fail_msg("no column %s", name);
	return 0;
}

static int64_t sum_of_used(size_t domain)
{
	int64_t sum_nj = 0;
	size_t w, i;

	for (w = 0; w < N_WINDOWS; w++)
		for (i = 0; i + 1 < N_ROWS && !is_missing(w, domain); i++)
			sum_nj += used_nj[w][i][domain];
	return sum_nj;
}

static void test_csv_energy(void **state)
{
	size_t len, n, n_names, missing = 0, hostile = 0, d;
	char *text = exported(&watt_sink_csv, NULL, watt_sink_kinds_in_sum(), &len), *p = text;
	char *names[MAX_FIELDS], *fields[MAX_FIELDS];
	double sum_j[N_DOMAINS] = { 0 };

	n_names = next_record(&p, names);
	while (*p) {
		n = next_record(&p, fields);
		assert_int_equal(n, n_names);
		for (d = 0; strcmp(fields[column(names, n, "domain")], domains[d].path); d++)
			assert_true(d < N_DOMAINS);
		hostile += strstr(fields[column(names, n, "name")], "a\",\n") != NULL;
		assert_string_not_equal(fields[column(names, n, "kind")], "container");
		if (*fields[column(names, n, "energy_j")]) {
			sum_j[d] += strtod(fields[column(names, n, "energy_j")], NULL);
			assert_string_equal(fields[column(names, n, "status")], "ok");
		} else {
			missing++;
			assert_string_equal(fields[column(names, n, "status")], "no data");
			assert_string_equal(fields[column(names, n, "power_w")], "");
		}
	}
	for (d = 0; d < N_DOMAINS; d++)
		assert_true(llabs((long long)(sum_j[d] * 1e9 + (sum_j[d] < 0 ? -0.5 : 0.5)) -
				  sum_of_used(d)) == 0);
	/* package-1 in the third window: of idle, and of a process with numbers that count not. */
	assert_int_equal(missing, 2);
	assert_int_equal(hostile, 4);
	free(text);
}

static void test_csv_domains_and_marks(void **state)
{
	char *names[MAX_FIELDS], *fields[MAX_FIELDS], *text, *p;
	size_t len, n, rows_seen = 0;

	p = text = exported(&watt_sink_csv, "domains", watt_sink_kinds_in_sum(), &len);
	n = next_record(&p, names);
	for (; *p; rows_seen++) {
		assert_int_equal(next_record(&p, fields), n);
		if (rows_seen == 0) {
			assert_string_equal(fields[column(names, n, "from_s")], "0");
			assert_string_equal(fields[column(names, n, "to_s")], "1");
			assert_string_equal(fields[column(names, n, "to_realtime_s")],
					    "1700000001.000000123");
			assert_string_equal(fields[column(names, n, "energy_j")], "1.000000504");
			assert_string_equal(fields[column(names, n, "phase")], "");
		}
	}
	assert_int_equal(rows_seen, N_WINDOWS * N_DOMAINS);
	free(text);
	p = text = exported(&watt_sink_csv, "marks", watt_sink_kinds_in_sum(), &len);
	n = next_record(&p, names);
	assert_int_equal(next_record(&p, fields), n);
	assert_string_equal(fields[column(names, n, "t_s")], "1");
	assert_string_equal(fields[column(names, n, "label")],
			    "a\",\n\xef\xbf\xbd<b>&\xef\xbf\xbd");
	free(text);
}

static void test_csv_samples(void **state)
{
	static const struct watt_sample samples[] = {
		{ .t_before_ns = 100 * S, .t_after_ns = 100 * S + 5, .raw = 3000000000 },
		{ .t_before_ns = 101 * S, .t_after_ns = 101 * S + 5, .raw = 1 },
		{ .t_before_ns = 102 * S, .t_after_ns = 102 * S, .status = WATT_STATUS_NODATA },
	};
	struct watt_sink sink = { .ops = &watt_sink_csv,
				  .data = calloc(1, watt_sink_csv.data_size) };
	struct machine m;
	char *text = NULL;
	size_t len, i;

	init(&m);
	sink.about = &m.about;
	sink.out = open_memstream(&text, &len);
	assert_int_equal(watt_sink_csv.set(&sink, "what", "samples"), 0);
	assert_int_equal(watt_sink_csv.need(&sink), WATT_SINK_SAMPLES);
	assert_int_equal(watt_sink_csv.begin(&sink), 0);
	for (i = 0; i < sizeof(samples) / sizeof(samples[0]); i++)
		assert_int_equal(watt_sink_csv.sample(&sink, &samples[i]), 0);
	free(sink.data);
	fclose(sink.out);
	/* A third of a nJ is no decimal; what failed has no number. */
	assert_string_equal(text,
			    "t_s,t_before_ns,t_after_ns,channel,quantity,semantics,raw,value,"
			    "unit,origin,status\n"
			    "0.000000005,100000000000,100000000005,ch,energy,counter,"
			    "3000000000,1,J,measured,ok\n"
			    "1.000000005,101000000000,101000000005,ch,energy,counter,1,"
			    "3.333333333333333e-10,J,measured,ok\n"
			    "2,102000000000,102000000000,ch,energy,counter,,,,measured,no data"
			    "\n");
	free(text);
}

/* ---- json ---- */

static int64_t sum_of_windows(json_t *windows, size_t domain)
{
	int64_t sum_nj = 0;
	json_t *window, *entity, *value;
	size_t i, j;

	json_array_foreach(windows, i, window)
		json_array_foreach(json_object_get(window, "entities"), j, entity)
	{
		value = json_array_get(json_object_get(entity, "energy_nj"), domain);
		assert_int_equal(json_is_null(value), is_missing(i, domain));
		sum_nj += json_integer_value(value);
	}
	return sum_nj;
}

static void test_json(void **state)
{
	size_t len, d;
	char *text = exported(&watt_sink_json, NULL, watt_sink_kinds_in_sum(), &len);
	json_t *doc = json_loads(text, JSON_REJECT_DUPLICATES, NULL), *windows;

	assert_non_null(doc);
	windows = json_object_get(doc, "windows");
	assert_int_equal(json_array_size(windows), N_WINDOWS);
	for (d = 0; d < N_DOMAINS; d++)
		assert_int_equal(sum_of_windows(windows, d), sum_of_used(d));
	assert_int_equal(json_array_size(json_object_get(doc, "entities")), 5);
	assert_int_equal(json_array_size(json_object_get(doc, "marks")), 2);
	assert_int_equal(json_array_size(json_object_get(doc, "losses")), 1);
	json_decref(doc);
	free(text);
}

static void test_jsonl(void **state)
{
	size_t len, n_windows = 0, n_entities = 0;
	char *text = exported(&watt_sink_jsonl, NULL, watt_sink_kinds_in_sum(), &len), *p = text;
	const char *type = "";

	while (*p) {
		char *end = strchr(p, '\n');
		json_t *obj;

		assert_non_null(end);
		*end = '\0';
		obj = json_loads(p, JSON_REJECT_DUPLICATES, NULL);
		assert_non_null(obj);
		type = json_string_value(json_object_get(obj, "type"));
		assert_non_null(type);
		if (p == text)
			assert_string_equal(type, "recording");
		n_windows += strcmp(type, "window") == 0;
		n_entities += strcmp(type, "entity") == 0;
		p = end + 1;
		if (!*p) {
			assert_string_equal(type, "end");
			assert_int_equal(json_integer_value(json_object_get(obj, "windows")),
					 N_WINDOWS);
		}
		json_decref(obj);
	}
	assert_int_equal(n_windows, N_WINDOWS);
	assert_int_equal(n_entities, 5);
	free(text);
}

/* ---- emon ---- */

static void test_emon(void **state)
{
	size_t len, i, j, k;
	char *text = exported(&watt_sink_emon, NULL, watt_sink_kinds_in_sum(), &len);
	json_t *doc = json_loads(text, JSON_REJECT_DUPLICATES, NULL), *cpu, *pid, *usage;

	assert_non_null(doc);
	assert_int_equal(strncmp(text, "{\n    \"cpus\": [\n        {\n            \"id\": 0,", 46),
			 0);
	assert_int_equal(json_array_size(json_object_get(doc, "cpus")), 2);
	json_array_foreach(json_object_get(doc, "cpus"), i, cpu)
	{
		double sum_uj = 0;
		size_t n_idle = 0;

		assert_int_equal(json_integer_value(json_object_get(cpu, "id")), i);
		json_array_foreach(json_object_get(cpu, "pid_usage"), j, pid)
		{
			json_int_t number = json_integer_value(json_object_get(pid, "pid"));

			n_idle += number == 0;
			assert_true(number == 0 || number == 42 || number == 43 ||
				    number > 4194304);
			json_array_foreach(json_object_get(pid, "usage"), k, usage)
			{
				json_int_t time_us =
					json_integer_value(json_object_get(usage, "time"));

				assert_true(time_us >= 1700000001000000 &&
					    time_us <= 1700000004000000);
				sum_uj += json_number_value(json_object_get(usage, "usage"));
			}
		}
		assert_int_equal(n_idle, 1);
		/* floats have 24 bits */
		assert_true(sum_uj * 1e3 > (double)sum_of_used(2 * i) * (1 - 1e-7) &&
			    sum_uj * 1e3 < (double)sum_of_used(2 * i) * (1 + 1e-7));
	}
	json_decref(doc);
	free(text);
}

static void test_emon_needs_a_package(void **state)
{
	struct watt_sink sink = { .ops = &watt_sink_emon,
				  .data = calloc(1, watt_sink_emon.data_size) };
	struct machine m;

	init(&m);
	sink.about = &m.about;
	m.domains[0] = &domains[3];
	m.about.n_domains = 1;
	assert_int_equal(watt_sink_emon.begin(&sink), -ENODATA);
	watt_sink_emon.done(&sink);
	free(sink.data);
}

/* ---- perfetto ---- */

struct wire {
	const unsigned char *p, *end;
};

static uint64_t varint(struct wire *wire)
{
	uint64_t value = 0;
	unsigned int shift = 0;

	for (;; shift += 7) {
		assert_true(wire->p < wire->end && shift < 64);
		value |= (uint64_t)(*wire->p & 0x7f) << shift;
		if (!(*wire->p++ & 0x80))
			return value;
	}
}

/* The next field: its number; of bytes, *ret_inner; else *ret_value. 0: the end. */
static unsigned int next_member(struct wire *wire, uint64_t *ret_value, struct wire *ret_inner)
{
	uint64_t key, len;

	if (wire->p == wire->end)
		return 0;
	key = varint(wire);
	if ((key & 7) == 0) {
		*ret_value = varint(wire);
	} else if ((key & 7) == 1) {
		assert_true(wire->end - wire->p >= 8);
		memcpy(ret_value, wire->p, 8);
		wire->p += 8;
	} else {
		assert_int_equal(key & 7, 2);
		len = varint(wire);
		assert_true((uint64_t)(wire->end - wire->p) >= len);
		*ret_inner = (struct wire){ wire->p, wire->p + len };
		wire->p += len;
	}
	return (unsigned int)(key >> 3);
}

struct perfetto_count {
	size_t packets, tracks, counters, begins, ends, clocks;
	uint64_t known[64]; /* uuids of tracks told before */
	double sum_w;
};

static void read_event(struct perfetto_count *count, struct wire event)
{
	uint64_t value = 0, type = 0, uuid = 0;
	struct wire inner;
	unsigned int field;
	double power_w = 0;
	size_t i;

	while ((field = next_member(&event, &value, &inner))) {
		if (field == 9)
			type = value;
		else if (field == 11)
			uuid = value;
		else if (field == 44)
			memcpy(&power_w, &value, sizeof(power_w));
	}
	for (i = 0; i < count->tracks && count->known[i] != uuid; i++)
		continue;
	assert_true(i < count->tracks);
	count->begins += type == 1;
	count->ends += type == 2;
	count->counters += type == 4;
}

static void read_track(struct perfetto_count *count, struct wire track)
{
	uint64_t value = 0;
	struct wire inner;
	unsigned int field;

	while ((field = next_member(&track, &value, &inner)))
		if (field == 1)
			count->known[count->tracks++] = value;
	assert_true(count->tracks < 64);
}

static void test_perfetto(void **state)
{
	size_t len;
	char *text = exported(&watt_sink_perfetto, NULL, watt_sink_kinds_in_sum(), &len);
	struct wire trace = { (unsigned char *)text, (unsigned char *)text + len }, packet, inner;
	struct perfetto_count count = { 0 };
	uint64_t value = 0;
	unsigned int field;

	while ((field = next_member(&trace, &value, &packet))) {
		uint64_t sequence = 0;

		assert_int_equal(field, 1);
		count.packets++;
		while ((field = next_member(&packet, &value, &inner))) {
			if (field == 10)
				sequence = value;
			else if (field == 11)
				read_event(&count, inner);
			else if (field == 60)
				read_track(&count, inner);
			else if (field == 6)
				count.clocks++;
		}
		assert_int_equal(sequence, 1);
	}
	assert_int_equal(count.clocks, 1);
	/* a phase, a loss, a domain without data */
	assert_int_equal(count.begins, 3);
	assert_int_equal(count.ends, 3);
	/* phases, losses, 2 groups, 4 domains, no data and its domain, 2 processes, 5 entities */
	assert_int_equal(count.tracks, 17);
	assert_true(count.counters > N_DOMAINS);
	free(text);
}

/* ---- of all windows at once ---- */

/* As a session has it: idle energy is the domains', and nobody used what is not known. */
static void settle(struct machine *m, size_t w, int64_t (*ret_nj)[N_DOMAINS])
{
	size_t i, d;

	for (i = 0; i < N_ROWS; i++) {
		for (d = 0; d < N_DOMAINS; d++)
			ret_nj[i][d] = is_missing(w, d) ? 0 : used_nj[w][i][d];
		rows[i].window_nj = ret_nj[i];
		rows[i].window_total_nj = ret_nj[i][0] + ret_nj[i][2];
	}
	for (d = 0; d < N_DOMAINS; d++)
		m->state[d].window_idle_nj = ret_nj[3][d];
}

static struct watt_series *make_series(struct machine *m)
{
	int64_t settled_nj[N_ROWS][N_DOMAINS];
	struct watt_series *series;
	size_t w;

	assert_int_equal(watt_series_new(0, &series), 0);
	series->info.window_ns = S;
	for (w = 0; w < N_WINDOWS; w++) {
		struct watt_sink_window window;

		make_window(m, w, &window);
		settle(m, w, settled_nj);
		assert_int_equal(watt_series_add(series, &window.view, window.t0_ns, window.t1_ns,
						 w < 1 ? WATT_NO_MARK :
						 w < 3 ? 0 :
							 1),
				 0);
	}
	assert_int_equal(watt_series_finish(series), 0);
	return series;
}

/* What a sink of series writes of the machine, and of the machine compared with itself. */
static char *reported(const struct watt_sink_ops *ops, const char *option, const char *value,
		      bool is_compared)
{
	struct watt_sink sink = { .ops = ops };
	struct machine m;
	struct watt_sink_series told = { .about = &m.about };
	struct watt_series *series;
	struct watt_phases *phases;
	char *text = NULL;
	size_t len;

	init(&m);
	series = make_series(&m);
	assert_int_equal(watt_phases_find(series, m.mark, 2, &phases), 0);
	told.series = series;
	told.phases = phases;
	sink.about = &m.about;
	sink.data = calloc(1, ops->data_size);
	sink.out = open_memstream(&text, &len);
	if (option)
		assert_int_equal(ops->set(&sink, option, value), 0);
	assert_int_equal(ops->series(&sink, &told, is_compared ? &told : NULL), 0);
	fclose(sink.out);
	free(sink.data);
	watt_phases_free(phases);
	watt_series_free(series);
	return text;
}

static int64_t sum_of_entities(json_t *doc)
{
	json_t *entity;
	int64_t sum_nj = 0;
	size_t i;

	json_array_foreach(json_object_get(doc, "entities"), i, entity)
		sum_nj += json_integer_value(json_object_get(entity, "energy_nj"));
	return sum_nj;
}

static void test_report(void **state)
{
	static const char *const groups[] = { "process", "name", "container", "user" };
	size_t i;

	for (i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		char *text = reported(&watt_sink_report, "group", groups[i], i % 2);
		json_t *doc = json_loads(text, JSON_REJECT_DUPLICATES, NULL), *total;
		double energy_j;

		assert_non_null(doc);
		assert_string_equal(json_string_value(json_object_get(doc, "group")), groups[i]);
		total = json_object_get(doc, "total");
		assert_int_equal(json_integer_value(json_object_get(total, "energy_nj")),
				 sum_of_used(0) + sum_of_used(2));
		assert_int_equal(sum_of_entities(doc), sum_of_used(0) + sum_of_used(2));
		energy_j = json_number_value(json_object_get(total, "energy_j"));
		assert_true((int64_t)(energy_j * 1e9 + 0.5) == sum_of_used(0) + sum_of_used(2));
		assert_int_equal(json_array_size(json_object_get(doc, "domains")), N_DOMAINS);
		assert_int_equal(
			json_array_size(json_object_get(json_object_get(doc, "losses"), "list")),
			1);
		assert_int_equal(json_is_object(json_object_get(doc, "comparison")), i % 2);
		json_decref(doc);
		free(text);
	}
}

/* Nothing that a name says can end the script that the data are in. */
static void test_html(void **state)
{
	const char *from, *p;
	char *text, *data;
	json_t *doc;

	if (watt_html_template_size == 0)
		skip();
	text = reported(&watt_sink_html, NULL, NULL, true);
	from = text + watt_html_template_hole;
	data = strndup(from, strcspn(from, "<"));
	for (p = data; *p; p++)
		assert_true(*p != '>' && *p != '&');
	doc = json_loads(data, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(doc);
	assert_int_equal(sum_of_entities(json_object_get(doc, "report")),
			 sum_of_used(0) + sum_of_used(2));
	assert_int_equal(json_array_size(json_object_get(json_object_get(doc, "series"), "t")),
			 N_WINDOWS);
	assert_true(json_is_object(json_object_get(doc, "other")));
	json_decref(doc);
	free(data);
	free(text);
}

static void test_group_is_known(void **state)
{
	struct watt_sink sink = { .data = calloc(1, watt_sink_report.data_size) };

	assert_int_equal(watt_sink_report.set(&sink, "group", "colour"), -EINVAL);
	assert_int_equal(watt_sink_html.set(&sink, "group", ""), -EINVAL);
	free(sink.data);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_csv_energy),
		cmocka_unit_test(test_csv_domains_and_marks),
		cmocka_unit_test(test_csv_samples),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_jsonl),
		cmocka_unit_test(test_emon),
		cmocka_unit_test(test_emon_needs_a_package),
		cmocka_unit_test(test_perfetto),
		cmocka_unit_test(test_report),
		cmocka_unit_test(test_html),
		cmocka_unit_test(test_group_is_known),
	};

	return cmocka_run_group_tests_name("sinks", tests, NULL, NULL);
}

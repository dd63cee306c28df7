/* SPDX-License-Identifier: Apache-2.0 */
/* lib/sink/csv.c, json.c, perfetto.c, emon.c: the sinks of windows, on a made-up machine. */
#include "unit.h"

#include <jansson.h>

#include "sink/registry.h"
#include "told.h"

/* All of the file, its length in *ret_len; free it. At the beginning only n_first domains are there. */
static char *exported_from(const struct watt_sink_ops *ops, const char *what, uint32_t kinds,
			   size_t n_first, size_t *ret_len)
{
	struct watt_sink sink = { .ops = ops, .kinds = kinds };
	struct machine m;
	char *text = NULL;
	size_t w;

	init(&m);
	m.about.n_domains = n_first;
	if (n_first < N_DOMAINS)
		m.about.file = NULL; /* live */
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

static char *exported(const struct watt_sink_ops *ops, const char *what, uint32_t kinds,
		      size_t *ret_len)
{
	return exported_from(ops, what, kinds, N_DOMAINS, ret_len);
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
			assert_string_equal(fields[column(names, n, "uncertainty_j")],
					    d == 0 ? "0.25" :
					    d == 1 ? "0.5" :
						     "");
		} else {
			missing++;
			assert_string_equal(fields[column(names, n, "status")], "no data");
			assert_string_equal(fields[column(names, n, "uncertainty_j")], "");
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
	json_t *doc = json_loads(text, JSON_REJECT_DUPLICATES, NULL), *windows, *list;

	assert_non_null(doc);
	windows = json_object_get(doc, "windows");
	assert_int_equal(json_array_size(windows), N_WINDOWS);
	for (d = 0; d < N_DOMAINS; d++)
		assert_int_equal(sum_of_windows(windows, d), sum_of_used(d));
	list = json_object_get(json_array_get(windows, 0), "entities");
	list = json_object_get(json_array_get(list, 0), "uncertainty_j");
	assert_int_equal(json_array_size(list), N_DOMAINS);
	assert_true(json_real_value(json_array_get(list, 1)) == uncertainty_j[1]);
	assert_true(json_is_null(json_array_get(list, N_DOMAINS - 1)));
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

static void check_emon(size_t n_first)
{
	size_t len, i, j, k;
	char *text = exported_from(&watt_sink_emon, NULL, watt_sink_kinds_in_sum(), n_first, &len);
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

static void test_emon(void **state)
{
	check_emon(N_DOMAINS);
}

/* Packages that come while it is written live; at first there may be none. */
static void test_emon_grows(void **state)
{
	check_emon(2);
	check_emon(0);
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

/* ---- nvmt ---- */

static uint64_t u64_at(const char *text, size_t offset)
{
	uint64_t value;

	memcpy(&value, text + offset, sizeof(value));
	return value;
}

static uint32_t u32_at(const char *text, size_t offset)
{
	return (uint32_t)u64_at(text, offset);
}

static float float_at(const char *text, size_t offset)
{
	float value;

	memcpy(&value, text + offset, sizeof(value));
	return value;
}

static double double_at(const char *text, size_t offset)
{
	double value;

	memcpy(&value, text + offset, sizeof(value));
	return value;
}

/* Counts of sections, all offsets and sizes as numbers: the layout is not ours. */
static void test_nvmt(void **state)
{
	static const char *const labels[] = { "package-0", "package-1", "package-0/core", "bat0" };
	size_t len, i, w;
	char *text = exported(&watt_sink_nvmt, NULL, watt_sink_kinds_in_sum(), &len);
	const char *medium = text + 728 + 98 * N_WINDOWS, *sync = medium + 104 * N_WINDOWS;

	assert_int_equal(len, 728 + (98 + 104) * N_WINDOWS + 2 * 16);
	assert_memory_equal(text, "\x54\x4d\x56\x4e\1\0\0\0", 8);
	assert_memory_equal(text + 40, "\1\4\0\0", 4);
	for (i = 0; i < 3; i++)
		assert_int_equal(u32_at(text, 44 + 4 * i), 1);
	assert_int_equal(u64_at(text, 56), N_WINDOWS);
	assert_int_equal(u64_at(text, 64), N_WINDOWS);
	assert_int_equal(u64_at(text, 72), 0);
	assert_int_equal(u64_at(text, 80), 2);
	for (i = 0; i < 4; i++)
		assert_string_equal(text + 88 + 24 * i, labels[i]);
	for (w = 0; w < N_WINDOWS; w++) {
		int64_t used = 0;

		for (i = 0; i + 1 < N_ROWS; i++)
			used += used_nj[w][i][0];
		assert_true(double_at(text, 728 + 98 * w) == (double)(w + 1));
		assert_true(float_at(text, 728 + 98 * w + 94) == -1);
		assert_true(double_at(medium, 104 * w) == (double)(w + 1));
		assert_true(float_at(medium, 104 * w + 72) == (float)((double)used / 1e6));
	}
	/* marks at 1 s and 3 s: behind the first and the third window */
	for (i = 0; i < 2; i++) {
		assert_int_equal(u64_at(sync, 16 * i), i + 1);
		assert_int_equal(u64_at(sync, 16 * i + 8), 1 + 2 * i);
	}
	free(text);
}

static void count_words(void *data, enum watt_log_level level, const char *text)
{
	*(unsigned int *)data += strstr(text, "8 rails: 3 of 11 domains") != NULL;
}

static void test_nvmt_says_what_has_no_room(void **state)
{
	const struct watt_domain *many[11];
	unsigned int told = 0;
	struct watt_sink sink = { .ops = &watt_sink_nvmt,
				  .log = { count_words, &told },
				  .data = calloc(1, watt_sink_nvmt.data_size) };
	struct machine m;
	size_t i;

	init(&m);
	for (i = 0; i < 11; i++)
		many[i] = &domains[i % N_DOMAINS];
	m.about.domains = many;
	m.about.n_domains = 11;
	sink.about = &m.about;
	assert_int_equal(watt_sink_nvmt.begin(&sink), 0);
	assert_int_equal(told, 1);
	watt_sink_nvmt.done(&sink);
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

static void check_perfetto(size_t n_first)
{
	size_t len;
	char *text =
		exported_from(&watt_sink_perfetto, NULL, watt_sink_kinds_in_sum(), n_first, &len);
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

static void test_perfetto(void **state)
{
	check_perfetto(N_DOMAINS);
}

/* Domains that come have tracks from then on, told before the first event on them. */
static void test_perfetto_grows(void **state)
{
	check_perfetto(1);
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
		cmocka_unit_test(test_emon_grows),
		cmocka_unit_test(test_emon_needs_a_package),
		cmocka_unit_test(test_perfetto),
		cmocka_unit_test(test_perfetto_grows),
		cmocka_unit_test(test_nvmt),
		cmocka_unit_test(test_nvmt_says_what_has_no_room),
	};

	return cmocka_run_group_tests_name("sinks", tests, NULL, NULL);
}

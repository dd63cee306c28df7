/* SPDX-License-Identifier: Apache-2.0 */
/* lib/record/nvmt.c: traces that are made here, by offsets of their own. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/util.h"
#include "record/nvmt_writer.h"
#include "record/record.h"

#define HEADER 728
#define FAST 98
#define MEDIUM 104
#define SLOW 72
#define SYNC 16

struct trace {
	uint8_t bytes[HEADER + 40 * FAST + 40 * MEDIUM + 4 * SLOW + 4 * SYNC];
	size_t size;
};

static void put(struct trace *trace, size_t at, const void *value, size_t n)
{
	assert_true(at + n <= sizeof(trace->bytes));
	memcpy(trace->bytes + at, value, n);
}

static void put_count(struct trace *trace, unsigned int section, uint64_t n)
{
	put(trace, 56 + 8 * section, &n, 8);
}

static void begin(struct trace *trace, uint8_t cores, const char *const *rails)
{
	uint32_t magic = 0x4e564d54, version = 1, hz[3] = { 100, 100, 10 };
	uint8_t n;

	*trace = (struct trace){ .size = HEADER };
	put(trace, 0, &magic, 4);
	put(trace, 4, &version, 4);
	put(trace, 8, "agx_orin", 8);
	put(trace, 40, &cores, 1);
	put(trace, 44, hz, 12);
	for (n = 0; rails[n]; n++)
		put(trace, 88 + 24 * n, rails[n], strlen(rails[n]));
	put(trace, 41, &n, 1);
}

static void add_fast(struct trace *trace, double time_s, float first, float second)
{
	put(trace, trace->size, &time_s, 8);
	put(trace, trace->size + 10, &first, 4);
	put(trace, trace->size + 14, &second, 4);
	trace->size += FAST;
}

/* The same power in all 8 rails; of 0, their voltage too if it is_read. */
static void add_medium(struct trace *trace, double time_s, float power_mw, bool is_read)
{
	uint32_t voltage_mv = is_read ? 5000 : 0, i;

	put(trace, trace->size, &time_s, 8);
	for (i = 0; i < 8; i++) {
		put(trace, trace->size + 8 + 4 * i, &voltage_mv, 4);
		put(trace, trace->size + 72 + 4 * i, &power_mw, 4);
	}
	trace->size += MEDIUM;
}

static void add_sync(struct trace *trace, uint64_t id, uint64_t index)
{
	put(trace, trace->size, &id, 8);
	put(trace, trace->size + 8, &index, 8);
	trace->size += SYNC;
}

struct heard {
	char text[256];
	unsigned int n;
};

static void hear(void *data, enum watt_log_level level, const char *text)
{
	struct heard *heard = data;

	snprintf(heard->text, sizeof(heard->text), "%s", text);
	heard->n++;
}

static int open_trace(const struct trace *trace, struct heard *heard, struct watt_recording **ret)
{
	char path[] = "/tmp/watt-nvmt-XXXXXX";
	int fd = mkstemp(path), r;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, trace->bytes, trace->size), trace->size);
	close(fd);
	*heard = (struct heard){ 0 };
	r = watt_recording_open(path, hear, heard, ret);
	unlink(path);
	return r;
}

static void refused(const struct trace *trace, int error, const char *why)
{
	struct watt_recording *rec = NULL;
	struct heard heard;

	assert_int_equal(open_trace(trace, &heard, &rec), error);
	assert_null(rec);
	assert_int_equal(heard.n, 1);
	if (!strstr(heard.text, why))
		fail_msg("'%s' does not say '%s'", heard.text, why);
}

static const char *const orin[] = { "VDD_GPU_SOC", "VDD_CPU_CV", "VIN_SYS_5V0", "VDDQ_VDD2_1V8AO",
				    NULL };
static const char *const odd[] = { "VDD_GPU_SOC", "My rail", "", NULL };

/* Two cores, one busy, for 200 ms; a mark in the middle. */
static void make(struct trace *trace, const char *const *rails)
{
	unsigned int i;

	begin(trace, 2, rails);
	for (i = 0; i < 20; i++)
		add_fast(trace, i / 100.0, 100, 25);
	for (i = 0; i < 20; i++)
		add_medium(trace, i / 100.0, 1234.567f, true);
	add_sync(trace, 7, 10);
	add_sync(trace, 8, 20); /* a sample that is not there */
	put_count(trace, 0, 20);
	put_count(trace, 1, 20);
	put_count(trace, 3, 2);
}

static void test_channels(void **state)
{
	static const char *const paths[] = { "vdd_gpu_soc", "vdd_cpu_cv", "vin_sys_5v0",
					     "vin_sys_5v0/vddq_vdd2_1v8ao" };
	struct watt_recording *rec;
	struct heard heard;
	struct trace trace;
	size_t i;

	make(&trace, orin);
	assert_int_equal(open_trace(&trace, &heard, &rec), 0);
	assert_int_equal(watt_recording_get_channel_count(rec), 4);
	for (i = 0; i < 4; i++) {
		const struct watt_channel *channel = watt_recording_get_channel(rec, i);

		assert_string_equal(channel->domain, paths[i]);
		assert_string_equal(channel->label, orin[i]);
		assert_int_equal(channel->flags, 0);
		assert_int_equal(channel->period_ns, 10000000);
	}
	assert_string_equal(watt_recording_get_info(rec)->host, "agx_orin");
	assert_int_equal(watt_recording_get_info(rec)->n_cpus, 2);
	assert_int_equal(watt_recording_get_info(rec)->is_complete, 1);
	watt_recording_close(rec);
	/* nobody knows what contains what: nothing is added */
	make(&trace, odd);
	assert_int_equal(open_trace(&trace, &heard, &rec), 0);
	for (i = 0; i < 3; i++)
		assert_int_equal(watt_recording_get_channel(rec, i)->flags,
				 WATT_CHANNEL_OVERLAP_UNKNOWN);
	assert_string_equal(watt_recording_get_channel(rec, 1)->domain, "nvmt:my_rail");
	assert_string_equal(watt_recording_get_channel(rec, 2)->domain, "nvmt:rail-2");
	watt_recording_close(rec);
}

/* Whatever the caller's array holds. */
static void check_samples(struct watt_recording *rec, size_t size, size_t expected)
{
	struct watt_sample samples[256];
	size_t n = 0;
	int r;

	while ((r = watt_recording_read_samples(rec, samples, size)) > 0) {
		int i;

		for (i = 0; i < r; i++, n++) {
			assert_int_equal(samples[i].channel, n % 4);
			assert_int_equal(samples[i].raw, 1234567);
			assert_int_equal(samples[i].status, WATT_STATUS_OK);
		}
	}
	assert_int_equal(r, 0);
	assert_int_equal(n, expected);
}

static void test_samples(void **state)
{
	struct watt_recording *rec;
	struct heard heard;
	struct trace trace;
	uint64_t start_ns;

	make(&trace, orin);
	assert_int_equal(open_trace(&trace, &heard, &rec), 0);
	start_ns = watt_recording_get_info(rec)->start_ns;
	check_samples(rec, 1, 80);
	assert_int_equal(watt_recording_seek(rec, 0), 0);
	check_samples(rec, 256, 80);
	assert_int_equal(watt_recording_seek(rec, start_ns + 100000000), 0);
	check_samples(rec, 3, 40);
	watt_recording_close(rec);
}

/* Sums what the ops tell; they must be in the order of time. */
struct told {
	size_t samples, marks, sweeps;
	uint64_t newest_ns, busy_ns, idle_ns, unseen_ns;
};

static void note(struct told *told, const struct watt_op *op)
{
	size_t i;

	switch (op->kind) {
	case WATT_OP_SAMPLES:
		for (i = 0; i < op->samples.n; i++)
			assert_true(op->samples.list[i].t_after_ns > told->newest_ns);
		told->samples += op->samples.n;
		break;
	case WATT_OP_MARK:
		assert_true(op->mark.t_ns > told->newest_ns);
		assert_string_equal(op->mark.label, "sync 7");
		told->marks++;
		break;
	case WATT_OP_USAGE:
		told->sweeps++;
		told->busy_ns = op->usage.cpus[0].user_ns + op->usage.cpus[1].user_ns;
		told->idle_ns = op->usage.cpus[0].idle_ns + op->usage.cpus[1].idle_ns;
		told->unseen_ns = op->usage.unseen_ns;
		break;
	case WATT_OP_ADVANCE:
		assert_true(op->advance_ns > told->newest_ns);
		told->newest_ns = op->advance_ns;
		break;
	default:
		fail_msg("op %d", op->kind);
	}
}

static struct told tell_all(const struct trace *trace)
{
	struct told told = { 0 };
	struct watt_recording *rec;
	struct heard heard;
	struct watt_op op;
	int r;

	assert_int_equal(open_trace(trace, &heard, &rec), 0);
	while ((r = watt_recording_next_op(rec, &op)) == 0)
		note(&told, &op);
	assert_int_equal(r, 1);
	assert_int_equal(watt_recording_next_op(rec, &op), 1);
	watt_recording_close(rec);
	return told;
}

static void test_ops(void **state)
{
	struct trace trace;
	struct told told;

	make(&trace, orin);
	told = tell_all(&trace);
	assert_int_equal(told.samples, 80);
	assert_int_equal(told.marks, 1);
	/* 19 times 10 ms, of one core all and of the other one a quarter */
	assert_int_equal(told.busy_ns, 237500000);
	assert_int_equal(told.busy_ns + told.idle_ns, 380000000);
	assert_int_equal(told.unseen_ns, told.busy_ns);
	assert_true(told.sweeps >= 4 && told.sweeps <= 6);
}

static void test_missing_is_no_zero(void **state)
{
	static const enum watt_status expected[] = { WATT_STATUS_OK, WATT_STATUS_NODATA,
						     WATT_STATUS_BROKEN };
	struct watt_sample samples[12];
	struct watt_recording *rec;
	struct heard heard;
	struct trace trace;
	size_t i;

	begin(&trace, 1, orin);
	add_medium(&trace, 0.01, 0, true);
	add_medium(&trace, 0.02, 0, false);
	add_medium(&trace, 0.03, NAN, true);
	put_count(&trace, 1, 3);
	assert_int_equal(open_trace(&trace, &heard, &rec), 0);
	assert_int_equal(watt_recording_read_samples(rec, samples, 12), 12);
	for (i = 0; i < 12; i++) {
		assert_int_equal(samples[i].status, expected[i / 4]);
		assert_int_equal(samples[i].raw, 0);
	}
	watt_recording_close(rec);
}

/* Times that go back, or are none, are passed over; a long gap costs no empty slices. */
static void test_odd_times(void **state)
{
	static const double times_s[] = { 0.01, -1, NAN, 0.005, 5e8, 1e300, 5e8 + 1 };
	struct trace trace;
	struct told told;
	size_t i;

	begin(&trace, 1, orin);
	for (i = 0; i < WATT_ARRAY_SIZE(times_s); i++)
		add_medium(&trace, times_s[i], 1, true);
	put_count(&trace, 1, WATT_ARRAY_SIZE(times_s));
	told = tell_all(&trace);
	assert_int_equal(told.samples, 3 * 4);
	assert_true(told.sweeps < 10);
}

/* Samples that have no rails stop nothing: the end is far away, and reached in a few steps. */
static void test_no_rails(void **state)
{
	static const char *const none[] = { NULL };
	struct trace trace;
	struct told told;

	begin(&trace, 1, none);
	add_fast(&trace, 0, 50, 0);
	add_fast(&trace, 8e8, 50, 0);
	add_medium(&trace, 0, 1, true);
	put_count(&trace, 0, 2);
	put_count(&trace, 1, 1);
	told = tell_all(&trace);
	assert_int_equal(told.samples, 0);
	assert_true(told.sweeps < 10);
}

static void test_cut_short(void **state)
{
	struct watt_recording *rec;
	struct heard heard;
	struct trace trace;

	make(&trace, orin);
	trace.size -= 2 * SYNC + 10 * MEDIUM + 1;
	assert_int_equal(open_trace(&trace, &heard, &rec), 0);
	assert_int_equal(watt_recording_get_info(rec)->is_complete, 0);
	assert_int_equal(watt_recording_get_info(rec)->samples, 9 * 4);
	check_samples(rec, 256, 9 * 4);
	watt_recording_close(rec);
}

static void test_refused(void **state)
{
	uint32_t version = 2;
	uint8_t cores = 17, rails = 9;
	struct trace trace;

	make(&trace, orin);
	put(&trace, 4, &version, 4);
	refused(&trace, -EPROTONOSUPPORT, "version 2");
	make(&trace, orin);
	put(&trace, 40, &cores, 1);
	refused(&trace, -EBADMSG, "1 to 16 cores");
	make(&trace, orin);
	put(&trace, 41, &rails, 1);
	refused(&trace, -EBADMSG, "more than 8 rails");
	make(&trace, orin);
	trace.size = HEADER - 1;
	refused(&trace, -EBADMSG, "shorter than its header");
	trace.size = HEADER;
	refused(&trace, -EBADMSG, "no samples");
	trace.size = 3;
	refused(&trace, -EMEDIUMTYPE, "is no recording");
}

static void add_context(struct trace *trace, double time_s, uint16_t load, uint64_t memory_kb,
			float emc, float core)
{
	uint64_t used_kb = memory_kb / 2;
	size_t at = trace->size;

	add_fast(trace, time_s, core, 0);
	put(trace, at + 8, &load, 2);
	put(trace, at + 78, &used_kb, 8);
	put(trace, at + 86, &memory_kb, 8);
	put(trace, at + 94, &emc, 4);
}

static void add_slow(struct trace *trace, double time_s, float first, float second)
{
	put(trace, trace->size, &time_s, 8);
	put(trace, trace->size + 8, &first, 4);
	put(trace, trace->size + 12, &second, 4);
	trace->size += SLOW;
}

static void make_context(struct trace *trace, uint8_t has_emc)
{
	static const char *const none[] = { NULL };
	uint8_t n_zones = 2;

	begin(trace, 1, none);
	add_context(trace, 0.01, 523, 28764180, 19.97f, 37.5f);
	add_context(trace, 0.02, 1001, UINT64_MAX, -1, -1);
	add_context(trace, 0.03, 1000, 1024, NAN, 100);
	add_slow(trace, 0.01, 48.218f, 0);
	add_slow(trace, 0.03, -4.5f, NAN);
	put(trace, 42, &n_zones, 1);
	put(trace, 43, &has_emc, 1);
	put(trace, 280, "cpu-thermal", 11);
	put(trace, 304, "cpu-thermal", 11);
	put_count(trace, 0, 3);
	put_count(trace, 2, 2);
}

/* What can't be has no value, what was not read neither. */
static void test_context(void **state)
{
	static const struct {
		uint32_t channel;
		int64_t raw;
		enum watt_status status;
	} expected[] = {
		{ 0, 523, WATT_STATUS_OK },      { 1, 14382090, WATT_STATUS_OK },
		{ 2, 28764180, WATT_STATUS_OK }, { 3, 199700, WATT_STATUS_OK },
		{ 4, 375000, WATT_STATUS_OK },   { 0, 0, WATT_STATUS_BROKEN },
		{ 1, 0, WATT_STATUS_BROKEN },    { 2, 0, WATT_STATUS_BROKEN },
		{ 3, 0, WATT_STATUS_NODATA },    { 4, 0, WATT_STATUS_BROKEN },
		{ 0, 1000, WATT_STATUS_OK },     { 1, 512, WATT_STATUS_OK },
		{ 2, 1024, WATT_STATUS_OK },     { 3, 0, WATT_STATUS_BROKEN },
		{ 4, 1000000, WATT_STATUS_OK },  { 5, 48218, WATT_STATUS_OK },
		{ 6, 0, WATT_STATUS_NODATA },    { 5, -4500, WATT_STATUS_OK },
		{ 6, 0, WATT_STATUS_BROKEN },
	};
	static const char *const names[] = { "nvmt/gpu/load",
					     "nvmt/memory/used",
					     "nvmt/memory/available",
					     "nvmt/memory/emc",
					     "nvmt/cpu0/busy",
					     "nvmt/0-cpu_thermal/temperature",
					     "nvmt/1-cpu_thermal/temperature" };
	struct watt_sample samples[32];
	struct watt_recording *rec;
	struct trace trace;
	struct heard heard;
	size_t i;

	make_context(&trace, 1);
	assert_int_equal(open_trace(&trace, &heard, &rec), 0);
	assert_int_equal(watt_recording_get_channel_count(rec), 7);
	for (i = 0; i < 7; i++)
		assert_string_equal(watt_recording_get_channel(rec, i)->name, names[i]);
	assert_int_equal(watt_recording_read_samples(rec, samples, 32), WATT_ARRAY_SIZE(expected));
	for (i = 0; i < WATT_ARRAY_SIZE(expected); i++) {
		assert_int_equal(samples[i].channel, expected[i].channel);
		assert_int_equal(samples[i].status, expected[i].status);
		assert_int_equal(samples[i].raw, expected[i].raw);
	}
	watt_recording_close(rec);
	make_context(&trace, 0);
	assert_int_equal(open_trace(&trace, &heard, &rec), 0);
	assert_int_equal(watt_recording_get_channel_count(rec), 6);
	assert_string_equal(watt_recording_get_channel(rec, 3)->name, names[4]);
	watt_recording_close(rec);
}

/* The same samples as they came, behind a byte each; what is cut or strange ends it. */
static void to_journal(const struct trace *trace, struct trace *ret)
{
	static const size_t sizes[] = { FAST, MEDIUM, SLOW, SYNC };
	uint64_t zeros[4] = { 0 };
	size_t at = HEADER, section, i;

	*ret = (struct trace){ .size = HEADER };
	memcpy(ret->bytes, trace->bytes, HEADER);
	put(ret, 56, zeros, sizeof(zeros));
	put(ret, HEADER - 64, "journal", 8);
	for (section = 0; section < 4; section++) {
		uint64_t n;

		memcpy(&n, trace->bytes + 56 + 8 * section, sizeof(n));
		for (i = 0; i < n; i++, at += sizes[section]) {
			uint8_t byte = (uint8_t)section;

			put(ret, ret->size, &byte, 1);
			put(ret, ret->size + 1, trace->bytes + at, sizes[section]);
			ret->size += 1 + sizes[section];
		}
	}
}

static void test_journal(void **state)
{
	struct trace trace, journal;
	struct watt_recording *rec;
	struct heard heard;
	uint8_t again[sizeof(trace.bytes)];
	char path[] = "/tmp/watt-nvmt-XXXXXX";
	int fd = mkstemp(path);

	make(&trace, orin);
	to_journal(&trace, &journal);
	assert_int_equal(open_trace(&journal, &heard, &rec), 0);
	assert_int_equal(watt_recording_get_info(rec)->is_complete, 0);
	check_samples(rec, 256, 80);
	/* finished, it is the trace; also its rates are */
	assert_int_equal(watt_recording_write_trace(rec, fd), 0);
	assert_int_equal(pread(fd, again, sizeof(again), 0), trace.size);
	assert_memory_equal(again, trace.bytes, trace.size);
	watt_recording_close(rec);
	/* in the middle of the last but one: a sync point is missing */
	journal.size -= SYNC + 3;
	assert_int_equal(open_trace(&journal, &heard, &rec), 0);
	check_samples(rec, 256, 80);
	watt_recording_close(rec);
	/* a section that there is none of: nothing behind it is believed */
	journal.bytes[HEADER + 2 * (1 + FAST)] = 4;
	assert_int_equal(open_trace(&journal, &heard, &rec), 0);
	assert_int_equal(watt_recording_get_info(rec)->samples, 0);
	watt_recording_close(rec);
	journal.size = HEADER;
	refused(&journal, -EBADMSG, "no samples");
	close(fd);
	unlink(path);
}

/* What is no trace can't be written as one. */
static void test_cut_is_whole_again(void **state)
{
	struct watt_recording *rec;
	struct heard heard;
	struct trace trace;
	uint8_t again[sizeof(trace.bytes)];
	char path[] = "/tmp/watt-nvmt-XXXXXX";
	int fd = mkstemp(path);
	uint64_t n;

	make(&trace, orin);
	trace.size = HEADER + 20 * FAST + 3 * MEDIUM + 5;
	assert_int_equal(open_trace(&trace, &heard, &rec), 0);
	assert_int_equal(watt_recording_write_trace(rec, fd), 0);
	assert_int_equal(pread(fd, again, sizeof(again), 0), HEADER + 20 * FAST + 3 * MEDIUM);
	memcpy(&n, again + 56 + 8, sizeof(n));
	assert_int_equal(n, 3);
	assert_int_equal(watt_recording_write_trace(rec, -1), -EBADF);
	watt_recording_close(rec);
	close(fd);
	unlink(path);
}

/* ---- written ---- */

static double number_at(const uint8_t *at)
{
	double value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static float float_at(const uint8_t *at)
{
	float value;

	memcpy(&value, at, sizeof(value));
	return value;
}

/* Two rails, read three times each: a counter that uses 2 W and a power. */
static void put_readings(struct watt_nvmt_writer *writer, uint64_t t_ns)
{
	struct watt_sample samples[2];
	struct watt_op op = { .kind = WATT_OP_SAMPLES, .samples = { samples, 2 } };
	const struct watt_op advance = { .kind = WATT_OP_ADVANCE, .advance_ns = t_ns + 1000000000 };
	uint32_t i;
	int turn;

	for (turn = 0; turn < 3; turn++) {
		for (i = 0; i < 2; i++) {
			samples[i] = (struct watt_sample){ .channel = i };
			samples[i].t_before_ns = samples[i].t_after_ns =
				t_ns + (uint64_t)turn * 10000000;
			samples[i].raw = i ? 3000 + turn : 77000 + turn * 20000;
		}
		watt_nvmt_writer_put(writer, &op);
	}
	watt_nvmt_writer_put(writer, &advance);
}

/* The first reading of a rail comes before its first deadline: energy begins there, no sample does. */
static void test_warm_up(void **state)
{
	static const struct watt_channel counter = { .name = "counter",
						     .quantity = WATT_QUANTITY_ENERGY,
						     .scale_num = 1000,
						     .scale_den = 1 };
	static const struct watt_channel power = {
		.name = "power", .quantity = WATT_QUANTITY_POWER, .scale_num = 1000, .scale_den = 1
	};
	static const struct watt_domain domains[] = { { .path = "a", .channel = 0 },
						      { .path = "b", .channel = 1 } };
	const struct watt_channel *channels[] = { &counter, &power };
	const struct watt_domain *list[] = { &domains[0], &domains[1] };
	const struct watt_setup setup = { .channels = channels, .n_channels = 2 };
	const struct watt_record_opts opts = { .overwrite = 1 };
	const struct watt_machine machine = { .host = "board" };
	char path[] = "/tmp/watt-nvmt-XXXXXX";
	uint8_t bytes[HEADER + 3 * MEDIUM];
	struct watt_nvmt_writer *writer;
	uint64_t counts[4];
	int fd = mkstemp(path);

	close(fd);
	assert_int_equal(
		watt_nvmt_writer_new(path, &opts, &setup, &machine, list, 2, NULL, &writer), 0);
	put_readings(writer, watt_now_ns());
	watt_nvmt_writer_close(writer);
	fd = open(path, O_RDONLY);
	assert_int_equal(read(fd, bytes, sizeof(bytes)), HEADER + 2 * MEDIUM);
	memcpy(counts, bytes + 56, sizeof(counts));
	assert_int_equal(counts[1], 2);
	assert_float_equal(number_at(bytes + HEADER + MEDIUM) - number_at(bytes + HEADER), 0.01,
			   1e-6);
	assert_float_equal(float_at(bytes + HEADER + 72), 2000, 1e-3);
	assert_float_equal(float_at(bytes + HEADER + 76), 3001, 1e-3);
	assert_float_equal(float_at(bytes + HEADER + MEDIUM + 72), 2000, 1e-3);
	assert_float_equal(float_at(bytes + HEADER + MEDIUM + 76), 3002, 1e-3);
	close(fd);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_channels),
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_ops),
		cmocka_unit_test(test_missing_is_no_zero),
		cmocka_unit_test(test_odd_times),
		cmocka_unit_test(test_cut_short),
		cmocka_unit_test(test_context),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_no_rails),
		cmocka_unit_test(test_journal),
		cmocka_unit_test(test_cut_is_whole_again),
		cmocka_unit_test(test_warm_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

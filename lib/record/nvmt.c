/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces of fastnvmetrics. They tell of no process: the CPUs' time is nobody's. Their clock is
 * CLOCK_MONOTONIC since their beginning, which is one second here. A reading that failed is 0 in
 * them: a rail without voltage, current and power had none, nor had a zone of 0 degrees. GPU, memory and
 * temperatures are channels of context.
 */
#include "record/nvmt.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/nvmt.h"
#include "base/util.h"
#include "record/nvmt_journal.h"
#include "record/recording.h"
#include "source/power/sensor/board.h"

#define START_NS WATT_NSEC_PER_SEC
#define SLICE_NS (50 * WATT_NSEC_PER_MSEC)
/* No trace is that long: what says so is damaged. */
#define MAX_TIME_S 1e9
/* Milliwatts of a rail that can't be. */
#define MAX_POWER_MW 1e9
/* Sync points that are marks. */
#define MAX_MARKS 100000
#define BUFFER_SAMPLES 64
/* More than there can be of them: degrees, kB, per mille. */
#define MAX_CELSIUS 1000
#define MAX_MEMORY_KB (1ull << 40)
#define MAX_LOAD 1000
/* Of a fast sample: GPU load, memory used and available, EMC. */
#define FAST_GAUGES 4
#define MAX_CHANNELS (WATT_NVMT_RAILS + FAST_GAUGES + WATT_NVMT_CORES + WATT_NVMT_ZONES)

/* One of the four, read in order. */
struct section {
	uint64_t offset; /* in the file */
	uint64_t n;
	uint64_t next; /* to be read from the file */
	size_t size;   /* of a sample */
	size_t held;   /* in the buffer */
	size_t at;
	uint64_t newest_ns; /* of what was taken */
	uint8_t buffer[BUFFER_SAMPLES * WATT_NVMT_MEDIUM_SIZE];
};

/* Sections whose samples have values of channels, read in order. */
struct reading {
	struct section sections[WATT_NVMT_SYNC];
};

/* What comes next in a slice. */
enum step {
	BEGIN,
	SAMPLES,
	USAGE,
	ADVANCE
};

struct watt_nvmt {
	int fd;
	bool is_unfinished; /* its writer was ended before */
	uint32_t n_cores;
	uint32_t n_rails;
	uint8_t header[WATT_NVMT_HEADER_SIZE];
	struct section sections[WATT_NVMT_SECTIONS];
	uint32_t n_whole; /* gauges of no core: 0: it has no context; FAST_GAUGES, without EMC one less */
	uint32_t n_gauges; /* of fast samples: these, and with them one for each core */
	uint32_t n_zones;
	struct reading samples; /* for who wants only samples */
	struct reading told;    /* for the sequence of ops */
	struct watt_sample rows[BUFFER_SAMPLES * WATT_NVMT_RAILS];
	size_t n_rows, rows_at;
	/* the sequence of ops */
	uint64_t end_ns;
	enum step step;
	uint64_t slice_end_ns; /* 0: nothing was told yet */
	size_t next_mark;
	struct watt_sample list[BUFFER_SAMPLES * WATT_NVMT_RAILS];
	struct watt_cpu_time cpus[WATT_NVMT_CORES];
	uint64_t busy_ns;
	/* of the channels */
	char names[MAX_CHANNELS][WATT_NVMT_NAME + 32];
	char labels[MAX_CHANNELS][WATT_NVMT_NAME];
	char paths[MAX_CHANNELS][WATT_NVMT_NAME + 32];
	char board[WATT_NVMT_BOARD];
	uint16_t cpu_slot[WATT_NVMT_CORES];
	struct watt_cpu_place place;
};

/* ---- sections ---- */

/* The next sample; NULL: there is none, or it can't be read. */
static const uint8_t *peek(struct watt_nvmt *nvmt, struct section *section)
{
	size_t n;

	if (section->at < section->held)
		return section->buffer + section->at * section->size;
	n = (size_t)WATT_MIN(section->n - section->next, (uint64_t)BUFFER_SAMPLES);
	if (!n || pread(nvmt->fd, section->buffer, n * section->size,
			(off_t)(section->offset + section->next * section->size)) !=
			  (ssize_t)(n * section->size))
		return NULL;
	section->next += n;
	section->held = n;
	section->at = 0;
	return section->buffer;
}

static void rewind_to(struct section *section, uint64_t index)
{
	section->next = index;
	section->at = section->held = 0;
	section->newest_ns = 0;
}

/* When a sample was taken; 0: it says nothing that can be. */
static uint64_t time_of(const uint8_t *sample)
{
	double time_s = watt_nvmt_get_double(sample);

	if (!(time_s >= 0 && time_s <= MAX_TIME_S))
		return 0;
	return START_NS + (uint64_t)llround(time_s * 1e9);
}

/*
 * The next sample up to t_ns, and its time, later than that of the one before; NULL: none. What has
 * another time is passed over and counted.
 */
static const uint8_t *take(struct watt_nvmt *nvmt, struct section *section, uint64_t t_ns,
			   uint64_t *ret_ns)
{
	const uint8_t *sample;
	uint64_t at_ns;

	while ((sample = peek(nvmt, section))) {
		at_ns = time_of(sample);
		if (at_ns > t_ns)
			return NULL;
		section->at++;
		if (at_ns <= section->newest_ns)
			continue;
		*ret_ns = section->newest_ns = at_ns;
		return sample;
	}
	return NULL;
}

/* ---- opening ---- */

static int complain_cut(struct watt_recording *rec, const char *what)
{
	return watt_recording_complain(rec, -EBADMSG, "is a damaged NVMT trace: %s", what);
}

/* Where the sections are, as far as the file goes. Returns what of its end is missing. */
static uint64_t place_sections(struct watt_nvmt *nvmt, uint64_t file_size)
{
	uint64_t offset = WATT_NVMT_HEADER_SIZE, missing = 0;
	size_t i;

	for (i = 0; i < WATT_NVMT_SECTIONS; i++) {
		struct section *section = &nvmt->sections[i];
		uint64_t said = watt_nvmt_get_u64(nvmt->header + WATT_NVMT_AT_COUNTS + 8 * i);

		section->size = watt_nvmt_sample_size((unsigned int)i);
		section->offset = offset;
		section->n = WATT_MIN(said, (file_size - offset) / section->size);
		missing += said - section->n;
		offset += section->n * section->size;
	}
	return missing;
}

/* A name for paths: lower case, nothing but letters, digits and '_'. */
static void clean_name(char *to, const char *label, uint32_t rail)
{
	size_t i;

	if (!*label) {
		snprintf(to, WATT_NVMT_NAME, "rail-%u", rail);
		return;
	}
	for (i = 0; label[i]; i++)
		to[i] = isalnum((unsigned char)label[i]) ? (char)tolower((unsigned char)label[i]) :
							   '_';
	to[i] = '\0';
}

static void describe_rail(struct watt_nvmt *nvmt, struct watt_recording *rec,
			  const struct watt_board *board, uint32_t i)
{
	const struct watt_board_rail *rail;
	uint32_t hz = watt_nvmt_get_u32(nvmt->header + WATT_NVMT_AT_HZ + 4);
	char clean[WATT_NVMT_NAME];

	clean_name(clean, nvmt->labels[i], i);
	rail = board ? watt_board_find_label(board, clean) : NULL;
	snprintf(nvmt->names[i], sizeof(nvmt->names[i]), "nvmt/%u/%s", i, clean);
	snprintf(nvmt->paths[i], sizeof(nvmt->paths[i]), rail ? "%s" : "nvmt:%s",
		 rail ? rail->path : clean);
	rec->channels[i] = (struct watt_channel){
		.sz = sizeof(struct watt_channel),
		.name = nvmt->names[i],
		.source = "nvmt",
		.domain = nvmt->paths[i],
		.label = nvmt->labels[i],
		.path = rec->path,
		.kind = rail ? rail->kind : WATT_DOMAIN_RAIL,
		.quantity = WATT_QUANTITY_POWER,
		.semantics = WATT_SEMANTICS_INSTANT,
		.origin = WATT_ORIGIN_MEASURED,
		.flags = rail ? rail->flags : (uint32_t)WATT_CHANNEL_OVERLAP_UNKNOWN,
		.package_id = -1,
		.die_id = -1,
		.core_id = -1,
		.scale_num = 1,
		.scale_den = 1,
		.period_ns = hz ? WATT_NSEC_PER_SEC / hz : 0,
	};
	rec->channel_list[i] = &rec->channels[i];
}

static const struct gauge {
	const char *name;
	enum watt_quantity quantity;
	uint64_t scale_num;
} fast_gauges[FAST_GAUGES] = {
	{ "gpu/load", WATT_QUANTITY_RATIO, 1000 },
	{ "memory/used", WATT_QUANTITY_MEMORY, 1024 },
	{ "memory/available", WATT_QUANTITY_MEMORY, 1024 },
	{ "memory/emc", WATT_QUANTITY_RATIO, 1 },
};

static void describe_gauge(struct watt_nvmt *nvmt, struct watt_recording *rec, uint32_t i,
			   const char *label, const struct gauge *gauge)
{
	snprintf(nvmt->names[i], sizeof(nvmt->names[i]), "nvmt/%s", gauge->name);
	snprintf(nvmt->paths[i], sizeof(nvmt->paths[i]), "nvmt:%s", gauge->name);
	rec->channels[i] = (struct watt_channel){
		.sz = sizeof(struct watt_channel),
		.name = nvmt->names[i],
		.source = "nvmt",
		.domain = nvmt->paths[i],
		.label = label,
		.path = rec->path,
		.kind = WATT_DOMAIN_RAIL,
		.quantity = gauge->quantity,
		.semantics = WATT_SEMANTICS_INSTANT,
		.origin = WATT_ORIGIN_MEASURED,
		.flags = WATT_CHANNEL_SIGNED,
		.package_id = -1,
		.die_id = -1,
		.core_id = -1,
		.scale_num = gauge->scale_num,
		.scale_den = 1,
	};
	rec->channel_list[i] = &rec->channels[i];
}

/* Two zones of one name are told apart by their numbers. */
static void describe_zone(struct watt_nvmt *nvmt, struct watt_recording *rec, uint32_t zone)
{
	uint32_t i = nvmt->n_rails + nvmt->n_gauges + zone;
	char clean[WATT_NVMT_NAME], name[WATT_NVMT_NAME + 24];
	const struct gauge gauge = { name, WATT_QUANTITY_TEMPERATURE, 1 };

	watt_nvmt_get_name(nvmt->labels[i],
			   nvmt->header + WATT_NVMT_AT_ZONE_NAMES + zone * WATT_NVMT_NAME,
			   WATT_NVMT_NAME);
	clean_name(clean, nvmt->labels[i], zone);
	snprintf(name, sizeof(name), "%u-%s/temperature", zone, clean);
	describe_gauge(nvmt, rec, i, nvmt->labels[i], &gauge);
}

static void describe_core(struct watt_nvmt *nvmt, struct watt_recording *rec, uint32_t core)
{
	char name[WATT_NVMT_NAME];
	const struct gauge gauge = { name, WATT_QUANTITY_RATIO, 1 };

	snprintf(name, sizeof(name), "cpu%u/busy", core);
	describe_gauge(nvmt, rec, nvmt->n_rails + nvmt->n_whole + core, NULL, &gauge);
}

/* A trace of one who did not read them has no memory, and then no GPU either. */
static void find_gauges(struct watt_nvmt *nvmt)
{
	const uint8_t *at = peek(nvmt, &nvmt->told.sections[WATT_NVMT_FAST]);

	if (at && watt_nvmt_get_u64(at + WATT_NVMT_FAST_RAM_AVAILABLE))
		nvmt->n_whole = FAST_GAUGES - !nvmt->header[WATT_NVMT_AT_EMC];
	nvmt->n_gauges = nvmt->n_whole ? nvmt->n_whole + nvmt->n_cores : 0;
	nvmt->n_zones = nvmt->header[WATT_NVMT_AT_ZONES];
	if (!nvmt->sections[WATT_NVMT_SLOW].n)
		nvmt->n_zones = 0;
}

/* The board that has all the rails, whatever the trace calls it. */
static const struct watt_board *find_board(const struct watt_nvmt *nvmt)
{
	char clean[WATT_NVMT_RAILS][WATT_NVMT_NAME];
	const char *labels[WATT_NVMT_RAILS];
	uint32_t i;

	for (i = 0; i < nvmt->n_rails; i++) {
		clean_name(clean[i], nvmt->labels[i], i);
		labels[i] = clean[i];
	}
	return watt_board_find_by_labels(labels, nvmt->n_rails);
}

static int describe_channels(struct watt_nvmt *nvmt, struct watt_recording *rec)
{
	const struct watt_board *board;
	uint32_t i, n;

	find_gauges(nvmt);
	n = nvmt->n_rails + nvmt->n_gauges + nvmt->n_zones;
	rec->channels = calloc(n + 1, sizeof(*rec->channels));
	rec->channel_list = calloc(n + 1, sizeof(*rec->channel_list));
	if (!rec->channels || !rec->channel_list)
		return -ENOMEM;
	for (i = 0; i < nvmt->n_rails; i++)
		watt_nvmt_get_name(nvmt->labels[i],
				   nvmt->header + WATT_NVMT_AT_RAIL_NAMES + i * WATT_NVMT_NAME,
				   WATT_NVMT_NAME);
	board = find_board(nvmt);
	for (i = 0; i < nvmt->n_rails; i++)
		describe_rail(nvmt, rec, board, i);
	for (i = 0; i < nvmt->n_whole; i++)
		describe_gauge(nvmt, rec, nvmt->n_rails + i, NULL, &fast_gauges[i]);
	for (i = nvmt->n_whole; i < nvmt->n_gauges; i++)
		describe_core(nvmt, rec, i - nvmt->n_whole);
	for (i = 0; i < nvmt->n_zones; i++)
		describe_zone(nvmt, rec, i);
	rec->n_channels = n;
	return 0;
}

/* Sync points are marks at the time of the fast sample that they name. */
static int read_marks(struct watt_nvmt *nvmt, struct watt_recording *rec)
{
	struct section *sync = &nvmt->sections[WATT_NVMT_SYNC];
	struct section *fast = &nvmt->sections[WATT_NVMT_FAST];
	uint64_t before_ns = 0;
	const uint8_t *at;

	while (rec->n_marks < MAX_MARKS && (at = peek(nvmt, sync))) {
		uint64_t id = watt_nvmt_get_u64(at);
		uint64_t index = watt_nvmt_get_u64(at + WATT_NVMT_SYNC_FAST), t_ns;
		uint8_t sample[8];

		sync->at++;
		if (index >= fast->n ||
		    pread(nvmt->fd, sample, sizeof(sample),
			  (off_t)(fast->offset + index * fast->size)) != (ssize_t)sizeof(sample))
			continue;
		t_ns = time_of(sample);
		if (t_ns <= before_ns)
			continue;
		if (watt_grow((void **)&rec->marks, &rec->cap_marks, rec->n_marks,
			      sizeof(*rec->marks)) < 0)
			return -ENOMEM;
		rec->marks[rec->n_marks] = (struct watt_mark){ .t_ns = before_ns = t_ns };
		snprintf(rec->marks[rec->n_marks++].label, WATT_MARK_SIZE, "sync %" PRIu64, id);
	}
	return 0;
}

/* The time of the newest sample of a section; 0: it has none that is valid. */
static uint64_t end_of(struct watt_nvmt *nvmt, const struct section *section)
{
	uint8_t sample[8];
	uint64_t i, t_ns = 0;

	for (i = 1; i <= section->n && i <= BUFFER_SAMPLES && !t_ns; i++)
		if (pread(nvmt->fd, sample, sizeof(sample),
			  (off_t)(section->offset + (section->n - i) * section->size)) ==
		    (ssize_t)sizeof(sample))
			t_ns = time_of(sample);
	return t_ns;
}

static void describe(struct watt_nvmt *nvmt, struct watt_recording *rec, uint64_t file_size,
		     uint64_t missing)
{
	watt_nvmt_get_name(nvmt->board, nvmt->header + WATT_NVMT_AT_BOARD, WATT_NVMT_BOARD);
	nvmt->place = (struct watt_cpu_place){ -1, -1, -1 };
	rec->info = (struct watt_recording_info){
		.sz = sizeof(struct watt_recording_info),
		.writer = "NVMT 1",
		.host = nvmt->board,
		.os = "",
		.kernel = "",
		.arch = "",
		.cpu = "",
		.command = "",
		.usage = "nvmt",
		.usage_why = "",
		.start_ns = START_NS,
		.end_ns = nvmt->end_ns,
		.slice_ns = SLICE_NS,
		.samples = nvmt->sections[WATT_NVMT_MEDIUM].n * nvmt->n_rails +
			   nvmt->sections[WATT_NVMT_FAST].n * nvmt->n_gauges +
			   nvmt->sections[WATT_NVMT_SLOW].n * nvmt->n_zones,
		.bytes = file_size,
		.format = WATT_NVMT_VERSION,
		.n_cpus = nvmt->n_cores,
		.part = 1,
		.is_complete = missing == 0 && !nvmt->is_unfinished,
	};
	rec->setup = (struct watt_setup){
		.channels = rec->channel_list,
		.n_channels = rec->n_channels,
		.cpu_slot = nvmt->cpu_slot,
		.n_cpus = nvmt->n_cores,
		.n_slots = 1,
		.places = &nvmt->place,
		.slice_ns = SLICE_NS,
		.usage = "nvmt",
	};
}

static int load(struct watt_nvmt *nvmt, struct watt_recording *rec, uint64_t file_size)
{
	uint64_t missing;
	int r;

	if (watt_nvmt_get_u32(nvmt->header + WATT_NVMT_AT_VERSION) != WATT_NVMT_VERSION)
		return watt_recording_complain(
			rec, -EPROTONOSUPPORT, "is an NVMT trace of version %u; 1 is known",
			watt_nvmt_get_u32(nvmt->header + WATT_NVMT_AT_VERSION));
	nvmt->n_cores = nvmt->header[WATT_NVMT_AT_CORES];
	nvmt->n_rails = nvmt->header[WATT_NVMT_AT_RAILS];
	if (nvmt->n_cores < 1 || nvmt->n_cores > WATT_NVMT_CORES)
		return complain_cut(rec, "it has not 1 to 16 cores");
	if (nvmt->n_rails > WATT_NVMT_RAILS || nvmt->header[WATT_NVMT_AT_ZONES] > WATT_NVMT_ZONES)
		return complain_cut(rec, "it has more than 8 rails or 16 thermal zones");
	missing = place_sections(nvmt, file_size);
	memcpy(nvmt->samples.sections, nvmt->sections, sizeof(nvmt->samples.sections));
	nvmt->told = nvmt->samples;
	nvmt->end_ns = WATT_MAX(end_of(nvmt, &nvmt->sections[WATT_NVMT_FAST]),
				end_of(nvmt, &nvmt->sections[WATT_NVMT_MEDIUM]));
	if (!nvmt->end_ns)
		return complain_cut(rec, "it has no samples");
	r = describe_channels(nvmt, rec);
	if (r == 0)
		r = read_marks(nvmt, rec);
	if (r == 0)
		describe(nvmt, rec, file_size, missing);
	return r;
}

/* What its writer did not finish is finished here, in a file that nobody sees. */
static int load_journal(struct watt_nvmt *nvmt, struct watt_recording *rec)
{
	int fd = watt_nvmt_journal_open(nvmt->fd, nvmt->header);
	struct stat st;

	close(nvmt->fd);
	nvmt->fd = fd;
	if (fd < 0 || fstat(fd, &st) < 0 ||
	    pread(fd, nvmt->header, WATT_NVMT_HEADER_SIZE, 0) != WATT_NVMT_HEADER_SIZE)
		return watt_recording_complain(rec, fd < 0 ? fd : -EIO, "can't be finished: %s",
					       strerror(fd < 0 ? -fd : EIO));
	nvmt->is_unfinished = true;
	return load(nvmt, rec, (uint64_t)st.st_size);
}

int watt_nvmt_open(struct watt_recording *rec)
{
	_cleanup_close_ int fd = open(rec->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	uint8_t magic[4];
	struct stat st;

	/* whoever looks next says what is wrong with it */
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
	    pread(fd, magic, sizeof(magic), 0) != (ssize_t)sizeof(magic) ||
	    watt_nvmt_get_u32(magic) != WATT_NVMT_MAGIC)
		return 1;
	rec->nvmt = calloc(1, sizeof(*rec->nvmt));
	if (!rec->nvmt)
		return -ENOMEM;
	rec->nvmt->fd = fd;
	fd = -1;
	if (pread(rec->nvmt->fd, rec->nvmt->header, WATT_NVMT_HEADER_SIZE, 0) !=
	    WATT_NVMT_HEADER_SIZE)
		return complain_cut(rec, "it is shorter than its header");
	if (watt_nvmt_journal_is(rec->nvmt->header))
		return load_journal(rec->nvmt, rec);
	return load(rec->nvmt, rec, (uint64_t)st.st_size);
}

struct watt_nvmt *watt_nvmt_free(struct watt_nvmt *nvmt)
{
	if (!nvmt)
		return NULL;
	close(nvmt->fd);
	free(nvmt);
	return NULL;
}

/* ---- samples ---- */

static struct watt_sample sample_of_rail(const uint8_t *at, uint32_t rail, uint64_t t_ns)
{
	float power_mw = watt_nvmt_get_float(at + WATT_NVMT_MEDIUM_POWER + 4 * rail);
	struct watt_sample sample = { .t_before_ns = t_ns, .t_after_ns = t_ns, .channel = rail };
	bool has_any = watt_nvmt_get_u32(at + WATT_NVMT_MEDIUM_VOLTAGE + 4 * rail) ||
		       watt_nvmt_get_u32(at + WATT_NVMT_MEDIUM_CURRENT + 4 * rail) || power_mw != 0;

	if (!has_any)
		sample.status = WATT_STATUS_NODATA;
	else if (!(fabsf(power_mw) <= (float)MAX_POWER_MW))
		sample.status = WATT_STATUS_BROKEN;
	else
		sample.raw = llround((double)power_mw * 1000);
	return sample;
}

static struct watt_sample sample_of_fast(const uint8_t *at, uint32_t gauge)
{
	struct watt_sample sample = { .status = WATT_STATUS_OK };
	uint64_t kb = watt_nvmt_get_u64(
		at + (gauge == 1 ? WATT_NVMT_FAST_RAM_USED : WATT_NVMT_FAST_RAM_AVAILABLE));
	float emc = watt_nvmt_get_float(at + WATT_NVMT_FAST_EMC);
	bool is_possible;

	switch (gauge) {
	case 0:
		sample.raw = at[WATT_NVMT_FAST_GPU] | at[WATT_NVMT_FAST_GPU + 1] << 8;
		is_possible = sample.raw <= MAX_LOAD;
		break;
	case 3:
		if (emc == -1)
			sample.status = WATT_STATUS_NODATA;
		is_possible = emc == -1 || (emc >= 0 && emc <= 100);
		sample.raw = emc >= 0 && is_possible ? llround((double)emc * 10000) : 0;
		break;
	default:
		is_possible = kb <= MAX_MEMORY_KB;
		sample.raw = is_possible ? (int64_t)kb : 0;
		break;
	}
	if (!is_possible) {
		sample.status = WATT_STATUS_BROKEN;
		sample.raw = 0;
	}
	return sample;
}

static struct watt_sample sample_of_core(const uint8_t *at, uint32_t core)
{
	float percent = watt_nvmt_get_float(at + WATT_NVMT_FAST_CPUS + 4 * core);
	struct watt_sample sample = { .status = WATT_STATUS_OK };

	if (percent >= 0 && percent <= 100)
		sample.raw = llround((double)percent * 10000);
	else
		sample.status = WATT_STATUS_BROKEN;
	return sample;
}

static struct watt_sample sample_of_zone(const uint8_t *at, uint32_t zone)
{
	float celsius = watt_nvmt_get_float(at + WATT_NVMT_SLOW_TEMPERATURE + 4 * zone);
	struct watt_sample sample = { .status = WATT_STATUS_OK };

	if (celsius == 0)
		sample.status = WATT_STATUS_NODATA;
	else if (!(fabsf(celsius) <= MAX_CELSIUS))
		sample.status = WATT_STATUS_BROKEN;
	else
		sample.raw = llround((double)celsius * 1000);
	return sample;
}

/* What a sample of a section has of its channels, from the first of these on. */
static uint32_t channels_of(const struct watt_nvmt *nvmt, int section, uint32_t *ret_first)
{
	*ret_first = section == WATT_NVMT_MEDIUM ? 0 :
		     section == WATT_NVMT_FAST   ? nvmt->n_rails :
						   nvmt->n_rails + nvmt->n_gauges;
	return section == WATT_NVMT_MEDIUM ? nvmt->n_rails :
	       section == WATT_NVMT_FAST   ? nvmt->n_gauges :
					     nvmt->n_zones;
}

static struct watt_sample sample_of(const struct watt_nvmt *nvmt, int section, const uint8_t *at,
				    uint32_t i, uint32_t first, uint64_t t_ns)
{
	struct watt_sample sample;

	if (section == WATT_NVMT_MEDIUM)
		return sample_of_rail(at, i, t_ns);
	if (section == WATT_NVMT_SLOW)
		sample = sample_of_zone(at, i);
	else if (i < nvmt->n_whole)
		sample = sample_of_fast(at, i);
	else
		sample = sample_of_core(at, i - nvmt->n_whole);
	sample.channel = first + i;
	sample.t_before_ns = sample.t_after_ns = t_ns;
	return sample;
}

/* Samples up to t_ns, as many as fit: those of rails, of the fast ones, of zones. */
static size_t take_samples(struct watt_nvmt *nvmt, struct reading *reading, uint64_t t_ns,
			   struct watt_sample *ret, size_t n)
{
	static const int order[] = { WATT_NVMT_MEDIUM, WATT_NVMT_FAST, WATT_NVMT_SLOW };
	const uint8_t *at;
	uint64_t at_ns;
	size_t used = 0, s;
	uint32_t i, first;

	for (s = 0; s < WATT_ARRAY_SIZE(order); s++) {
		uint32_t n_channels = channels_of(nvmt, order[s], &first);

		while (n_channels && used + n_channels <= n &&
		       (at = take(nvmt, &reading->sections[order[s]], t_ns, &at_ns)))
			for (i = 0; i < n_channels; i++)
				ret[used++] = sample_of(nvmt, order[s], at, i, first, at_ns);
	}
	return used;
}

int watt_nvmt_read_samples(struct watt_recording *rec, struct watt_sample *ret, size_t n)
{
	struct watt_nvmt *nvmt = rec->nvmt;
	size_t kept = 0;

	n = WATT_MIN(n, (size_t)INT32_MAX);
	while (kept < n) {
		if (nvmt->rows_at == nvmt->n_rows) {
			nvmt->rows_at = 0;
			nvmt->n_rows = take_samples(nvmt, &nvmt->samples, UINT64_MAX, nvmt->rows,
						    WATT_ARRAY_SIZE(nvmt->rows));
			if (!nvmt->n_rows)
				break;
		}
		if (nvmt->rows[nvmt->rows_at].t_before_ns >= rec->seek_ns)
			ret[kept++] = nvmt->rows[nvmt->rows_at];
		nvmt->rows_at++;
	}
	return (int)kept;
}

void watt_nvmt_seek(struct watt_recording *rec, uint64_t t_ns)
{
	int i;

	for (i = 0; i < WATT_NVMT_SYNC; i++)
		rewind_to(&rec->nvmt->samples.sections[i], 0);
	rec->nvmt->rows_at = rec->nvmt->n_rows = 0;
	rec->seek_ns = t_ns;
}

/* ---- ops ---- */

/* What the cores did up to t_ns. */
static void add_cpu_time(struct watt_nvmt *nvmt, uint64_t t_ns)
{
	struct section *fast = &nvmt->sections[WATT_NVMT_FAST];
	uint64_t before_ns = fast->newest_ns, at_ns;
	const uint8_t *at;
	uint32_t i;

	while ((at = take(nvmt, fast, t_ns, &at_ns))) {
		uint64_t length_ns = before_ns ? at_ns - before_ns : 0;

		before_ns = at_ns;
		for (i = 0; i < nvmt->n_cores; i++) {
			float util = watt_nvmt_get_float(at + WATT_NVMT_FAST_CPUS + 4 * i);
			double ratio = util >= 0 && util <= 100 ? (double)util / 100 : 0;
			uint64_t busy_ns = (uint64_t)((double)length_ns * ratio);

			nvmt->cpus[i].online = 1;
			nvmt->cpus[i].user_ns += busy_ns;
			nvmt->cpus[i].idle_ns += length_ns - busy_ns;
			nvmt->busy_ns += busy_ns;
		}
	}
}

/* The next instant at which something is told: never an empty slice in a gap of the trace. */
static void begin_slice(struct watt_nvmt *nvmt, const struct watt_recording *rec)
{
	uint64_t next_ns = nvmt->end_ns, end_ns;
	size_t i;

	if (!nvmt->slice_end_ns) {
		nvmt->slice_end_ns = START_NS;
		return;
	}
	for (i = WATT_NVMT_FAST; i <= WATT_NVMT_MEDIUM; i++) {
		/* without rails nobody takes the medium samples */
		bool is_taken = i != WATT_NVMT_MEDIUM || nvmt->n_rails;
		const uint8_t *at = !is_taken ? NULL :
						peek(nvmt, i == WATT_NVMT_MEDIUM ?
								   &nvmt->told.sections[i] :
								   &nvmt->sections[i]);

		if (at)
			next_ns = WATT_MIN(next_ns, time_of(at));
	}
	end_ns = WATT_MAX(nvmt->slice_end_ns + SLICE_NS, next_ns);
	/* A slice ends with each mark. */
	if (nvmt->next_mark < rec->n_marks && rec->marks[nvmt->next_mark].t_ns > nvmt->slice_end_ns)
		end_ns = WATT_MIN(end_ns, rec->marks[nvmt->next_mark].t_ns);
	nvmt->slice_end_ns = end_ns;
}

static bool next_mark(struct watt_nvmt *nvmt, const struct watt_recording *rec, struct watt_op *ret)
{
	if (nvmt->next_mark == rec->n_marks ||
	    rec->marks[nvmt->next_mark].t_ns > nvmt->slice_end_ns)
		return false;
	*ret = (struct watt_op){ .kind = WATT_OP_MARK, .mark = rec->marks[nvmt->next_mark++] };
	return true;
}

static bool next_samples(struct watt_nvmt *nvmt, struct watt_op *ret)
{
	size_t n = take_samples(nvmt, &nvmt->told, nvmt->slice_end_ns, nvmt->list,
				WATT_ARRAY_SIZE(nvmt->list));

	*ret = (struct watt_op){ .kind = WATT_OP_SAMPLES };
	ret->samples.list = nvmt->list;
	ret->samples.n = n;
	return n > 0;
}

static void make_usage(struct watt_nvmt *nvmt, struct watt_op *ret)
{
	add_cpu_time(nvmt, nvmt->slice_end_ns);
	*ret = (struct watt_op){ .kind = WATT_OP_USAGE };
	ret->usage = (struct watt_usage_batch){
		.t_before_ns = nvmt->slice_end_ns,
		.t_after_ns = nvmt->slice_end_ns,
		.cpus = nvmt->cpus,
		.n_cpus = nvmt->n_cores,
		.flags = WATT_BATCH_FULL | WATT_BATCH_COARSE,
		.unseen_ns = nvmt->busy_ns,
	};
}

int watt_nvmt_next_op(struct watt_recording *rec, struct watt_op *ret)
{
	struct watt_nvmt *nvmt = rec->nvmt;

	switch (nvmt->step) {
	case BEGIN:
		if (nvmt->slice_end_ns >= nvmt->end_ns && nvmt->slice_end_ns > START_NS)
			return 1;
		begin_slice(nvmt, rec);
		nvmt->step = SAMPLES;
		/* fall through */
	case SAMPLES:
		if (next_mark(nvmt, rec, ret) || next_samples(nvmt, ret))
			return 0;
		nvmt->step = USAGE;
		/* fall through */
	case USAGE:
		make_usage(nvmt, ret);
		nvmt->step = ADVANCE;
		return 0;
	case ADVANCE:
		*ret = (struct watt_op){ .kind = WATT_OP_ADVANCE };
		ret->advance_ns = nvmt->slice_end_ns;
		nvmt->step = BEGIN;
		return 0;
	}
	return 1;
}

int watt_recording_write_trace(const struct watt_recording *rec, int fd)
{
	uint64_t counts[WATT_NVMT_SECTIONS];
	int i;

	for (i = 0; rec->nvmt && i < WATT_NVMT_SECTIONS; i++)
		counts[i] = rec->nvmt->sections[i].n;
	return rec->nvmt ? watt_nvmt_copy(rec->nvmt->fd, counts, fd) : -ENODATA;
}

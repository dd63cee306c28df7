/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An NVMT trace, version 1, for the plots and programs that read those of fastnvmetrics: in each
 * window what the CPUs did, the mean power of each measured domain, and the context that was read. The counts are at its
 * beginning and known at the end, so that samples wait in temporary files. What the format has no
 * room for is told.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/nvmt.h"
#include "base/util.h"
#include "sink/registry.h"

struct rail {
	const char *path; /* of the domain */
	char label[WATT_NVMT_NAME];
};

struct cpu {
	uint32_t number;
	uint64_t busy_ns; /* so far */
	uint64_t wall_ns;
	float util; /* percent, in the newest window */
};

struct nvmt {
	struct rail rails[WATT_NVMT_RAILS];
	uint32_t n_rails;
	struct cpu cpus[WATT_NVMT_CORES];
	uint32_t n_cpus;
	FILE *fast;
	FILE *medium;
	FILE *slow;
	char zones[WATT_NVMT_ZONES][WATT_NVMT_NAME];
	uint32_t n_zones;         /* that there are, also those that have no room */
	uint64_t n_unknown_zones; /* temperatures that are missing */
	bool has_emc;
	uint8_t syncs[WATT_NVMT_SYNC_SIZE * 4096];
	uint64_t n_windows;
	uint64_t n_medium;
	uint64_t n_slow;
	uint64_t n_syncs;
	size_t next_mark;
	uint32_t hz;
	uint64_t unknown; /* powers that are missing */
	bool has_told_cpus;
};

/* ---- what is written ---- */

/* What the sensor calls itself, or else where it is; cut to 23 bytes. */
static void name_rail(struct rail *rail, const struct watt_domain *domain,
		      const struct watt_sink_about *about)
{
	const char *label = NULL;

	if (domain->channel >= 0 && (size_t)domain->channel < about->n_channels)
		label = about->channels[domain->channel]->label;
	rail->path = domain->path;
	snprintf(rail->label, sizeof(rail->label), "%s", label && *label ? label : domain->path);
}

/* Domains that a channel measures; those that are summed come first. */
static uint32_t find_rails(struct nvmt *nvmt, const struct watt_sink_about *about)
{
	uint32_t n = 0;
	size_t i;
	int pass;

	for (pass = 1; pass >= 0; pass--)
		for (i = 0; i < about->n_domains; i++) {
			const struct watt_domain *domain = about->domains[i];

			if (domain->channel < 0 || (int)!!domain->is_summed != pass)
				continue;
			if (n < WATT_NVMT_RAILS)
				name_rail(&nvmt->rails[n], domain, about);
			n++;
		}
	nvmt->n_rails = WATT_MIN(n, (uint32_t)WATT_NVMT_RAILS);
	return n;
}

static int begin(struct watt_sink *sink)
{
	struct nvmt *nvmt = sink->data;
	uint32_t n = find_rails(nvmt, sink->about);

	if (n > WATT_NVMT_RAILS)
		watt_log(&sink->log, WATT_LOG_WARNING,
			 "NVMT has room for 8 rails: %u of %u domains are left out",
			 n - WATT_NVMT_RAILS, n);
	nvmt->fast = tmpfile();
	nvmt->medium = tmpfile();
	nvmt->slow = tmpfile();
	return nvmt->fast && nvmt->medium && nvmt->slow ? 0 : -errno;
}

/* ---- windows ---- */

static struct cpu *cpu_of(struct watt_sink *sink, const struct watt_cpu_state *state)
{
	struct nvmt *nvmt = sink->data;
	uint32_t i;

	for (i = 0; i < nvmt->n_cpus; i++)
		if (nvmt->cpus[i].number == state->cpu)
			return &nvmt->cpus[i];
	if (nvmt->n_cpus < WATT_NVMT_CORES) {
		nvmt->cpus[nvmt->n_cpus] = (struct cpu){ .number = state->cpu };
		return &nvmt->cpus[nvmt->n_cpus++];
	}
	if (!nvmt->has_told_cpus)
		watt_log(&sink->log, WATT_LOG_WARNING,
			 "NVMT has room for 16 CPUs: those from CPU %u on are left out",
			 state->cpu);
	nvmt->has_told_cpus = true;
	return NULL;
}

static void read_cpus(struct watt_sink *sink, const struct watt_snapshot *snap)
{
	size_t i;

	for (i = 0; snap && i < watt_snapshot_get_cpu_count(snap); i++) {
		const struct watt_cpu_state *state = watt_snapshot_get_cpu(snap, i);
		struct cpu *cpu = cpu_of(sink, state);
		uint64_t busy_ns = state->user_ns + state->system_ns + state->irq_ns +
				   state->softirq_ns + state->steal_ns;
		double length_ns;

		if (!cpu)
			continue;
		length_ns = (double)(state->wall_ns - cpu->wall_ns);
		cpu->util =
			state->wall_ns > cpu->wall_ns && busy_ns > cpu->busy_ns ?
				(float)WATT_MIN(100.0, 100.0 * (double)(busy_ns - cpu->busy_ns) /
							       length_ns) :
				0;
		cpu->busy_ns = busy_ns;
		cpu->wall_ns = state->wall_ns;
	}
}

/* The mean of the first gauge whose name ends so; NAN: there is none, or it is not known. */
static double context(const struct watt_view *view, const char *end)
{
	size_t i, len, wanted = strlen(end);

	for (i = 0; i < view->n_gauges; i++) {
		len = strlen(view->gauges[i]->name);
		if (len > wanted && !strcmp(view->gauges[i]->name + len - wanted, end))
			return watt_gauge_get_now(view->gauges[i]);
	}
	return NAN;
}

static void put_context(struct nvmt *nvmt, const struct watt_view *view, uint8_t *at)
{
	double load = context(view, "/load"), used_b = context(view, "memory/used"),
	       available_b = context(view, "memory/available"), emc = context(view, "memory/emc");
	uint16_t permille =
		isnan(load) ? 0 : (uint16_t)lround(1000 * WATT_MAX(0.0, WATT_MIN(load, 1.0)));

	at[WATT_NVMT_FAST_GPU] = (uint8_t)permille;
	at[WATT_NVMT_FAST_GPU + 1] = (uint8_t)(permille >> 8);
	watt_nvmt_put_u64(at + WATT_NVMT_FAST_RAM_USED,
			  used_b >= 0 ? (uint64_t)(used_b / 1024) : 0);
	watt_nvmt_put_u64(at + WATT_NVMT_FAST_RAM_AVAILABLE,
			  available_b >= 0 ? (uint64_t)(available_b / 1024) : 0);
	watt_nvmt_put_float(at + WATT_NVMT_FAST_EMC, isnan(emc) ? -1 : (float)(100 * emc));
	nvmt->has_emc |= !isnan(emc);
}

static int write_fast(struct nvmt *nvmt, const struct watt_view *view, double time_s)
{
	uint8_t at[WATT_NVMT_FAST_SIZE] = { 0 };
	float sum = 0;
	uint32_t i;

	watt_nvmt_put_double(at, time_s);
	for (i = 0; i < nvmt->n_cpus; i++) {
		watt_nvmt_put_float(at + WATT_NVMT_FAST_CPUS + 4 * i, nvmt->cpus[i].util);
		sum += nvmt->cpus[i].util;
	}
	watt_nvmt_put_float(at + WATT_NVMT_FAST_CPU, nvmt->n_cpus ? sum / (float)nvmt->n_cpus : 0);
	put_context(nvmt, view, at);
	return fwrite(at, sizeof(at), 1, nvmt->fast) == 1 ? 0 : -EIO;
}

/* The mean power of a rail; NAN: not known. */
static double power_mw(const struct watt_view *view, const struct rail *rail)
{
	size_t i;

	for (i = 0; i < view->n_domains; i++)
		if (strcmp(view->domains[i]->path, rail->path) == 0)
			return 1e3 * watt_view_power_w(view->states[i], view->states[i]->window_nj);
	return NAN;
}

/* Before the first power is known there is no sample. */
static int write_medium(struct nvmt *nvmt, const struct watt_view *view, double time_s)
{
	uint8_t at[WATT_NVMT_MEDIUM_SIZE] = { 0 };
	uint32_t i, n_unknown = 0;

	watt_nvmt_put_double(at, time_s);
	for (i = 0; i < nvmt->n_rails; i++) {
		double value = power_mw(view, &nvmt->rails[i]);

		n_unknown += isnan(value);
		watt_nvmt_put_float(at + WATT_NVMT_MEDIUM_POWER + 4 * i,
				    isnan(value) ? 0 : (float)value);
	}
	if (!nvmt->n_medium && nvmt->n_rails && n_unknown == nvmt->n_rails)
		return 0;
	nvmt->unknown += n_unknown;
	nvmt->n_medium++;
	return fwrite(at, sizeof(at), 1, nvmt->medium) == 1 ? 0 : -EIO;
}

/* "cpu-thermal" of "context/cpu-thermal/temperature" */
static void name_zone(char *to, const struct watt_gauge *gauge)
{
	const char *begin = strchr(gauge->name, '/');
	size_t len;

	begin = begin ? begin + 1 : gauge->name;
	len = strcspn(begin, "/");
	snprintf(to, WATT_NVMT_NAME, "%.*s", (int)WATT_MIN(len, (size_t)WATT_NVMT_NAME - 1),
		 gauge->label ? gauge->label : begin);
}

/* The same of temperatures. */
static int write_slow(struct nvmt *nvmt, const struct watt_view *view, double time_s)
{
	uint8_t at[WATT_NVMT_SLOW_SIZE] = { 0 };
	uint32_t n = 0, n_unknown = 0;
	size_t i;

	watt_nvmt_put_double(at, time_s);
	for (i = 0; i < view->n_gauges; i++) {
		const struct watt_gauge *gauge = view->gauges[i];

		if (gauge->quantity != WATT_QUANTITY_TEMPERATURE)
			continue;
		if (n < WATT_NVMT_ZONES) {
			double value = watt_gauge_get_now(gauge);

			name_zone(nvmt->zones[n], gauge);
			n_unknown += isnan(value);
			watt_nvmt_put_float(at + WATT_NVMT_SLOW_TEMPERATURE + 4 * n,
					    isnan(value) ? 0 : (float)value);
		}
		n++;
	}
	nvmt->n_zones = WATT_MAX(nvmt->n_zones, n);
	if (!nvmt->n_slow && n && n_unknown == WATT_MIN(n, (uint32_t)WATT_NVMT_ZONES))
		return 0;
	nvmt->n_unknown_zones += n_unknown;
	nvmt->n_slow++;
	return fwrite(at, sizeof(at), 1, nvmt->slow) == 1 ? 0 : -EIO;
}

/* Marks up to then are sync points: how many samples there were before them. */
static void add_syncs(struct watt_sink *sink, uint64_t t_ns)
{
	struct nvmt *nvmt = sink->data;
	const struct watt_sink_about *about = sink->about;

	while (nvmt->next_mark < about->n_marks && about->marks[nvmt->next_mark]->t_ns <= t_ns) {
		uint8_t *at = nvmt->syncs + nvmt->n_syncs * WATT_NVMT_SYNC_SIZE;

		nvmt->next_mark++;
		if (nvmt->n_syncs == sizeof(nvmt->syncs) / WATT_NVMT_SYNC_SIZE)
			continue;
		watt_nvmt_put_u64(at, ++nvmt->n_syncs);
		watt_nvmt_put_u64(at + WATT_NVMT_SYNC_FAST, nvmt->n_windows);
	}
}

static int add_window(struct watt_sink *sink, const struct watt_sink_window *window)
{
	struct nvmt *nvmt = sink->data;
	double time_s = (double)watt_sink_since_ns(sink, window->t1_ns) / 1e9;
	uint64_t length_ns = window->t1_ns - window->t0_ns;
	int r;

	if (!nvmt->n_windows)
		nvmt->hz = (uint32_t)WATT_MAX(1.0, round(1e9 / (double)WATT_MAX(length_ns, 1u)));
	read_cpus(sink, window->snap);
	add_syncs(sink, window->t0_ns);
	r = write_fast(nvmt, &window->view, time_s);
	if (r == 0)
		r = write_medium(nvmt, &window->view, time_s);
	if (r == 0 && window->view.n_gauges)
		r = write_slow(nvmt, &window->view, time_s);
	nvmt->n_windows++;
	return r;
}

/* ---- the file ---- */

static void write_header(struct watt_sink *sink)
{
	const struct nvmt *nvmt = sink->data;
	uint8_t at[WATT_NVMT_HEADER_SIZE] = { 0 };
	uint32_t i;

	watt_nvmt_put_u32(at + WATT_NVMT_AT_MAGIC, WATT_NVMT_MAGIC);
	watt_nvmt_put_u32(at + WATT_NVMT_AT_VERSION, WATT_NVMT_VERSION);
	snprintf((char *)at + WATT_NVMT_AT_BOARD, WATT_NVMT_BOARD, "%s", sink->about->info->host);
	at[WATT_NVMT_AT_CORES] = (uint8_t)WATT_MAX(nvmt->n_cpus, 1u);
	at[WATT_NVMT_AT_RAILS] = (uint8_t)nvmt->n_rails;
	at[WATT_NVMT_AT_ZONES] = (uint8_t)WATT_MIN(nvmt->n_zones, (uint32_t)WATT_NVMT_ZONES);
	at[WATT_NVMT_AT_EMC] = nvmt->has_emc;
	for (i = 0; i < 3; i++)
		watt_nvmt_put_u32(at + WATT_NVMT_AT_HZ + 4 * i, WATT_MAX(nvmt->hz, 1u));
	watt_nvmt_put_u64(at + WATT_NVMT_AT_COUNTS + 8 * WATT_NVMT_FAST, nvmt->n_windows);
	watt_nvmt_put_u64(at + WATT_NVMT_AT_COUNTS + 8 * WATT_NVMT_MEDIUM, nvmt->n_medium);
	watt_nvmt_put_u64(at + WATT_NVMT_AT_COUNTS + 8 * WATT_NVMT_SLOW, nvmt->n_slow);
	watt_nvmt_put_u64(at + WATT_NVMT_AT_COUNTS + 8 * WATT_NVMT_SYNC, nvmt->n_syncs);
	for (i = 0; i < nvmt->n_rails; i++)
		memcpy(at + WATT_NVMT_AT_RAIL_NAMES + i * WATT_NVMT_NAME, nvmt->rails[i].label,
		       WATT_NVMT_NAME);
	memcpy(at + WATT_NVMT_AT_ZONE_NAMES, nvmt->zones, sizeof(nvmt->zones));
	fwrite(at, sizeof(at), 1, sink->out);
}

static int copy(FILE *from, FILE *to)
{
	char buffer[16384];
	size_t n;

	if (fflush(from) != 0 || fseek(from, 0, SEEK_SET) != 0)
		return -errno;
	while ((n = fread(buffer, 1, sizeof(buffer), from)) > 0)
		fwrite(buffer, 1, n, to);
	return ferror(from) ? -EIO : 0;
}

static int end(struct watt_sink *sink)
{
	struct nvmt *nvmt = sink->data;
	int r;

	add_syncs(sink, UINT64_MAX);
	if (nvmt->unknown)
		watt_log(&sink->log, WATT_LOG_WARNING,
			 "NVMT has no word for what is not known: %llu powers are 0 in it",
			 (unsigned long long)nvmt->unknown);
	if (nvmt->next_mark > nvmt->n_syncs)
		watt_log(&sink->log, WATT_LOG_WARNING, "%llu marks are left out",
			 (unsigned long long)(nvmt->next_mark - nvmt->n_syncs));
	if (nvmt->n_zones > WATT_NVMT_ZONES)
		watt_log(&sink->log, WATT_LOG_WARNING,
			 "NVMT has room for 16 thermal zones: %u of %u are left out",
			 nvmt->n_zones - WATT_NVMT_ZONES, nvmt->n_zones);
	if (nvmt->n_unknown_zones)
		watt_log(&sink->log, WATT_LOG_WARNING,
			 "NVMT has no word for what is not known: %llu temperatures are 0 in it",
			 (unsigned long long)nvmt->n_unknown_zones);
	write_header(sink);
	r = copy(nvmt->fast, sink->out);
	if (r == 0)
		r = copy(nvmt->medium, sink->out);
	if (r == 0)
		r = copy(nvmt->slow, sink->out);
	fwrite(nvmt->syncs, WATT_NVMT_SYNC_SIZE, nvmt->n_syncs, sink->out);
	return r;
}

static void done(struct watt_sink *sink)
{
	struct nvmt *nvmt = sink->data;

	if (nvmt->fast)
		fclose(nvmt->fast);
	if (nvmt->medium)
		fclose(nvmt->medium);
	if (nvmt->slow)
		fclose(nvmt->slow);
}

const struct watt_sink_ops watt_sink_nvmt = {
	.info = {
		.sz = sizeof(struct watt_sink_info),
		.name = "nvmt",
		.summary = "trace of fastnvmetrics: power of up to 8 domains and work of up to 16 CPUs",
		.suffixes = ".nvmt",
		.mime = "application/octet-stream",
	},
	.data_size = sizeof(struct nvmt),
	.begin = begin,
	.window = add_window,
	.end = end,
	.done = done,
};

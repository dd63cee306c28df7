/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the command, reads its JSON, and reads the recording through the library. Believes nothing:
 * what is not there ends the program.
 */
#include "product.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#define RECORDING "/tmp/guest_sensors.watt"
#define REPORT "/tmp/guest_sensors.json"

struct product {
	json_t *report;
	struct watt_session *replay;
	struct watt_snapshot *last;
	struct watt_sample *samples;
	size_t n_samples;
	struct watt_sample *chosen; /* of one channel */
};

__attribute__((format(printf, 1, 2))) _Noreturn static void die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

__attribute__((format(printf, 1, 2))) static void run(const char *format, ...)
{
	char line[512];
	va_list args;
	int status;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	status = system(line);
	if (status)
		die("'%s' ended with status %d", line, status);
}

static void read_samples(struct product *product)
{
	struct watt_recording *rec;
	size_t room = 0;
	int n = watt_recording_open(RECORDING, NULL, NULL, &rec);

	if (n < 0)
		die("%s: %s", RECORDING, strerror(-n));
	do {
		room = 2 * room + 4096;
		product->samples = reallocarray(product->samples, room, sizeof(struct watt_sample));
		if (!product->samples)
			die("out of memory");
		n = watt_recording_read_samples(rec, product->samples + product->n_samples,
						room - product->n_samples);
		if (n > 0)
			product->n_samples += (size_t)n;
	} while (n > 0);
	if (n < 0)
		die("samples: %s", strerror(-n));
	watt_recording_close(rec);
	product->chosen = calloc(product->n_samples + 1, sizeof(struct watt_sample));
	if (!product->chosen)
		die("out of memory");
}

static void read_states(struct product *product)
{
	struct watt_snapshot *next;
	int r = watt_session_open_recording(RECORDING, NULL, &product->replay);

	while (r == 0) {
		r = watt_session_next_snapshot(product->replay, &next);
		if (r)
			break;
		watt_snapshot_unref(product->last);
		product->last = next;
	}
	if (r < 0 || !product->last)
		die("replay: %s", strerror(-r));
}

struct product *product_record(const char *sources, const char *command)
{
	struct product *product = calloc(1, sizeof(*product));
	json_error_t error;

	if (!product)
		die("out of memory");
	/* an emulated machine that others keep busy has no time for a reading each ms */
	run("wattribute record -q -f -r 200Hz -o " RECORDING " --sources=%s -- %s", sources,
	    command);
	run("wattribute report --json " RECORDING " >" REPORT);
	product->report = json_load_file(REPORT, 0, &error);
	if (!product->report)
		die("report: line %d: %s", error.line, error.text);
	read_samples(product);
	read_states(product);
	return product;
}

struct product *product_free(struct product *product)
{
	if (!product)
		return NULL;
	watt_snapshot_unref(product->last);
	watt_session_close(product->replay);
	json_decref(product->report);
	free(product->samples);
	free(product->chosen);
	free(product);
	return NULL;
}

/* By the end of its name: numbers of devices are not known before. */
static size_t find_channel(const struct product *product, const char *end)
{
	size_t i, n = watt_session_get_channel_count(product->replay);

	for (i = 0; i < n; i++) {
		const char *name = watt_session_get_channel(product->replay, i)->name;

		if (strlen(name) >= strlen(end) && !strcmp(name + strlen(name) - strlen(end), end))
			return i;
	}
	die("there is no channel %s", end);
}

const struct watt_channel *product_get_channel(const struct product *product, const char *channel)
{
	return watt_session_get_channel(product->replay, find_channel(product, channel));
}

const struct watt_sample *product_get_samples(const struct product *product, const char *channel,
					      size_t *ret_n)
{
	uint32_t index = (uint32_t)find_channel(product, channel);
	size_t i, n = 0;

	for (i = 0; i < product->n_samples; i++)
		if (product->samples[i].channel == index)
			product->chosen[n++] = product->samples[i];
	*ret_n = n;
	return product->chosen;
}

static uint64_t count_of(const json_t *domain, const char *key)
{
	const json_t *value = json_object_get(domain, key);

	if (!json_is_integer(value))
		die("the report has no number '%s'", key);
	return (uint64_t)json_integer_value(value);
}

static const json_t *find_domain(const json_t *in, const char *path)
{
	const json_t *domains = json_object_get(in, "domains"), *domain;
	size_t i;

	json_array_foreach(domains, i, domain)
	{
		const char *found = json_string_value(json_object_get(domain, "path"));

		if (found && !strcmp(found, path))
			return domain;
	}
	die("the report has no domain %s", path);
}

void product_get_domain(const struct product *product, const char *channel,
			struct product_domain *ret)
{
	int index =
		watt_session_get_channel_domain(product->replay, find_channel(product, channel));
	const struct watt_domain_state *state =
		watt_snapshot_get_domain_state(product->last, (size_t)index);
	const json_t *domain;

	if (!state)
		die("%s is of no domain", channel);
	*ret = (struct product_domain){ .t_ns = state->t_ns };
	snprintf(ret->path, sizeof(ret->path), "%s",
		 watt_session_get_domain(product->replay, (size_t)index)->path);
	domain = find_domain(product->report, ret->path);
	snprintf(ret->status, sizeof(ret->status), "%s",
		 json_string_value(json_object_get(domain, "status")));
	ret->is_known = json_is_integer(json_object_get(domain, "energy_nj"));
	ret->energy_nj = json_integer_value(json_object_get(domain, "energy_nj"));
	ret->samples = count_of(domain, "samples");
	ret->errors = count_of(domain, "errors");
	ret->wraps = count_of(domain, "wraps");
	ret->resets = count_of(domain, "resets");
	ret->gaps = count_of(domain, "gaps");
	ret->ambiguous = count_of(domain, "ambiguous");
	ret->gap_s = json_number_value(json_object_get(domain, "gap_s"));
}

void product_stat(const char *sources, const char *command, const char *const *paths, size_t n,
		  struct product_stat *ret)
{
	json_error_t error;
	json_t *report;
	size_t i;

	run("wattribute stat --json -o " REPORT " --sources=%s -- %s", sources, command);
	report = json_load_file(REPORT, 0, &error);
	if (!report)
		die("stat: line %d: %s", error.line, error.text);
	for (i = 0; i < n; i++) {
		const json_t *one = json_array_get(json_object_get(report, "runs"), 0);
		const json_t *domain = find_domain(one, paths[i]);

		ret[i] = (struct product_stat){
			.is_known = json_is_integer(json_object_get(domain, "machine_energy_nj")),
			.energy_nj =
				json_integer_value(json_object_get(domain, "machine_energy_nj")),
			.errors = count_of(domain, "errors"),
			.resets = count_of(domain, "resets"),
			.ambiguous = count_of(domain, "ambiguous"),
			.gap_s = json_number_value(json_object_get(domain, "gap_s")),
		};
	}
	json_decref(report);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What is chosen is checked before any file is opened; a file is there only when it is whole. */
#include "conversion.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <wattribute/sink.h>

#include "message.h"
#include "output.h"
#include "recording.h"
#include "sink_file.h"
#include "xalloc.h"

int conversion_take(struct conversion *conversion, int code)
{
	switch (code) {
	case 'o':
		conversion->output = optarg;
		return 0;
	case CONVERSION_FORCE:
		conversion->can_replace = true;
		return 0;
	default:
		return excerpt_take(&conversion->excerpt, code);
	}
}

int conversion_take_all(struct conversion *conversion, int argc, char **argv, const char *letters,
			const struct option *longs, int (*take_own)(void *data, int code),
			void *data)
{
	int r;

	r = options_take(&conversion->common, argc, argv, letters, longs, take_own, data);
	if (r < 0)
		return r;
	if (conversion->common.is_help)
		return 0;
	return options_take_recording(&conversion->common, argc, argv, &conversion->path);
}

void conversion_choose(struct conversion *conversion, const char *option, const char *value)
{
	size_t i;

	/* What is said last is meant. */
	for (i = 0; i < conversion->n_choices; i++)
		if (strcmp(conversion->choices[i].option, option) == 0) {
			conversion->choices[i].value = value;
			return;
		}
	assert(conversion->n_choices < CONVERSION_CHOICES);
	conversion->choices[conversion->n_choices++] = (struct conversion_choice){ option, value };
}

/* ---- the sink ---- */

static const char *values_of(const char *format, const char *name)
{
	const struct watt_sink_option *option = watt_sink_find_info(format)->options;

	for (; option && option->name; option++)
		if (strcmp(option->name, name) == 0)
			return option->values;
	return "";
}

static int choose(struct watt_sink *sink, const struct conversion *conversion,
		  const struct conversion_choice *choice)
{
	auto_free char *flag = xasprintf("--%s", choice->option);
	int r;

	r = watt_sink_set(sink, choice->option, choice->value);
	if (r == -ENOENT)
		message_usage("%s has no %s", conversion->format, flag);
	else if (r < 0)
		options_bad_value(flag, choice->value,
				  values_of(conversion->format, choice->option));
	return r < 0 ? -EINVAL : 0;
}

static int open_sink(const struct conversion *conversion, FILE *const *file, struct watt_sink **ret)
{
	size_t i;
	int r;

	r = sink_file_open(conversion->format, file, ret);
	for (i = 0; i < conversion->n_choices && r == 0; i++)
		r = choose(*ret, conversion, &conversion->choices[i]);
	return r;
}

/* ---- telling ---- */

static int put(struct watt_sink *sink, const struct conversion *conversion,
	       const struct recording *recording, FILE *file)
{
	struct watt_excerpt part = { .sz = sizeof(part),
				     .from_ns = recording->from_ns,
				     .to_ns = recording->to_ns,
				     .window_ns = conversion->excerpt.window_ns ?
							  conversion->excerpt.window_ns :
							  conversion->window_ns,
				     .options = conversion->common.session };
	unsigned int errors = message_get_error_count();
	int r;

	r = watt_sink_put_recording(sink, recording->path, &part);
	if (r < 0 && !ferror(file) && message_get_error_count() == errors)
		message_error("cannot read %s: %s", recording->path, strerror(-r));
	return r == -ENOENT ? -EINVAL : r; /* the file is there: an option names what is not */
}

/* A trace becomes a trace of the same samples, unless windows of it are asked for. */
static bool is_copy(const struct conversion *conversion, const struct recording *recording)
{
	const struct excerpt *excerpt = &conversion->excerpt;

	return strcmp(conversion->format, "nvmt") == 0 && !conversion->other &&
	       !excerpt->window_ns && !excerpt->from.kind && !excerpt->to.kind &&
	       strcmp(recording->info->writer, "NVMT 1") == 0;
}

static int copy_trace(const struct conversion *conversion, const struct recording *recording,
		      struct output *output)
{
	int r = watt_recording_write_trace(recording->rec, fileno(output->file));

	if (r < 0)
		message_error("cannot write %s: %s",
			      conversion->output ? conversion->output : "the output", strerror(-r));
	return r < 0 ? r : output_commit(output);
}

static int write_all(struct watt_sink *sink, const struct conversion *conversion,
		     const struct recording *recording, const struct recording *other,
		     struct output *output)
{
	unsigned int errors = message_get_error_count();
	int r;

	r = put(sink, conversion, recording, output->file);
	if (r == 0 && other)
		r = put(sink, conversion, other, output->file);
	if (r == 0)
		r = watt_sink_finish(sink);
	if (r < 0 && message_get_error_count() == errors)
		message_error("cannot write %s: %s",
			      conversion->output ? conversion->output : "the output", strerror(-r));
	return r < 0 ? r : output_commit(output);
}

int conversion_run(const struct conversion *conversion)
{
	/* What is compared is the same part of both only if a person says so: all of the other. */
	static const struct time_arg any = { 0 };
	struct recording recording = { 0 }, other = { 0 };
	struct output output = { 0 };
	struct watt_sink *sink = NULL;
	int r;

	r = open_sink(conversion, &output.file, &sink);
	if (r == 0)
		r = recording_open(&recording, conversion->path, &conversion->excerpt.from,
				   &conversion->excerpt.to);
	if (r == 0 && conversion->other)
		r = recording_open(&other, conversion->other, &any, &any);
	if (r == 0) {
		r = output_open(&output, conversion->output, conversion->can_replace);
		if (r == 0 && is_copy(conversion, &recording))
			r = copy_trace(conversion, &recording, &output);
		else if (r == 0)
			r = write_all(sink, conversion, &recording,
				      conversion->other ? &other : NULL, &output);
		output_discard(&output);
	}
	watt_sink_close(sink);
	recording_close(&other);
	recording_close(&recording);
	return r;
}

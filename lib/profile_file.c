/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads profiles, wattribute-profile(5), which anybody may have written: what is not as it has to be
 * is refused with where it is and what it should be. Whole or not at all.
 */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "base/log.h"
#include "base/parse.h"
#include "base/profile.h"
#include "profile.h"

#define SCHEMA "wattribute-profile-1"
#define NAME_MAX_BYTES 4096
#define DEPTH_MAX 8
/* Of seconds and slices: more nobody lives to see. */
#define COUNT_MAX 1e15

/* Where the reader is, for people. */
struct place {
	const struct watt_log *log;
	char text[64];
	int r;
};

__attribute__((format(printf, 2, 3))) static int refuse(struct place *place, const char *format,
							...)
{
	char text[256];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	if (place->r == 0)
		watt_log(place->log, WATT_LOG_ERROR, "the profile is not valid: %s%s%s",
			 place->text, *place->text ? ": " : "", text);
	return place->r = -EBADMSG;
}

static double take_number(struct place *place, const json_t *object, const char *key, double least,
			  double most)
{
	const json_t *value = json_object_get(object, key);
	double number = json_number_value(value);

	if (!json_is_number(value) || !isfinite(number) || number < least || number > most)
		refuse(place, "'%s' has to be a number from %g to %g", key, least, most);
	return number;
}

static uint64_t take_count(struct place *place, const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);
	json_int_t number = json_integer_value(value);

	if (!json_is_integer(value) || number < 0 || number > (json_int_t)COUNT_MAX) {
		refuse(place, "'%s' has to be a whole number from 0 on", key);
		return 0;
	}
	return (uint64_t)number;
}

/* A text without what no name has; NULL: null, where that is allowed. */
static const char *take_text(struct place *place, const json_t *object, const char *key,
			     bool may_lack)
{
	const json_t *value = json_object_get(object, key);
	const char *text = json_string_value(value);

	if (may_lack && json_is_null(value))
		return NULL;
	if (!text || !*text || strlen(text) != json_string_length(value) ||
	    strlen(text) > NAME_MAX_BYTES) {
		refuse(place, "'%s' has to be a text%s of at most %d bytes", key,
		       may_lack ? " or null" : "", NAME_MAX_BYTES);
		return "";
	}
	return text;
}

static const json_t *take_array(struct place *place, const json_t *object, const char *key,
				size_t most)
{
	const json_t *value = json_object_get(object, key);

	if (!json_is_array(value) || json_array_size(value) > most)
		refuse(place, "'%s' has to be an array of at most %zu", key, most);
	return value;
}

static void take_program(struct place *place, const json_t *object, struct watt_profile_part *part)
{
	struct watt_profile_program program = {
		.name = take_text(place, object, "name", false),
		.cgroup = take_text(place, object, "cgroup", true),
		.is_executable = json_is_true(json_object_get(object, "is_executable")),
		.power_w = take_number(place, object, "power_w", 0, WATT_PROFILE_WATTS_MAX),
		.uncertainty_w =
			take_number(place, object, "uncertainty_w", 0, WATT_PROFILE_WATTS_MAX),
		.cpu_s = take_number(place, object, "cpu_s", 0, COUNT_MAX),
		.n_slices = take_count(place, object, "n_slices"),
	};

	if (!json_is_boolean(json_object_get(object, "is_executable")))
		refuse(place, "'is_executable' has to be true or false");
	if (place->r == 0 &&
	    watt_profile_find_program(part, program.name, program.cgroup, program.is_executable))
		refuse(place, "its name is there twice");
	if (place->r == 0)
		place->r = watt_profile_add_program(part, &program);
}

static enum watt_domain_kind take_kind(struct place *place, const json_t *object)
{
	const char *text = take_text(place, object, "kind", false);
	unsigned int kind;

	for (kind = 0; kind <= WATT_DOMAIN_RESIDUAL; kind++)
		if (!strcmp(watt_domain_kind_name((enum watt_domain_kind)kind), text))
			return (enum watt_domain_kind)kind;
	refuse(place, "'kind' is no kind of domains that is known");
	return WATT_DOMAIN_RESIDUAL;
}

static enum watt_share_key take_key(struct place *place, const json_t *object)
{
	const char *text = take_text(place, object, "key", false);
	unsigned int key;

	for (key = 0; key < WATT_KEY_AUTO; key++)
		if (!strcmp(watt_share_key_name((enum watt_share_key)key), text))
			return (enum watt_share_key)key;
	refuse(place, "'key' is no share key that is known");
	return WATT_KEY_NONE;
}

static void take_curve(struct place *place, const json_t *object, double *ret)
{
	const json_t *list = take_array(place, object, "curve_ratio", WATT_PROFILE_CURVE);
	size_t i;

	if (place->r == 0 && json_array_size(list) != WATT_PROFILE_CURVE)
		refuse(place, "'curve_ratio' has to have %d numbers", WATT_PROFILE_CURVE);
	for (i = 0; i < WATT_PROFILE_CURVE && place->r == 0; i++) {
		const json_t *value = json_array_get(list, i);

		ret[i] = json_number_value(value);
		if (!json_is_number(value) || !(ret[i] >= 1e-3) || !(ret[i] <= 1e3))
			refuse(place, "'curve_ratio' has to have numbers from 0.001 to 1000");
	}
}

static void take_domain(struct place *place, const json_t *object, struct watt_profile *profile)
{
	size_t at = strlen(place->text), i;
	struct watt_profile_domain domain = {
		.path = take_text(place, object, "path", false),
		.kind = take_kind(place, object),
		.key = take_key(place, object),
		.n_slices = take_count(place, object, "n_slices"),
		.mean_w = take_number(place, object, "mean_w", 0, WATT_PROFILE_WATTS_MAX),
		.spread_w = take_number(place, object, "spread_w", 0, WATT_PROFILE_WATTS_MAX),
		.readiness_ppm =
			(uint32_t)(take_number(place, object, "readiness_ratio", 0, 1) * 1e6),
		.significance_ratio =
			take_number(place, object, "significance_ratio", 0, COUNT_MAX),
	};
	const json_t *programs = take_array(place, object, "programs", WATT_PROFILE_PROGRAMS_MAX);
	struct watt_profile_part *part;

	take_curve(place, object, domain.curve_ratio);
	if (place->r < 0)
		return;
	part = watt_profile_add_domain(profile, &domain);
	if (!part)
		place->r = -ENOMEM;
	for (i = 0; i < json_array_size(programs) && place->r == 0; i++) {
		snprintf(place->text + at, sizeof(place->text) - at, ".programs[%zu]", i);
		take_program(place, json_array_get(programs, i), part);
	}
	place->text[at] = '\0';
}

static void take_profile(struct place *place, const json_t *doc, struct watt_profile *profile)
{
	const char *schema = json_string_value(json_object_get(doc, "schema"));
	const json_t *domains;
	size_t i;

	if (!schema || strcmp(schema, SCHEMA) != 0) {
		refuse(place, "its 'schema' is not '%s'", SCHEMA);
		return;
	}
	domains = take_array(place, doc, "domains", WATT_PROFILE_DOMAINS_MAX);
	for (i = 0; i < json_array_size(domains) && place->r == 0; i++) {
		snprintf(place->text, sizeof(place->text), "domains[%zu]", i);
		take_domain(place, json_array_get(domains, i), profile);
	}
}

int watt_profile_parse(const char *text, size_t len, watt_log_fn fn, void *data,
		       struct watt_profile **ret)
{
	const struct watt_log log = { fn, data };
	struct place place = { .log = &log };
	struct watt_profile *profile;
	json_error_t error = { 0 };
	json_t *doc;

	if (!text || !ret)
		return -EINVAL;
	if (len > WATT_PROFILE_TEXT_MAX || watt_parse_is_deeper(text, len, DEPTH_MAX))
		return refuse(&place, "it is larger or deeper than a profile can be");
	doc = json_loadb(text, len, JSON_REJECT_DUPLICATES, &error);
	if (!doc)
		return json_error_code(&error) == json_error_out_of_memory ?
			       -ENOMEM :
			       refuse(&place, "line %d: %s", error.line, error.text);
	profile = watt_profile_new();
	if (!profile)
		place.r = -ENOMEM;
	else
		take_profile(&place, doc, profile);
	json_decref(doc);
	if (place.r < 0) {
		watt_profile_free(profile);
		return place.r;
	}
	*ret = profile;
	return 0;
}

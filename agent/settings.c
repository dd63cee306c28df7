/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one table of settings, and what takes and prints values by it. Where a value comes from
 * (file, environment, flag) is known here only as a text for errors.
 */
#include "settings.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "number.h"
#include "text.h"
#include "xalloc.h"

#define MS 1000000ULL
#define SECOND (1000 * MS)
#define HOUR (3600 * SECOND)
#define TEXT_MAX 4096
#define ENVIRONMENT_PREFIX "WATTRIBUTE_"

#define TEXT(name, value, help) \
	{ \
		name, SETTING_TEXT, 0, TEXT_MAX, NULL, value, help \
	}
#define BOOL(name, value, help) \
	{ \
		name, SETTING_BOOL, 0, 1, NULL, value, help \
	}
#define COUNT(name, least, most, value, help) \
	{ \
		name, SETTING_COUNT, least, most, NULL, value, help \
	}
#define TIME(name, least, most, value, help) \
	{ \
		name, SETTING_TIME, least, most, NULL, value, help \
	}
#define CHOICE(name, words, value, help) \
	{ \
		name, SETTING_CHOICE, 0, 0, words, value, help \
	}
#define LIST(name, words, value, help) \
	{ \
		name, SETTING_LIST, 0, 0, words, value, help \
	}

/* clang-format off */
static const struct setting table[SETTING_N] = {
	[SETTING_LISTEN] = TEXT("listen", "127.0.0.1:9753",
		"ADDRESS:PORT to serve on; several joined by commas"),
	[SETTING_CONNECTIONS] = COUNT("connections", 1, 10000, "256",
		"connections at a time"),
	[SETTING_CONNECTION_TIMEOUT] = TIME("connection_timeout", SECOND, HOUR, "10s",
		"a connection that says nothing for so long is closed"),
	[SETTING_WEB_CONFIG] = TEXT("web_config", "",
		"file that says who may ask: TLS, client certificates, passwords"),
	[SETTING_USER] = TEXT("user", "",
		"user to become, with what reading takes and no other right"),
	[SETTING_INTERVAL] = TIME("interval", 50 * MS, HOUR, "1s",
		"how often what is served is brought up to date"),
	[SETTING_LEVELS] = LIST("levels", "process|container|pod|unit|user|vm",
		"process,container,pod,unit,user,vm",
		"who is told of"),
	[SETTING_LEVEL_DOMAINS] = CHOICE("level_domains", "partition|all", "partition",
		"domains that users are told of: those that don't overlap, or all"),
	[SETTING_TOP] = COUNT("top", 1, 10000, "100",
		"users told of by name in each level; the rest is summed in 'other'"),
	[SETTING_MIN_AGE] = TIME("min_age", 0, HOUR, "10s",
		"processes that are younger are summed in 'other'"),
	[SETTING_KEEP_ENDED] = TIME("keep_ended", 0, 24 * HOUR, "5min",
		"how long who has ended is told of"),
	[SETTING_CREATED] = BOOL("created", "true",
		"say in OpenMetrics when each counter began"),
	[SETTING_COMPAT] = LIST("compat", "kepler|scaphandre|tycho", "",
		"other meters under whose names metrics are served, too"),
	[SETTING_LOG_LEVEL] = CHOICE("log_level", "warning|info|debug", "warning",
		"how much is told on standard error"),
	[SETTING_SOURCES] = TEXT("sources", "",
		"power sources to use; '-NAME' leaves one out"),
	[SETTING_USAGE] = CHOICE("usage", "auto|bpf|procfs|synth", "auto",
		"who tells what ran"),
	[SETTING_PRECISE] = BOOL("precise", "false",
		"count at context switches, too: cycles, instructions, siblings"),
	[SETTING_SLICE] = TIME("slice", 1 * MS, 10 * SECOND, "50ms",
		"time over which energy is attributed at once"),
	[SETTING_PERIOD] = TIME("period", 1 * MS, 10 * SECOND, "50ms",
		"reading period of fast sensors"),
	[SETTING_RATES] = TEXT("rates", "",
		"how often sources are read: SOURCE=RATE,..."),
	[SETTING_DELAYS] = TEXT("delays", "",
		"delays of sensors to assume: CHANNEL=MS,..."),
	[SETTING_IDLE_POLICY] = CHOICE("idle_policy", "separate|proportional|requests", "separate",
		"what becomes of idle energy"),
	[SETTING_SHARE_KEYS] = TEXT("share_keys", "",
		"how energy is shared: KEY, or DOMAIN=KEY,..."),
	[SETTING_PRIOR] = TEXT("prior", "",
		"profile of programs to begin with, from 'wattribute learn'"),
	[SETTING_PRIVACY] = CHOICE("privacy", "names|own|users|all", "own",
		"whose command lines are told"),
	[SETTING_CONFIG] = TEXT("config", "",
		"file with rules for sensors and models"),
	[SETTING_MACHINE] = TEXT("machine", "",
		"captured machine to read instead of this one"),
	[SETTING_SYSFS_ROOT] = TEXT("sysfs_root", "",
		"folder to read instead of /sys"),
	[SETTING_PROCFS_ROOT] = TEXT("procfs_root", "",
		"folder to read instead of /proc"),
	[SETTING_NVML_LIB] = TEXT("nvml_lib", "",
		"library to load instead of libnvidia-ml.so.1"),
	[SETTING_REDFISH_URL] = TEXT("redfish_url", "",
		"BMC that measures the machine: https://HOST"),
	[SETTING_REDFISH_AUTH] = TEXT("redfish_auth", "",
		"file with users and passwords for it"),
	[SETTING_REDFISH_TLS] = TEXT("redfish_tls", "",
		"which BMC is trusted: FILE, sha256//PIN, insecure"),
	[SETTING_METER] = TEXT("meter", "",
		"instrument: unix:PATH, tcp:HOST:PORT, exec:COMMAND, nut:UPS@HOST"),
	[SETTING_KUBELET_URL] = TEXT("kubelet_url", "",
		"who knows pods: https://NODE:10250, or an API server's list"),
	[SETTING_KUBELET_TOKEN] = TEXT("kubelet_token", "",
		"file with the token for it (that of our own pod)"),
	[SETTING_KUBELET_TLS] = TEXT("kubelet_tls", "",
		"which one is trusted: FILE, sha256//PIN, insecure"),
	[SETTING_OTLP_URL] = TEXT("otlp_url", "",
		"receiver of OTLP over HTTP to push to: http://HOST:4318"),
	[SETTING_OTLP_INTERVAL] = TIME("otlp_interval", 100 * MS, HOUR, "1min",
		"how often"),
	[SETTING_OTLP_HEADERS] = TEXT("otlp_headers", "",
		"file with headers for it, such as 'Authorization: ...'"),
	[SETTING_OTLP_TLS] = TEXT("otlp_tls", "",
		"which one is trusted: FILE, insecure"),
	[SETTING_OTLP_QUEUE] = TEXT("otlp_queue", "",
		"folder for what waits, so that it survives a restart"),
	[SETTING_OTLP_QUEUE_MIB] = COUNT("otlp_queue_mib", 1, 65536, "64",
		"at most so much waits; the oldest is lost"),
	[SETTING_RECORDINGS] = TEXT("recordings", "",
		"folder for recordings on demand; without it there are none"),
	[SETTING_RECORDINGS_MOST] = COUNT("recordings_most", 1, 1000, "10",
		"at most so many are kept; none is begun beyond that"),
	[SETTING_RECORDING_MIB] = COUNT("recording_mib", 1, 65536, "256",
		"a recording ends when it is so large"),
};
/* clang-format on */

const struct setting *setting_get(enum setting_id id)
{
	return &table[id];
}

__attribute__((format(printf, 2, 3))) static int complain(struct settings *settings,
							  const char *format, ...)
{
	char text[sizeof(settings->error)];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	/* A value may have anything in it; a sentence is one line. */
	text_clean(settings->error, sizeof(settings->error), text);
	return -EINVAL;
}

/* "1 h", "50 ms": the greatest unit that leaves it whole. */
static const char *print_time(uint64_t time_ns, char *buf, size_t size)
{
	static const struct {
		uint64_t unit_ns;
		const char *name;
	} units[] = { { HOUR, "h" }, { 60 * SECOND, "min" }, { SECOND, "s" }, { MS, "ms" } };
	size_t i;

	for (i = 0; i + 1 < ARRAY_SIZE(units) && (!time_ns || time_ns % units[i].unit_ns);)
		i++;
	snprintf(buf, size, "%" PRIu64 "%s", time_ns / units[i].unit_ns, units[i].name);
	return buf;
}

/* "a, b or c" of "a|b|c". */
static const char *print_words(const char *words, const char *last, char *buf, size_t size)
{
	size_t n = 0;

	for (; *words && n + 8 < size; words++) {
		if (*words != '|')
			buf[n++] = *words;
		else
			n += (size_t)snprintf(buf + n, size - n, "%s",
					      strchr(words + 1, '|') ? ", " : last);
	}
	buf[n] = '\0';
	return buf;
}

const char *setting_range(const struct setting *setting, char *buf, size_t size)
{
	char least[32], most[32];

	switch (setting->type) {
	case SETTING_TEXT:
		snprintf(buf, size, "a text of at most %" PRIu64 " bytes", setting->most);
		return buf;
	case SETTING_BOOL:
		snprintf(buf, size, "true or false");
		return buf;
	case SETTING_COUNT:
		snprintf(buf, size, "a number from %" PRIu64 " to %" PRIu64, setting->least,
			 setting->most);
		return buf;
	case SETTING_TIME:
		snprintf(buf, size, "a time with its unit, from %s to %s",
			 print_time(setting->least, least, sizeof(least)),
			 print_time(setting->most, most, sizeof(most)));
		return buf;
	case SETTING_CHOICE:
		return print_words(setting->words, " or ", buf, size);
	case SETTING_LIST:
		return print_words(setting->words, " and ", buf, size);
	}
	return "";
}

/* Position of a word in "a|b|c"; -1: it is none of them. */
static int find_word(const char *words, const char *word, size_t n)
{
	int i = 0;

	for (;; i++) {
		size_t len = strcspn(words, "|");

		if (len == n && strncmp(words, word, n) == 0)
			return i;
		if (!words[len])
			return -1;
		words += len + 1;
	}
}

static int parse_list(const char *words, const char *text, uint64_t *ret)
{
	uint64_t bits = 0;

	while (*text) {
		size_t n = strcspn(text, ",");
		int i = find_word(words, text, n);

		if (i < 0)
			return -EINVAL;
		bits |= 1ULL << i;
		text += n;
		if (*text == ',' && !*++text)
			return -EINVAL;
	}
	*ret = bits;
	return 0;
}

/* A duration of 0 is said without a unit or with any. */
static int parse_time(const char *text, uint64_t *ret_ns)
{
	size_t n = strspn(text, "0");

	if (n && (!text[n] || !strcmp(text + n, "s") || !strcmp(text + n, "ms"))) {
		*ret_ns = 0;
		return 0;
	}
	/* A bare number could be anything. */
	if (!text[strspn(text, "0123456789.")])
		return -EINVAL;
	return number_duration(text, SECOND, ret_ns);
}

static int parse(const struct setting *setting, const char *text, uint64_t *ret)
{
	int word;

	switch (setting->type) {
	case SETTING_TEXT:
		return strlen(text) <= setting->most ? 0 : -EINVAL;
	case SETTING_BOOL:
		*ret = strcmp(text, "true") == 0;
		return *ret || strcmp(text, "false") == 0 ? 0 : -EINVAL;
	case SETTING_COUNT:
		return number_count(text, setting->least, setting->most, ret);
	case SETTING_TIME:
		if (parse_time(text, ret) < 0)
			return -EINVAL;
		return *ret >= setting->least && *ret <= setting->most ? 0 : -EINVAL;
	case SETTING_CHOICE:
		word = find_word(setting->words, text, strlen(text));
		*ret = (uint64_t)word;
		return word < 0 ? -EINVAL : 0;
	case SETTING_LIST:
		return parse_list(setting->words, text, ret);
	}
	return -EINVAL;
}

int settings_take(struct settings *settings, enum setting_id id, const char *text,
		  const char *where)
{
	struct setting_value *value = &settings->values[id];
	const struct setting *setting = &table[id];
	uint64_t number = 0;
	char range[256];

	if (parse(setting, text, &number) < 0)
		return complain(settings, "%s: %s: '%.80s' is not %s%s", where, setting->name, text,
				setting->type == SETTING_CHOICE ? "" :
				setting->type == SETTING_LIST   ? "a list of " :
								  "",
				setting_range(setting, range, sizeof(range)));
	free(value->text);
	free(value->where);
	value->text = xstrdup(text);
	value->where = xstrdup(where);
	value->number = number;
	return 0;
}

void settings_init(struct settings *settings)
{
	int id;

	memset(settings, 0, sizeof(*settings));
	for (id = 0; id < SETTING_N; id++) {
		settings_take(settings, (enum setting_id)id, table[id].value, "default");
		free(settings->values[id].where);
		settings->values[id].where = NULL;
	}
}

void settings_done(struct settings *settings)
{
	int id;

	for (id = 0; id < SETTING_N; id++) {
		free(settings->values[id].text);
		free(settings->values[id].where);
	}
	memset(settings, 0, sizeof(*settings));
}

/* Names differ in case and in what joins their words: keep_ended, KEEP_ENDED. */
static int find_variable(const char *name, size_t n)
{
	int id;

	for (id = 0; id < SETTING_N; id++)
		if (strlen(table[id].name) == n && strncasecmp(table[id].name, name, n) == 0)
			return id;
	return -1;
}

/* What is no setting: the address of marks, and who we are to a BMC, which is shown to nobody. */
static bool is_foreign(const char *name, size_t n)
{
	static const char *const names[] = { "MARKS", "REDFISH_USER", "REDFISH_PASSWORD" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (strlen(names[i]) == n && strncmp(name, names[i], n) == 0)
			return true;
	return false;
}

int settings_take_environment(struct settings *settings, const char *const *environment)
{
	size_t prefix = strlen(ENVIRONMENT_PREFIX);

	for (; *environment; environment++) {
		const char *name = *environment + prefix, *equals;
		char where[64];
		size_t n;
		int id, r;

		if (strncmp(*environment, ENVIRONMENT_PREFIX, prefix) != 0)
			continue;
		equals = strchr(name, '=');
		n = equals ? (size_t)(equals - name) : strlen(name);
		if (!equals || is_foreign(name, n))
			continue;
		id = find_variable(name, n);
		if (id < 0)
			return complain(settings,
					"environment: %.60s is no setting; 'wattribute agent "
					"--print-config' lists them",
					*environment);
		snprintf(where, sizeof(where), "environment " ENVIRONMENT_PREFIX "%.*s", (int)n,
			 name);
		r = settings_take(settings, (enum setting_id)id, equals + 1, where);
		if (r < 0)
			return r;
	}
	return 0;
}

int settings_check(struct settings *settings)
{
	const struct setting_value *interval = &settings->values[SETTING_INTERVAL];
	const struct setting_value *slice = &settings->values[SETTING_SLICE];

	if (interval->number < slice->number)
		return complain(settings,
				"interval (%s, %s) is shorter than slice (%s, %s): nothing new "
				"would be there; raise the one or lower the other",
				interval->text, interval->where ? interval->where : "default",
				slice->text, slice->where ? slice->where : "default");
	return 0;
}

const char *settings_text(const struct settings *settings, enum setting_id id)
{
	return settings->values[id].text;
}

const char *settings_text_or_null(const struct settings *settings, enum setting_id id)
{
	return *settings->values[id].text ? settings->values[id].text : NULL;
}

uint64_t settings_number(const struct settings *settings, enum setting_id id)
{
	return settings->values[id].number;
}

bool settings_is_made(const struct settings *settings, enum setting_id id)
{
	return settings->values[id].where;
}

/* As YAML: in quotes, so that nothing in it means anything. */
static void print_quoted(const char *text, FILE *out)
{
	putc('"', out);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fprintf(out, "\\%c", *text);
		else if ((unsigned char)*text < 0x20 || *text == 0x7f)
			fprintf(out, "\\x%02x", (unsigned char)*text);
		else
			putc(*text, out);
	}
	putc('"', out);
}

void settings_print(const struct settings *settings, FILE *out)
{
	char range[256];
	int id;

	for (id = 0; id < SETTING_N; id++) {
		const struct setting_value *value = &settings->values[id];
		const struct setting *setting = &table[id];

		fprintf(out, "# %s (%s)\n", setting->help,
			setting_range(setting, range, sizeof(range)));
		if (value->where)
			fprintf(out, "# from: %s\n", value->where);
		fprintf(out, "%s: ", setting->name);
		if (setting->type == SETTING_TEXT || setting->type == SETTING_LIST)
			print_quoted(value->text, out);
		else
			fputs(value->text, out);
		putc('\n', out);
	}
}

#define HELP_COLUMN 24
#define HELP_WIDTH 80

void settings_print_help(FILE *out)
{
	char flag[64], text[256];
	const char *p;
	size_t n;
	int id;

	for (id = 0; id < SETTING_N; id++) {
		const struct setting *setting = &table[id];

		n = (size_t)snprintf(flag, sizeof(flag), "--");
		for (p = setting->name; *p; p++)
			flag[n++] = *p == '_' ? '-' : *p;
		flag[n] = '\0';
		snprintf(text, sizeof(text), "%s%s%s%s", setting->help, *setting->value ? " (" : "",
			 setting->value, *setting->value ? ")" : "");
		fprintf(out, "  %-20s  ", flag);
		text_wrap(out, text, HELP_COLUMN, HELP_COLUMN, HELP_WIDTH);
	}
}

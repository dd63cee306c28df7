/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options: setters, and their one grammar as text. What only the machine knows, its domains and
 * channels, is not looked at here.
 */
#include "options.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attrib/key.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/parse.h"
#include "base/util.h"
#include "source/source.h"

#define MIN_TIME_NS WATT_NSEC_PER_MSEC
#define MAX_TIME_NS (60 * WATT_NSEC_PER_SEC)
#define MAX_SOURCE_PERIOD_NS (3600 * WATT_NSEC_PER_SEC)
#define MAX_OPEN_WAIT_MS 60000u
#define MAX_DELAY_NS (60 * WATT_NSEC_PER_SEC)

/* ---- the object ---- */

int watt_options_new(struct watt_options **ret)
{
	if (!ret)
		return -EINVAL;
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
}

/* A field by its place: options may be NULL. */
#define FIELD(name) offsetof(struct watt_options, name)

/* What is owned. */
static const size_t texts[] = { FIELD(machine),
				FIELD(sysfs_root),
				FIELD(procfs_root),
				FIELD(nvml_lib),
				FIELD(state_dir),
				FIELD(redfish_url),
				FIELD(meter),
				FIELD(redfish_auth),
				FIELD(redfish_tls),
				FIELD(redfish_user),
				FIELD(redfish_password),
				FIELD(kubelet_url),
				FIELD(kubelet_token),
				FIELD(kubelet_tls),
				FIELD(config),
				FIELD(usage),
				FIELD(prior) };

static const size_t lists[] = { FIELD(sources), FIELD(rates), FIELD(share_keys), FIELD(delays) };

static char **text_at(struct watt_options *options, size_t place)
{
	return (char **)((char *)options + place);
}

static struct watt_rules *list_at(struct watt_options *options, size_t place)
{
	return (struct watt_rules *)((char *)options + place);
}

int watt_options_init(struct watt_options *to, const struct watt_options *from)
{
	struct watt_options said = { 0 };
	size_t i;
	int r = 0;

	if (from)
		said = *from;
	*to = said;
	to->problem[0] = '\0';
	for (i = 0; i < WATT_ARRAY_SIZE(texts); i++)
		*text_at(to, texts[i]) = watt_strdup(*text_at(&said, texts[i]), &r);
	for (i = 0; i < WATT_ARRAY_SIZE(lists); i++) {
		*list_at(to, lists[i]) = (struct watt_rules){ 0 };
		r |= watt_rules_join(list_at(to, lists[i]), list_at(&said, lists[i]));
	}
	if (r == 0)
		return 0;
	watt_options_done(to);
	return -ENOMEM;
}

static void fill_text(char **to, char **from)
{
	if (*to)
		return;
	*to = *from;
	*from = NULL;
}

/* The others' first: the last word on a name holds. */
static int fill_rules(struct watt_rules *to, struct watt_rules *from)
{
	struct watt_rules ours = *to;
	int r;

	*to = *from;
	*from = (struct watt_rules){ 0 };
	r = watt_rules_join(to, &ours);
	watt_rules_clear(&ours);
	return r;
}

int watt_options_fill(struct watt_options *options, struct watt_options *others)
{
	size_t i;
	int r = 0;

	for (i = 0; i < WATT_ARRAY_SIZE(texts); i++)
		fill_text(text_at(options, texts[i]), text_at(others, texts[i]));
	options->slice_ns = options->slice_ns ? options->slice_ns : others->slice_ns;
	options->period_ns = options->period_ns ? options->period_ns : others->period_ns;
	if (!options->has_idle_policy && others->has_idle_policy)
		watt_options_set_idle_policy(options, others->idle_policy);
	if (!options->privacy)
		options->privacy = others->privacy;
	if (!options->has_precise && others->has_precise)
		watt_options_set_precise(options, others->is_precise);
	/* a list of sources begins again */
	if (!options->sources.n)
		r = fill_rules(&options->sources, &others->sources);
	if (r == 0)
		r = fill_rules(&options->rates, &others->rates);
	if (r == 0)
		r = fill_rules(&options->share_keys, &others->share_keys);
	return r < 0 ? r : fill_rules(&options->delays, &others->delays);
}

void watt_options_done(struct watt_options *options)
{
	size_t i;

	if (options->redfish_password)
		explicit_bzero(options->redfish_password, strlen(options->redfish_password));
	for (i = 0; i < WATT_ARRAY_SIZE(texts); i++)
		free(*text_at(options, texts[i]));
	for (i = 0; i < WATT_ARRAY_SIZE(lists); i++)
		watt_rules_clear(list_at(options, lists[i]));
	*options = (struct watt_options){ 0 };
}

struct watt_options *watt_options_free(struct watt_options *options)
{
	if (options)
		watt_options_done(options);
	free(options);
	return NULL;
}

const char *watt_options_get_problem(const struct watt_options *options)
{
	return options ? options->problem : "there are no options: NULL was given";
}

/* Keeps the sentence; returns the error. */
__attribute__((format(printf, 3, 4))) static int complain(struct watt_options *options, int error,
							  const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(options->problem, sizeof(options->problem), format, ap);
	va_end(ap);
	return error;
}

static int note(struct watt_options *options, int r)
{
	return r < 0 ? complain(options, r, "%s", strerror(-r)) : 0;
}

/* ---- places ---- */

static int set_text(struct watt_options *options, size_t place, const char *text, const char *what)
{
	char *copy;
	int r = 0;

	if (!options)
		return -EINVAL;
	if (text && !*text)
		return complain(options, -EINVAL, "'' is no %s", what);
	copy = watt_strdup(text, &r);
	if (r < 0)
		return note(options, r);
	free(*text_at(options, place));
	*text_at(options, place) = copy;
	return 0;
}

int watt_options_set_machine(struct watt_options *options, const char *path)
{
	return set_text(options, FIELD(machine), path, "file");
}

int watt_options_set_sysfs_root(struct watt_options *options, const char *path)
{
	return set_text(options, FIELD(sysfs_root), path, "folder");
}

int watt_options_set_procfs_root(struct watt_options *options, const char *path)
{
	return set_text(options, FIELD(procfs_root), path, "folder");
}

int watt_options_set_nvml_lib(struct watt_options *options, const char *path)
{
	return set_text(options, FIELD(nvml_lib), path, "library");
}

int watt_options_set_state_dir(struct watt_options *options, const char *path)
{
	return set_text(options, FIELD(state_dir), path, "folder");
}

int watt_options_set_redfish_url(struct watt_options *options, const char *url)
{
	return set_text(options, FIELD(redfish_url), url, "URL");
}

int watt_options_set_meter(struct watt_options *options, const char *place)
{
	static const char *const kinds[] = { "unix:", "tcp:", "exec:", "nut:" };
	bool is_known = !place;
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(kinds) && !is_known; i++)
		is_known = strncmp(place, kinds[i], strlen(kinds[i])) == 0;
	if (options && !is_known)
		return complain(options, -EINVAL,
				"'%s' is none of unix:PATH, tcp:HOST:PORT, exec:COMMAND and "
				"nut:UPS@HOST",
				place);
	return set_text(options, FIELD(meter), place, "instrument");
}

int watt_options_set_redfish_auth(struct watt_options *options, const char *path)
{
	return set_text(options, FIELD(redfish_auth), path, "file");
}

int watt_options_set_redfish_tls(struct watt_options *options, const char *trust)
{
	return set_text(options, FIELD(redfish_tls), trust, "file");
}

int watt_options_set_redfish_login(struct watt_options *options, const char *user,
				   const char *password)
{
	int r = set_text(options, FIELD(redfish_user), user, "user");

	if (r == 0 && !(password && !*password))
		r = set_text(options, FIELD(redfish_password), password, "password");
	return r;
}

#ifdef WATT_HAVE_KUBELET
int watt_options_set_kubelet_url(struct watt_options *options, const char *url)
{
	return set_text(options, FIELD(kubelet_url), url, "URL");
}

int watt_options_set_kubelet_token(struct watt_options *options, const char *path)
{
	return set_text(options, FIELD(kubelet_token), path, "file");
}

int watt_options_set_kubelet_tls(struct watt_options *options, const char *trust)
{
	return set_text(options, FIELD(kubelet_tls), trust, "file");
}
#else
static int refuse_kubelet(struct watt_options *options, const char *value)
{
	if (!options || !value)
		return options ? 0 : -EINVAL;
	return complain(options, -EOPNOTSUPP,
			"no kubelet can be asked: this was built without libcurl or jansson");
}

int watt_options_set_kubelet_url(struct watt_options *options, const char *url)
{
	return refuse_kubelet(options, url);
}

int watt_options_set_kubelet_token(struct watt_options *options, const char *path)
{
	return refuse_kubelet(options, path);
}

int watt_options_set_kubelet_tls(struct watt_options *options, const char *trust)
{
	return refuse_kubelet(options, trust);
}
#endif

#ifdef WATT_HAVE_JSON
int watt_options_set_prior(struct watt_options *options, const char *path)
{
	return set_text(options, FIELD(prior), path, "file");
}
#else
int watt_options_set_prior(struct watt_options *options, const char *path)
{
	if (!options || !path)
		return options ? 0 : -EINVAL;
	return complain(options, -EOPNOTSUPP,
			"no profile can be read: this was built without jansson");
}
#endif

int watt_options_set_config(struct watt_options *options, const char *path)
{
	return set_text(options, FIELD(config), path, "file");
}

/* ---- sources ---- */

static void add_word(char *buf, size_t size, const char *word)
{
	size_t used = strlen(buf);

	snprintf(buf + used, size - used, "%s%s", used ? ", " : "", word);
}

static int check_source(struct watt_options *options, const char *name)
{
	char known[512] = "";
	size_t i;

	if (watt_select_is_power(name))
		return 0;
	for (i = 0; watt_power_registry[i]; i++)
		add_word(known, sizeof(known), watt_power_registry[i]->name);
	return complain(options, -ENOENT, "no source is called '%s'; there are: %s", name, known);
}

static int choose_source(struct watt_options *options, const char *name, uint64_t choice)
{
	int r = 0;

	if (!options)
		return -EINVAL;
	if (!name)
		return complain(options, -EINVAL, "which source? none was named");
	if (!watt_select_is_teller(name))
		r = check_source(options, name);
	else if (choice != WATT_SOURCE_OUT)
		return complain(options, -EINVAL,
				"%s measures no power, it tells who used it, and is read anyway; "
				"-%s leaves it out",
				name, name);
	return r < 0 ? r : note(options, watt_rules_add(&options->sources, name, choice));
}

int watt_options_add_source(struct watt_options *options, const char *name)
{
	return choose_source(options, name, WATT_SOURCE_ALONE);
}

int watt_options_drop_source(struct watt_options *options, const char *name)
{
	return choose_source(options, name, WATT_SOURCE_OUT);
}

/* "powercap", "-powercap", "+context" */
static int take_source(struct watt_options *options, const char *word)
{
	if (*word == '-')
		return choose_source(options, word + 1, WATT_SOURCE_OUT);
	if (*word == '+')
		return choose_source(options, word + 1, WATT_SOURCE_TOO);
	return choose_source(options, word, WATT_SOURCE_ALONE);
}

/*
 * "powercap,hwmon", "-estimate", "+context": whatever was chosen before is forgotten, if all of it
 * is right.
 */
static int set_sources(struct watt_options *options, const char *text)
{
	_cleanup_free_ char *copy = strdup(text);
	struct watt_rules before = options->sources;
	char *rest = copy, *word;
	int r = copy ? 0 : note(options, -ENOMEM);

	options->sources = (struct watt_rules){ 0 };
	while (r == 0 && (word = strsep(&rest, ", ")))
		if (*word)
			r = take_source(options, word);
	if (r == 0 && !options->sources.n)
		r = complain(options, -EINVAL, "the list of sources is empty");
	if (r < 0) {
		watt_rules_clear(&options->sources);
		options->sources = before;
		return r;
	}
	watt_rules_clear(&before);
	return 0;
}

int watt_options_set_usage(struct watt_options *options, const char *name)
{
	char known[256] = "auto";
	bool is_known = !name || strcmp(name, "auto") == 0;
	size_t i;

	if (!options)
		return -EINVAL;
	for (i = 0; watt_activity_registry[i]; i++) {
		if (!watt_activity_registry[i]->sweep)
			continue;
		add_word(known, sizeof(known), watt_activity_registry[i]->name);
		is_known |= name && strcmp(watt_activity_registry[i]->name, name) == 0;
	}
	if (!is_known)
		return complain(options, -ENOENT,
				"no way of counting usage is called '%s'; there are: %s", name,
				known);
	return set_text(options, FIELD(usage), name, "way of counting usage");
}

/* ---- times ---- */

/* 0: as it is at first */
static int set_time(struct watt_options *options, uint64_t *field, uint64_t time_ns)
{
	if (time_ns && (time_ns < MIN_TIME_NS || time_ns > MAX_TIME_NS))
		return complain(options, -EINVAL, "%g s is not possible; 1 ms to 60 s are",
				(double)time_ns / 1e9);
	*field = time_ns;
	return 0;
}

int watt_options_set_slice_ns(struct watt_options *options, uint64_t slice_ns)
{
	return options ? set_time(options, &options->slice_ns, slice_ns) : -EINVAL;
}

int watt_options_set_period_ns(struct watt_options *options, uint64_t period_ns)
{
	return options ? set_time(options, &options->period_ns, period_ns) : -EINVAL;
}

static int set_time_text(struct watt_options *options, uint64_t *field, const char *text)
{
	uint64_t time_ns;

	if (watt_parse_time(text, WATT_NSEC_PER_MSEC, &time_ns) < 0 || time_ns < MIN_TIME_NS ||
	    time_ns > MAX_TIME_NS)
		return complain(options, -EINVAL, "'%s' is not a time such as 50ms (1ms to 60s)",
				text);
	*field = time_ns;
	return 0;
}

static int set_slice(struct watt_options *options, const char *text)
{
	return set_time_text(options, &options->slice_ns, text);
}

static int set_period(struct watt_options *options, const char *text)
{
	return set_time_text(options, &options->period_ns, text);
}

int watt_options_set_source_period_ns(struct watt_options *options, const char *source,
				      uint64_t period_ns)
{
	int r;

	if (!options)
		return -EINVAL;
	if (!source)
		return complain(options, -EINVAL, "which source? none was named");
	if (period_ns < MIN_TIME_NS || period_ns > MAX_SOURCE_PERIOD_NS)
		return complain(options, -EINVAL, "%g s is not possible; 1 ms to 1 h are",
				(double)period_ns / 1e9);
	r = check_source(options, source);
	return r < 0 ? r : note(options, watt_rules_add(&options->rates, source, period_ns));
}

int watt_options_set_delay_ns(struct watt_options *options, const char *channel, uint64_t delay_ns)
{
	if (!options)
		return -EINVAL;
	if (!channel || !*channel || strchr(channel, ','))
		return complain(options, -EINVAL, "'%s' can't be the name of a channel",
				channel ? channel : "");
	if (delay_ns > MAX_DELAY_NS)
		return complain(options, -EINVAL, "%g s is not possible; 0 to 60 s are",
				(double)delay_ns / 1e9);
	return note(options, watt_rules_add(&options->delays, channel, delay_ns));
}

/* ---- attribution ---- */

int watt_options_set_idle_policy(struct watt_options *options, enum watt_idle_policy policy)
{
	if (!options)
		return -EINVAL;
	if (policy != WATT_IDLE_SEPARATE && policy != WATT_IDLE_PROPORTIONAL &&
	    policy != WATT_IDLE_REQUESTS)
		return complain(options, -EINVAL,
				"no idle policy has the number %d; there are: separate, "
				"proportional, requests",
				(int)policy);
	options->idle_policy = policy;
	options->has_idle_policy = true;
	return 0;
}

static int set_idle_policy(struct watt_options *options, const char *text)
{
	enum watt_idle_policy policy;

	for (policy = WATT_IDLE_SEPARATE; policy <= WATT_IDLE_REQUESTS; policy++)
		if (strcmp(text, watt_idle_policy_name(policy)) == 0)
			return watt_options_set_idle_policy(options, policy);
	return complain(options, -ENOENT,
			"no idle policy is called '%s'; there are: separate, proportional, "
			"requests",
			text);
}

static bool is_key(enum watt_share_key key)
{
	size_t i;

	for (i = 0; watt_key_registry[i]; i++)
		if (watt_key_registry[i]->id == key)
			return true;
	return key == WATT_KEY_AUTO;
}

int watt_options_set_share_key(struct watt_options *options, const char *domain,
			       enum watt_share_key key)
{
	if (!options)
		return -EINVAL;
	if (!is_key(key))
		return complain(options, -EINVAL, "no share key has the number %d", (int)key);
	if (domain && (!*domain || strchr(domain, ',')))
		return complain(options, -EINVAL, "'%s' can't be the path of a domain", domain);
	return note(options, watt_rules_add(&options->share_keys, domain, key));
}

/* ---- privacy ---- */

static const char *const privacy_names[] = { "names", "own", "users", "all" };

int watt_options_set_privacy(struct watt_options *options, enum watt_privacy privacy)
{
	if (!options)
		return -EINVAL;
	if (privacy < WATT_PRIVACY_NAMES || privacy > WATT_PRIVACY_ALL)
		return complain(options, -EINVAL, "no level of privacy has the number %d",
				(int)privacy);
	options->privacy = privacy;
	return 0;
}

int watt_options_set_owner(struct watt_options *options, uint32_t uid)
{
	if (!options)
		return -EINVAL;
	options->owner_uid = uid;
	options->has_owner = true;
	return 0;
}

static int set_privacy(struct watt_options *options, const char *text)
{
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(privacy_names); i++)
		if (strcmp(text, privacy_names[i]) == 0)
			return watt_options_set_privacy(options, (enum watt_privacy)(i + 1));
	return complain(options, -ENOENT,
			"no level of privacy is called '%s'; there are: names, own, users, all",
			text);
}

/* ---- lists as text ---- */

static int parse_rules(struct watt_options *options, struct watt_rules *rules,
		       const struct watt_rule_syntax *syntax, const char *text)
{
	_cleanup_free_ char *word = NULL;
	int r = watt_rules_parse(rules, syntax, text, &word);

	if (r == 0 || r == -ENOMEM)
		return note(options, r);
	return complain(options, r == -ENOENT ? r : -EINVAL, "'%s' is not %s", word,
			syntax->expected);
}

/* One rate for all, or of sources: all of a text, or nothing. */
static int set_rate(struct watt_options *options, const char *text)
{
	struct watt_rules rates = { 0 };
	uint64_t period_ns = options->period_ns;
	size_t i;
	int r = parse_rules(options, &rates, &watt_rate_syntax, text);

	for (i = 0; i < rates.n && r == 0; i++) {
		if (rates.list[i].name)
			r = check_source(options, rates.list[i].name);
		else
			r = set_time(options, &period_ns, rates.list[i].value);
	}
	for (i = 0; i < rates.n && r == 0; i++)
		if (rates.list[i].name)
			r = note(options, watt_rules_add(&options->rates, rates.list[i].name,
							 rates.list[i].value));
	watt_rules_clear(&rates);
	if (r == 0)
		options->period_ns = period_ns;
	return r;
}

static int set_share_key(struct watt_options *options, const char *text)
{
	_cleanup_free_ char *word = NULL;
	char known[256] = "auto";
	size_t i;
	int r = watt_rules_parse(&options->share_keys, &watt_share_key_syntax, text, &word);

	if (r == 0 || r == -ENOMEM)
		return note(options, r);
	for (i = 0; watt_key_registry[i]; i++)
		if (!watt_key_registry[i]->suits)
			add_word(known, sizeof(known),
				 watt_share_key_name(watt_key_registry[i]->id));
	return complain(options, r, "'%s' is not %s; there are: %s", word,
			watt_share_key_syntax.expected, known);
}

static int set_delay(struct watt_options *options, const char *text)
{
	return parse_rules(options, &options->delays, &watt_delay_syntax, text);
}

int watt_options_set_precise(struct watt_options *options, int is_precise)
{
	if (!options)
		return -EINVAL;
	options->is_precise = is_precise != 0;
	options->has_precise = true;
	return 0;
}

static int set_precise(struct watt_options *options, const char *text)
{
	bool is_precise = strcmp(text, "true") == 0;

	if (!is_precise && strcmp(text, "false") != 0)
		return complain(options, -EINVAL, "'%s' is neither true nor false", text);
	return watt_options_set_precise(options, is_precise);
}

/* ---- by name ---- */

#define INFO(name, values, summary) \
	{ \
		sizeof(struct watt_option_info), name, values, summary \
	}

static const struct option {
	struct watt_option_info info;
	int (*set)(struct watt_options *options, const char *text);
} table[] = {
	{ INFO("sources", "[-+]SOURCE,...", "power sources to use, or not to use"), set_sources },
	{ INFO("usage", "auto|bpf|procfs", "how CPU time is counted"), watt_options_set_usage },
	{ INFO("precise", "true|false", "count at context switches, too"), set_precise },
	{ INFO("slice", "TIME", "length of a slice (50ms)"), set_slice },
	{ INFO("period", "TIME", "reading period of quick sensors (a slice)"), set_period },
	{ INFO("rate", "[SOURCE=]RATE,...", "how often sensors are read, instead of a period"),
	  set_rate },
	{ INFO("idle-policy", "separate|proportional|requests", "what becomes of idle energy"),
	  set_idle_policy },
	{ INFO("share-key", "[DOMAIN=]KEY,...", "by what dynamic energy is shared"),
	  set_share_key },
	{ INFO("prior", "FILE", "profile of programs, as 'wattribute learn' writes it"),
	  watt_options_set_prior },
	{ INFO("sensor-delay", "CHANNEL=TIME,...", "age of the values of sensors"), set_delay },
	{ INFO("privacy", "names|own|users|all", "whose command lines are told"), set_privacy },
	{ INFO("config", "FILE", "options, rules for sensors and models"),
	  watt_options_set_config },
	{ INFO("machine", "FILE", "a captured machine instead of this one"),
	  watt_options_set_machine },
	{ INFO("sysfs-root", "DIR", "instead of /sys"), watt_options_set_sysfs_root },
	{ INFO("procfs-root", "DIR", "instead of /proc"), watt_options_set_procfs_root },
	{ INFO("nvml-lib", "FILE", "instead of libnvidia-ml.so.1"), watt_options_set_nvml_lib },
	{ INFO("redfish-url", "URL", "BMC to ask"), watt_options_set_redfish_url },
	{ INFO("meter", "unix:PATH|tcp:HOST:PORT|exec:COMMAND|nut:[UPS@]HOST[:PORT]",
	       "instrument for the machine"),
	  watt_options_set_meter },
	{ INFO("redfish-auth", "FILE", "users and passwords for BMCs"),
	  watt_options_set_redfish_auth },
	{ INFO("redfish-tls", "verify|insecure|FILE|sha256//PIN", "which BMC is trusted"),
	  watt_options_set_redfish_tls },
#ifdef WATT_HAVE_KUBELET
	{ INFO("kubelet-url", "URL", "kubelet to ask, or pods of an API server"),
	  watt_options_set_kubelet_url },
	{ INFO("kubelet-token", "FILE", "token for it"), watt_options_set_kubelet_token },
	{ INFO("kubelet-tls", "verify|insecure|FILE|sha256//PIN", "which kubelet is trusted"),
	  watt_options_set_kubelet_tls },
#endif
};

const struct watt_option_info *watt_options_get_info(size_t index)
{
	return index < WATT_ARRAY_SIZE(table) ? &table[index].info : NULL;
}

int watt_options_set(struct watt_options *options, const char *name, const char *value)
{
	char known[512] = "";
	size_t i;

	if (!options)
		return -EINVAL;
	if (!name || !value)
		return complain(options, -EINVAL, "an option needs a name and a value");
	for (i = 0; i < WATT_ARRAY_SIZE(table); i++) {
		if (strcmp(table[i].info.name, name) == 0)
			return table[i].set(options, value);
		add_word(known, sizeof(known), table[i].info.name);
	}
	return complain(options, -ENOENT, "no option is called '%s'; there are: %s", name, known);
}

int watt_options_set_driven(struct watt_options *options, int is_driven)
{
	if (!options)
		return -EINVAL;
	options->is_driven = is_driven != 0;
	return 0;
}

int watt_options_set_threads(struct watt_options *options, int has_threads)
{
	if (!options)
		return -EINVAL;
	options->has_threads = has_threads != 0;
	return 0;
}

int watt_options_set_open_wait_ms(struct watt_options *options, uint32_t open_wait_ms)
{
	if (!options)
		return -EINVAL;
	if (open_wait_ms > MAX_OPEN_WAIT_MS)
		return complain(options, -EINVAL, "%u ms is not possible; 0 to %u ms are",
				open_wait_ms, MAX_OPEN_WAIT_MS);
	options->open_wait_ms = open_wait_ms;
	return 0;
}

int watt_options_set_log(struct watt_options *options, watt_log_fn log, void *data)
{
	if (!options)
		return -EINVAL;
	options->log = log;
	options->log_data = data;
	return 0;
}

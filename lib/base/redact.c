/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds secrets word by word: by the name before a '=' or ':', by the option before a word, by the
 * program whose option it is, and by forms that only secrets have. It takes rather too much.
 */
#include "base/redact.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "base/util.h"

#define STARS 3
#define NAME_MAX_LEN 64

/* What the word before says of this one. */
enum expected {
	EXPECTS_NOTHING,
	EXPECTS_SECRET,
	EXPECTS_SCHEME, /* "Bearer" or "Basic" may come before the secret itself */
};

struct redaction {
	char *bytes;
	size_t len;
	size_t at, put;     /* read from, written to: put <= at */
	bool has_arguments; /* NULs are between them */
	enum expected expected;
	bool has_hidden;     /* something of this word */
	size_t quoted_until; /* where the quote ends that this word begins with; 0: none */
	const struct program *program; /* whose options follow; NULL: none that is known */
	bool has_command;              /* and their letters mean what they do by its command */
};

/* Options with one letter mean a password with these programs alone. */
static const struct program {
	const char *name;
	const char *spaced;   /* letters: the secret is the next word */
	const char *attached; /* letters: it follows at once */
	const char *command;  /* the word after which they do; NULL: always */
} programs[] = {
	{ "mysql", "", "p" },
	{ "mysqldump", "", "p" },
	{ "mysqladmin", "", "p" },
	{ "mariadb", "", "p" },
	{ "mariadb-dump", "", "p" },
	{ "mariadb-admin", "", "p" },
	{ "sshpass", "p", "p" },
	/* what it is for has no secrets among its letters */
	{ "ssh", "", "" },
	{ "scp", "", "" },
	{ "sftp", "", "" },
	{ "rsync", "", "" },
	{ "redis-cli", "a", "a" },
	{ "mongo", "p", "p" },
	{ "mongosh", "p", "p" },
	{ "mongodump", "p", "p" },
	{ "mongorestore", "p", "p" },
	{ "docker", "p", "p", "login" },
	{ "podman", "p", "p", "login" },
	{ "curl", "uU", "uU" },
	{ "smbclient", "U", "U" },
	{ "ldapsearch", "w", "w" },
	{ "ldapmodify", "w", "w" },
	{ "ldapadd", "w", "w" },
	{ "ldapdelete", "w", "w" },
	{ "sqlcmd", "P", "P" },
	{ "bcp", "P", "P" },
	{ "ipmitool", "P", "P" },
	{ "snmpwalk", "cAX", "cAX" },
	{ "snmpget", "cAX", "cAX" },
	{ "zip", "P", "P" },
	{ "unzip", "P", "P" },
	{ "7z", "", "p" },
	{ "xfreerdp", "p", "p" },
	{ "mosquitto_pub", "P", "P" },
	{ "mosquitto_sub", "P", "P" },
	{ "helm", "p", "p", "login" },
	{ "az", "p", "p", "login" },
};

/* A name in which one of these is a word, or an end of one, is a secret's. */
#define NAME(name) \
	{ \
		name, sizeof(name) - 1 \
	}
static const struct {
	const char *text;
	size_t len;
} secret_names[] = {
	NAME("password"),
	NAME("passwd"),
	NAME("passphrase"),
	NAME("passwort"),
	NAME("pwd"),
	NAME("pass"),
	NAME("secret"),
	NAME("token"),
	NAME("apikey"),
	NAME("accesskey"),
	NAME("auth"),
	NAME("authorization"),
	NAME("credential"),
	NAME("credentials"),
	NAME("privatekey"),
	NAME("signingkey"),
	NAME("encryptionkey"),
	NAME("secretkey"),
	NAME("masterkey"),
	NAME("bearer"),
	NAME("cookie"),
	NAME("sessionid"),
	NAME("connectionstring"),
	NAME("webhook"),
	NAME("clientsecret"),
};

/* Words that begin so are secrets wherever they stand. */
static const char *const secret_forms[] = {
	"ghp_",  "gho_",  "ghs_",     "ghu_",       "github_pat_", "glpat-", "xoxb-",
	"xoxp-", "xoxa-", "sk_live_", "rk_live_",   "AKIA",        "ASIA",   "eyJ",
	"hvs.",  "AIza",  "sk-",      "-----BEGIN", "dop_v1_",     "npm_",   "pypi-",
};

/* ---- names ---- */

/* Letters and digits alone, small: "--api-key" and "API_KEY" are one name. */
static size_t fold(char *ret, const char *name, size_t len)
{
	size_t i, n = 0;

	/* its end says what it is */
	if (len > NAME_MAX_LEN) {
		name += len - NAME_MAX_LEN;
		len = NAME_MAX_LEN;
	}
	for (i = 0; i < len; i++)
		if (isalnum((unsigned char)name[i]))
			ret[n++] = (char)tolower((unsigned char)name[i]);
	ret[n] = '\0';
	return n;
}

/* "db-password", "AWS_SECRET_ACCESS_KEY", "password-1", but no "compass" and no "tokenizer". */
static bool is_secret_part(const char *name, size_t len)
{
	char folded[NAME_MAX_LEN + 1];
	size_t n = fold(folded, name, len), i, k;

	for (i = 0; i < WATT_ARRAY_SIZE(secret_names); i++) {
		k = secret_names[i].len;
		/* long ones are recognized at the end of a word, too: "dbpassword" */
		if (n < k || (n > k && k < 5))
			continue;
		/* most names end otherwise, and go by without a comparison */
		if (folded[n - 1] == secret_names[i].text[k - 1] &&
		    memcmp(folded + n - k, secret_names[i].text, k) == 0)
			return true;
	}
	return false;
}

static bool is_secret_name(const char *name, size_t len)
{
	size_t begin = 0, i;

	while (len > 0 && !isalnum((unsigned char)name[0]))
		name++, len--;
	/* "password2", "--token-file" is a file, and no secret */
	while (len > 0 && (isdigit((unsigned char)name[len - 1]) || name[len - 1] == '_' ||
			   name[len - 1] == '-'))
		len--;
	if (!len)
		return false;
	if (len >= 4 && strncasecmp(name + len - 4, "file", 4) == 0)
		return false;
	if (is_secret_part(name, len))
		return true;
	for (i = 0; i <= len; i++) {
		if (i < len && isalnum((unsigned char)name[i]))
			continue;
		if (is_secret_part(name + begin, i - begin))
			return true;
		begin = i + 1;
	}
	return false;
}

static bool is_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '-' || c == '_' || c == '.';
}

/* ---- words ---- */

static void copy(struct redaction *r, size_t end)
{
	memmove(r->bytes + r->put, r->bytes + r->at, end - r->at);
	r->put += end - r->at;
	r->at = end;
}

static void hide(struct redaction *r, size_t end)
{
	size_t n = WATT_MIN(end - r->at, (size_t)STARS);

	r->has_hidden = true;
	memset(r->bytes + r->put, '*', n);
	r->put += n;
	r->at = end;
}

static bool is_word_end(const struct redaction *r, size_t at)
{
	return at >= r->len || r->bytes[at] == '\0' || isspace((unsigned char)r->bytes[at]);
}

static size_t find_word_end(const struct redaction *r, size_t at)
{
	while (!is_word_end(r, at))
		at++;
	return at;
}

static size_t find_argument_end(const struct redaction *r, size_t at)
{
	const char *stop = memchr(r->bytes + at, '\0', r->len - at);

	return stop ? (size_t)(stop - r->bytes) : r->len;
}

/* Where the quote is that ends the one at this place; 0: nowhere in this argument. */
static size_t find_quote_end(const struct redaction *r, size_t at)
{
	const char *stop;

	if (at >= r->len || (r->bytes[at] != '"' && r->bytes[at] != '\''))
		return 0;
	stop = memchr(r->bytes + at + 1, r->bytes[at], find_argument_end(r, at) - at - 1);
	return stop ? (size_t)(stop - r->bytes) : 0;
}

/*
 * The value of an argument that begins here may have spaces in it; another one that begins with a
 * quote goes to the quote that ends it.
 */
static size_t find_value_end(const struct redaction *r, size_t at, bool begins_argument)
{
	size_t quote_end;

	if (begins_argument && r->has_arguments)
		return find_argument_end(r, at);
	quote_end = find_quote_end(r, at);
	if (quote_end)
		return find_word_end(r, quote_end + 1);
	return r->quoted_until > at ? r->quoted_until : find_word_end(r, at);
}

static bool has_prefix(const struct redaction *r, size_t at, size_t end, const char *prefix)
{
	size_t n = strlen(prefix);

	return end - at >= n && memcmp(r->bytes + at, prefix, n) == 0;
}

/* Long, and of what such words are made of: "sk-learn" and "eyJ" are none. */
static bool is_secret_form(const struct redaction *r, size_t at, size_t end)
{
	size_t i;

	/* what is hidden in part is no such word any more */
	if (end - at < 16 || memchr(r->bytes + at, '*', end - at))
		return false;
	for (i = 0; i < WATT_ARRAY_SIZE(secret_forms); i++)
		if (r->bytes[at] == secret_forms[i][0] && has_prefix(r, at, end, secret_forms[i]))
			return true;
	return false;
}

static bool is_word(const struct redaction *r, size_t at, size_t end, const char *word)
{
	if (at >= end || tolower((unsigned char)r->bytes[at]) != word[0])
		return false;
	return end - at == strlen(word) && strncasecmp(r->bytes + at, word, end - at) == 0;
}

/* The program that a word calls, whatever its folder. */
static const struct program *find_program(const struct redaction *r, size_t at, size_t end)
{
	size_t i, base;

	for (base = end; base > at && r->bytes[base - 1] != '/'; base--)
		;
	for (i = 0; i < WATT_ARRAY_SIZE(programs); i++)
		if (is_word(r, base, end, programs[i].name))
			return &programs[i];
	return NULL;
}

/* What stands before a ':' and is no user of the host behind the '@'. */
static bool is_user(const struct redaction *r, size_t begin, size_t end)
{
	static const char *const others[] = {
		"mailto", "sip", "sips", "xmpp", "acct", "npm", "jsr"
	};
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(others); i++)
		if (is_word(r, begin, end, others[i]))
			return false;
	return begin < end && isalnum((unsigned char)r->bytes[begin]);
}

/* "host", "10.0.0.1:80", "[::1]", "tcp(host)"; no "sha256:..." and no "1.2.3" of a version. */
static bool is_host(const struct redaction *r, size_t at, size_t end)
{
	size_t i, letters = 0, dots = 0;

	if (at >= end || !(isalnum((unsigned char)r->bytes[at]) || r->bytes[at] == '['))
		return false;
	if (end - at > 3 && memcmp(r->bytes + at, "sha", 3) == 0 &&
	    isdigit((unsigned char)r->bytes[at + 3]))
		return false;
	for (i = at; i < end && !strchr(":/?,\"'", r->bytes[i]); i++) {
		letters += !isdigit((unsigned char)r->bytes[i]) && r->bytes[i] != '.';
		dots += r->bytes[i] == '.';
	}
	return letters > 0 || dots == 3;
}

/* "user:password@host" without a scheme, also behind a '=' or a quote. */
static void redact_login(struct redaction *r, size_t end)
{
	size_t begin = r->at, colon, at;

	for (colon = r->at; colon < end && r->bytes[colon] != ':'; colon++)
		if (!is_name_char(r->bytes[colon]))
			begin = colon + 1;
	for (at = end; at > colon + 2 && r->bytes[at - 1] != '@'; at--)
		;
	/* "host:/path@x", "a@b:c@d" */
	if (at <= colon + 2 || strchr("/\\@:", r->bytes[colon + 1]) ||
	    (begin > r->at && !strchr("=\"'(", r->bytes[begin - 1])) || !is_user(r, begin, colon) ||
	    !is_host(r, at, end))
		return;
	copy(r, colon + 1);
	hide(r, at - 1);
}

/* "https://user:password@host", "user@host" has none; and what its query says by name. */
static void redact_url(struct redaction *r, size_t end)
{
	size_t i, stop, colon = 0, at = 0;
	const char *scheme_end;

	scheme_end = memmem(r->bytes + r->at, end - r->at, "://", 3);
	if (!scheme_end) {
		redact_login(r, end);
		return;
	}
	i = (size_t)(scheme_end - r->bytes) + 3;
	for (stop = i; stop < end && !strchr("?#\"'", r->bytes[stop]); stop++)
		if (r->bytes[stop] == '@')
			at = stop;
	/* a password may have any of them in it, as long as it is not encoded */
	if (!at)
		for (stop = i; stop < end; stop++)
			if (r->bytes[stop] == '@')
				at = stop;
	for (stop = i; stop < at && !colon; stop++)
		if (r->bytes[stop] == ':')
			colon = stop;
	if (at && colon) {
		copy(r, colon + 1);
		hide(r, at);
	}
}

/* {"password":"x"} */
static bool ends_quoted_name(const struct redaction *r, size_t at, size_t end)
{
	return (r->bytes[at] == '"' || r->bytes[at] == '\'') && at + 1 < end &&
	       (r->bytes[at + 1] == ':' || r->bytes[at + 1] == '=');
}

/* Names and their values within a word: "a=b", "a:b", also in a list with , ; & or ?. */
static void redact_pairs(struct redaction *r, size_t end, bool begins_argument)
{
	size_t first = r->at, begin = r->at, i, stop;

	for (i = r->at; i < end; i++) {
		char c = r->bytes[i];

		if (c != '=' && c != ':') {
			if (!is_name_char(c) && !ends_quoted_name(r, i, end))
				begin = i + 1;
			continue;
		}
		/* "://" is no value of a secret's */
		if (!is_secret_name(r->bytes + begin, i - begin) || i + 1 >= end ||
		    (c == ':' && r->bytes[i + 1] == '/')) {
			begin = i + 1;
			continue;
		}
		/* in the query of a URL, it ends with its part */
		stop = find_value_end(r, i + 1, begins_argument && begin <= first + 2);
		if (begin > first && (r->bytes[begin - 1] == '?' || r->bytes[begin - 1] == '&'))
			for (stop = i + 1; stop < end && r->bytes[stop] != '&'; stop++)
				;
		copy(r, i + 1);
		if (stop > end)
			end = find_word_end(r, stop);
		hide(r, stop);
		begin = i = stop;
	}
}

static bool is_letter_of(const struct redaction *r, const char *letters, char c)
{
	return c && (!r->program->command || r->has_command) && strchr(letters, c);
}

/* What an option without '=' says of the next word; it may hold the secret itself. */
static enum expected take_option(struct redaction *r, size_t end, bool begins_argument)
{
	const char *word = r->bytes + r->at;
	size_t len = end - r->at;

	if (len < 2 || word[0] != '-')
		return EXPECTS_NOTHING;
	if (r->program && word[1] != '-' && is_letter_of(r, r->program->attached, word[1]) &&
	    len > 2) {
		copy(r, r->at + 2);
		hide(r, find_value_end(r, r->at, begins_argument));
		return EXPECTS_NOTHING;
	}
	if (r->program && len == 2 && is_letter_of(r, r->program->spaced, word[1]))
		return EXPECTS_SECRET;
	if (len > 3 && !memchr(word, '=', len) && is_secret_name(word, len))
		return EXPECTS_SECRET;
	return EXPECTS_NOTHING;
}

/* "Authorization: Bearer x": one argument, or several words. */
static enum expected after_word(const struct redaction *r, size_t at, size_t end)
{
	if (is_word(r, at, end, "bearer") || is_word(r, at, end, "basic"))
		return EXPECTS_SECRET;
	if (end - at > 1 && (r->bytes[end - 1] == ':' || r->bytes[end - 1] == '=') &&
	    is_secret_name(r->bytes + at, end - at - 1))
		return EXPECTS_SCHEME;
	return EXPECTS_NOTHING;
}

/* Whether this word is the secret; what begins with '-' may be one, too. */
static bool is_expected(const struct redaction *r, size_t at, size_t end)
{
	if (r->expected == EXPECTS_SECRET)
		return true;
	return r->expected == EXPECTS_SCHEME && !is_word(r, at, end, "bearer") &&
	       !is_word(r, at, end, "basic");
}

static void redact_word(struct redaction *r, bool begins_argument)
{
	size_t at = r->at, end = find_word_end(r, at), skip = at;
	enum expected next, option;
	const struct program *program;
	bool is_command;

	r->quoted_until = 0;
	if (is_expected(r, at, end)) {
		r->expected = EXPECTS_NOTHING;
		hide(r, find_value_end(r, at, begins_argument));
		return;
	}
	r->expected = EXPECTS_NOTHING;
	r->has_hidden = false;
	r->quoted_until = find_quote_end(r, at);
	while (skip < end && (r->bytes[skip] == '"' || r->bytes[skip] == '\''))
		skip++;
	next = after_word(r, skip, end);
	program = find_program(r, skip, end);
	is_command = r->program && r->program->command &&
		     is_word(r, skip, end, r->program->command);
	if (is_secret_form(r, skip, end)) {
		hide(r, end);
		return;
	}
	option = take_option(r, end, begins_argument);
	if (option != EXPECTS_NOTHING)
		next = option;
	if (r->at < end)
		redact_url(r, end);
	if (r->at < end)
		redact_pairs(r, end, begins_argument);
	if (r->at < end)
		copy(r, end);
	/* the secret was here already */
	r->expected = r->has_hidden ? EXPECTS_NOTHING : next;
	if (program && !r->has_hidden) {
		r->program = program;
		r->has_command = false;
	} else if (is_command) {
		r->has_command = true;
	}
}

size_t watt_redact(char *bytes, size_t len)
{
	struct redaction r = { .bytes = bytes, .len = len };
	bool begins_argument = true;

	r.has_arguments = len && memchr(bytes, '\0', len);
	while (r.at < len) {
		char c = bytes[r.at];

		if (c != '\0' && !isspace((unsigned char)c)) {
			redact_word(&r, begins_argument);
			begins_argument = false;
			continue;
		}
		begins_argument = c == '\0';
		copy(&r, r.at + 1);
	}
	return r.put;
}

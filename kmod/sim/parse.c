// SPDX-License-Identifier: GPL-2.0-only
/*
 * One line of a script: [at MS] NOUN VERB [NAME] [key=value]... Everything that can be known
 * without running it is checked here.
 */
#include <linux/ctype.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "core.h"

#define DELAY_MAX_MS 86400000u

/* The next word, cut off; NULL at the end. */
static char *next_word(char **line)
{
	char *word = skip_spaces(*line);

	if (!*word)
		return NULL;
	*line = word;
	while (**line && !isspace(**line))
		(*line)++;
	if (**line)
		*(*line)++ = '\0';
	return word;
}

static bool is_name(const char *text)
{
	for (; *text; text++)
		if (!isascii(*text) || !isgraph(*text) || *text == '=')
			return false;
	return true;
}

static int parse_number(const char *word, const char *what, u64 min, u64 max, u64 *ret)
{
	bool is_hex = word[0] == '0' && (word[1] == 'x' || word[1] == 'X');
	u64 number;

	/* kstrtoull() would take a sign and a new-line too */
	if (!isxdigit(word[is_hex ? 2 : 0]) || kstrtoull(word, is_hex ? 16 : 10, &number))
		return sim_fail(-EINVAL, "%s: '%.32s' is not a number", what, word);
	if (number < min || number > max)
		return sim_fail(-ERANGE, "%s: %llu is not within %llu..%llu", what, number, min,
				max);
	*ret = number;
	return 0;
}

static int parse_text(const char *word, const struct sim_key *key, struct sim_value *ret)
{
	if (!*word || strlen(word) > min_t(u64, key->max, SIM_TEXT_MAX - 1))
		return sim_fail(-EINVAL, "%s: '%.48s' must have 1 to %llu characters", key->name,
				word, min_t(u64, key->max, SIM_TEXT_MAX - 1));
	strscpy(ret->text, word, sizeof(ret->text));
	return 0;
}

static int parse_value(const struct sim_verb *verb, char *word, struct sim_value *values)
{
	char *text = strchr(word, '=');
	unsigned int i;
	int r;

	if (!text)
		return sim_fail(-EINVAL, "'%.32s' is not of the form key=value", word);
	*text++ = '\0';
	for (i = 0; i < SIM_KEYS_MAX && verb->keys[i].name; i++)
		if (!strcmp(verb->keys[i].name, word))
			break;
	if (i == SIM_KEYS_MAX || !verb->keys[i].name)
		return sim_fail(-EINVAL, "'%s' knows no key '%.32s'", verb->name, word);
	if (values[i].is_set)
		return sim_fail(-EINVAL, "%s= is given twice", word);
	if (verb->keys[i].type == SIM_NUMBER)
		r = parse_number(text, word, verb->keys[i].min, verb->keys[i].max,
				 &values[i].number);
	else
		r = parse_text(text, &verb->keys[i], &values[i]);
	values[i].is_set = true;
	return r;
}

static int parse_values(char *line, const struct sim_verb *verb, struct sim_value *values)
{
	unsigned int i;
	char *word;
	int r;

	while ((word = next_word(&line))) {
		r = parse_value(verb, word, values);
		if (r)
			return r;
	}
	for (i = 0; i < SIM_KEYS_MAX && verb->keys[i].name; i++)
		if (verb->keys[i].is_required && !values[i].is_set)
			return sim_fail(-EINVAL, "%s= is missing", verb->keys[i].name);
	return 0;
}

static int parse_target(char **line, struct sim_command *command)
{
	char *word;

	if (!command->verb->has_target)
		return 0;
	word = next_word(line);
	if (!word || !is_name(word) || strlen(word) >= sizeof(command->target))
		return sim_fail(-EINVAL, "'%s %s' needs a name of at most %zu characters",
				command->noun->name, command->verb->name,
				sizeof(command->target) - 1);
	strscpy(command->target, word, sizeof(command->target));
	return 0;
}

static int parse_verb(const struct sim_noun *noun, const char *word, const struct sim_verb **ret)
{
	size_t i;

	for (i = 0; word && i < noun->n_verbs; i++) {
		if (!strcmp(noun->verbs[i].name, word)) {
			*ret = &noun->verbs[i];
			return 0;
		}
	}
	return sim_fail(-EINVAL, "'%s' can't '%.32s'; reading 'control' lists what it can",
			noun->name, word ?: "");
}

/* "at MS" before a command. */
static int parse_delay(char **line, char **word, u64 *ret_ms)
{
	int r;

	if (strcmp(*word, "at"))
		return 0;
	*word = next_word(line);
	r = parse_number(*word ?: "", "at", 0, DELAY_MAX_MS, ret_ms);
	if (r)
		return r;
	*word = next_word(line);
	return *word ? 0 : sim_fail(-EINVAL, "'at' needs a command");
}

int sim_parse_line(char *line, struct sim_command *ret)
{
	char *word = next_word(&line);
	int r;

	if (!word || word[0] == '#')
		return 0;
	memset(ret, 0, sizeof(*ret));
	r = parse_delay(&line, &word, &ret->delay_ms);
	if (r)
		return r;
	ret->noun = sim_noun_find(word);
	if (!ret->noun)
		return sim_fail(-EINVAL,
				"there is no '%.32s'; reading 'control' lists what there is", word);
	r = parse_verb(ret->noun, next_word(&line), &ret->verb);
	if (!r)
		r = parse_target(&line, ret);
	if (!r)
		r = parse_values(line, ret->verb, ret->values);
	return r ?: 1;
}

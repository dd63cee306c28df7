/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settings from a file: one mapping of names to plain values, strictly. What is not known, said
 * twice or of another kind is an error with its line. Nothing of a file with an error is taken.
 */
#include "settings.h"

#include <errno.h>
#include <libfyaml.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"
#include "xalloc.h"

#define VALUE_MAX 4096
#define FILE_MAX (1 << 20)

struct yaml {
	struct settings *settings;
	const char *name;
	char *texts[SETTING_N]; /* owned */
	int lines[SETTING_N];
};

static int line_of(struct fy_node *node)
{
	struct fy_token *token = node ? fy_node_get_scalar_token(node) : NULL;
	const struct fy_mark *mark = token ? fy_token_start_mark(token) : NULL;

	return mark ? mark->line + 1 : 1;
}

__attribute__((format(printf, 3, 4))) static int complain(struct yaml *yaml, int line,
							  const char *format, ...)
{
	char text[sizeof(yaml->settings->error)];
	va_list args;
	int n;

	n = snprintf(text, sizeof(text), "%.200s:%d: ", yaml->name, line);
	va_start(args, format);
	vsnprintf(text + n, sizeof(text) - (size_t)n, format, args);
	va_end(args);
	text_clean(yaml->settings->error, sizeof(yaml->settings->error), text);
	return -EINVAL;
}

static char *dup_scalar(struct fy_node *node)
{
	const char *text;
	size_t n;

	if (!node || fy_node_get_type(node) != FYNT_SCALAR || fy_node_is_alias(node))
		return NULL;
	text = fy_node_get_scalar(node, &n);
	if (!text)
		return xstrdup("");
	if (n > VALUE_MAX || memchr(text, '\0', n))
		return NULL;
	return strndup(text, n);
}

static int find_name(const char *name)
{
	int id;

	for (id = 0; id < SETTING_N; id++)
		if (strcmp(setting_get((enum setting_id)id)->name, name) == 0)
			return id;
	return -1;
}

static int keep_pair(struct yaml *yaml, struct fy_node_pair *pair)
{
	auto_free char *key = dup_scalar(fy_node_pair_key(pair));
	int line = line_of(fy_node_pair_key(pair));
	char *text;
	int id;

	if (!key)
		return complain(yaml, line, "a setting's name must be a plain word");
	id = find_name(key);
	if (id < 0)
		return complain(yaml, line,
				"'%.60s' is no setting; 'wattribute agent --print-config' lists "
				"them",
				key);
	if (yaml->texts[id])
		return complain(yaml, line, "%s is set twice, first in line %d", key,
				yaml->lines[id]);
	text = dup_scalar(fy_node_pair_value(pair));
	if (!text)
		return complain(yaml, line, "%s must be one plain value of at most %d bytes", key,
				VALUE_MAX);
	yaml->texts[id] = text;
	yaml->lines[id] = line;
	return 0;
}

static int keep_document(struct yaml *yaml, struct fy_document *document)
{
	struct fy_node *root = fy_document_root(document);
	struct fy_node_pair *pair;
	void *cursor = NULL;
	int r = 0;

	/* An empty file sets nothing. */
	if (!root || (fy_node_get_type(root) == FYNT_SCALAR && fy_node_is_null(root)))
		return 0;
	if (fy_node_get_type(root) != FYNT_MAPPING)
		return complain(yaml, 1, "must be lines of 'name: value'");
	while (r == 0 && (pair = fy_node_mapping_iterate(root, &cursor)))
		r = keep_pair(yaml, pair);
	return r;
}

/* All or nothing: tried on a copy first. */
static int take_kept(struct yaml *yaml)
{
	struct settings trial;
	char where[512];
	int pass, id, r = 0;

	settings_init(&trial);
	for (pass = 0; pass < 2 && r == 0; pass++)
		for (id = 0; id < SETTING_N && r == 0; id++) {
			if (!yaml->texts[id])
				continue;
			snprintf(where, sizeof(where), "%.200s:%d", yaml->name, yaml->lines[id]);
			r = settings_take(pass ? yaml->settings : &trial, (enum setting_id)id,
					  yaml->texts[id], where);
		}
	if (r < 0)
		memcpy(yaml->settings->error, trial.error, sizeof(trial.error));
	settings_done(&trial);
	return r;
}

/* What libfyaml found wrong, of which the first is worth telling. */
static int complain_syntax(struct yaml *yaml, struct fy_diag *diag)
{
	void *cursor = NULL;
	struct fy_diag_error *error = fy_diag_errors_iterate(diag, &cursor);

	return complain(yaml, error && error->line > 0 ? error->line : 1, "not valid YAML: %s",
			error && error->msg ? error->msg : "it can't be read");
}

/* The one document of the text; a file of nothing but comments has none and sets nothing. */
static int keep_documents(struct yaml *yaml, struct fy_parser *parser, struct fy_diag *diag)
{
	struct fy_document *document = fy_parse_load_document(parser);
	struct fy_document *second = NULL;
	int r = document ? keep_document(yaml, document) : 0;

	if (r == 0 && document)
		second = fy_parse_load_document(parser);
	if (r == 0 && fy_parser_get_stream_error(parser))
		r = complain_syntax(yaml, diag);
	else if (r == 0 && second)
		r = complain(yaml, 1, "more than one document ('---'); one is allowed");
	fy_document_destroy(second);
	fy_document_destroy(document);
	return r;
}

/* libfyaml is given plain text only: UTF-8, without directives, which have no use here. */
static int check_text(struct yaml *yaml, const char *text, size_t n)
{
	bool is_line_begin = true;
	uint32_t character;
	int line = 1;
	size_t i, len;

	for (i = 0; i < n; i += len) {
		if (is_line_begin && text[i] == '%')
			return complain(yaml, line, "a line can't begin with '%%' here");
		len = text[i] ? text_decode(text + i, &character) : 0;
		if (len == 0)
			return complain(yaml, line, "byte 0x%02x is not UTF-8 text",
					(unsigned char)text[i]);
		is_line_begin = text[i] == '\n' || text[i] == '\r';
		line += text[i] == '\n';
	}
	return 0;
}

static int keep_text(struct yaml *yaml, const char *text, size_t n)
{
	struct fy_diag_cfg diag_cfg;
	struct fy_parse_cfg cfg = { .flags = FYPCF_QUIET };
	struct fy_parser *parser;
	int r = -ENOMEM;

	/* Without an output it collects what it has to say, and prints nothing. */
	fy_diag_cfg_default(&diag_cfg);
	diag_cfg.fp = NULL;
	diag_cfg.level = FYET_ERROR;
	cfg.diag = fy_diag_create(&diag_cfg);
	if (!cfg.diag)
		return -ENOMEM;
	fy_diag_set_collect_errors(cfg.diag, true);
	parser = fy_parser_create(&cfg);
	if (parser && fy_parser_set_string(parser, text, n) == 0)
		r = keep_documents(yaml, parser, cfg.diag);
	fy_parser_destroy(parser);
	fy_diag_destroy(cfg.diag);
	return r;
}

int settings_take_yaml(struct settings *settings, const char *text, size_t n, const char *name)
{
	struct yaml yaml = { .settings = settings, .name = name };
	/* What decodes it looks beyond an end that is in the middle of a character. */
	auto_free char *copy = xcalloc(n + 1, 1);
	int r, id;

	memcpy(copy, text, n);
	r = check_text(&yaml, copy, n);
	/* libfyaml takes the length 0 for "up to the NUL". */
	if (r == 0 && n)
		r = keep_text(&yaml, copy, n);
	if (r == 0)
		r = take_kept(&yaml);
	for (id = 0; id < SETTING_N; id++)
		free(yaml.texts[id]);
	return r;
}

int settings_take_file(struct settings *settings, const char *path)
{
	auto_free char *text = xcalloc(FILE_MAX + 1, 1);
	FILE *file = fopen(path, "re");
	size_t n = 0;
	int error = file ? 0 : errno;

	if (file) {
		errno = 0;
		n = fread(text, 1, FILE_MAX + 1, file);
		error = ferror(file) ? (errno ? errno : EIO) : 0;
		fclose(file);
	}
	if (error || n > FILE_MAX) {
		snprintf(settings->error, sizeof(settings->error), "%.200s: cannot read it: %s",
			 path, error ? strerror(error) : "it is larger than 1 MiB");
		return error ? -error : -EFBIG;
	}
	return settings_take_yaml(settings, text, n, path);
}

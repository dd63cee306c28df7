/* SPDX-License-Identifier: Apache-2.0 */
/* Plain text only gets to libfyaml, and what it finds wrong is told as one sentence. */
#include "yaml.h"

#include <errno.h>
#include <libfyaml.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"
#include "xalloc.h"

#define FILE_MAX (1 << 20)

int yaml_line(struct fy_node *node)
{
	struct fy_token *token = node ? fy_node_get_scalar_token(node) : NULL;
	const struct fy_mark *mark = token ? fy_token_start_mark(token) : NULL;

	return mark ? mark->line + 1 : 1;
}

int yaml_complain(struct yaml *yaml, int line, const char *format, ...)
{
	char text[sizeof(yaml->error)];
	va_list args;
	int n;

	n = snprintf(text, sizeof(text), "%.200s:%d: ", yaml->name, line);
	va_start(args, format);
	vsnprintf(text + n, sizeof(text) - (size_t)n, format, args);
	va_end(args);
	text_clean(yaml->error, sizeof(yaml->error), text);
	return -EINVAL;
}

/*
 * By its pieces: asked for the text as a whole, libfyaml 0.7.12 forgets memory where that has more
 * than 16 escapes. Of two quotes in a row within single quotes it makes three, though it counts
 * two: what doesn't have the counted length is refused rather than taken wrongly.
 */
static char *copy_text(struct fy_token *token)
{
	struct fy_token_iter *iter = fy_token_iter_create(token);
	const struct fy_iter_chunk *chunk = NULL;
	char *text = xcalloc(YAML_VALUE_MAX + 1, 1);
	int error = iter ? 0 : -1;
	size_t n = 0;

	while (error == 0 && (chunk = fy_token_iter_chunk_next(iter, chunk, &error))) {
		if (chunk->len > YAML_VALUE_MAX - n || memchr(chunk->str, '\0', chunk->len)) {
			error = -1;
		} else {
			memcpy(text + n, chunk->str, chunk->len);
			n += chunk->len;
		}
	}
	fy_token_iter_destroy(iter);
	if (error == 0 && n == fy_token_get_text_length(token))
		return text;
	free(text);
	return NULL;
}

char *yaml_scalar(struct fy_node *node)
{
	struct fy_token *token;

	if (!node || fy_node_get_type(node) != FYNT_SCALAR || fy_node_is_alias(node))
		return NULL;
	token = fy_node_get_scalar_token(node);
	return token ? copy_text(token) : xstrdup("");
}

/* What libfyaml found wrong, of which the first is worth telling. */
static int complain_syntax(struct yaml *yaml, struct fy_diag *diag)
{
	void *cursor = NULL;
	struct fy_diag_error *error = fy_diag_errors_iterate(diag, &cursor);

	return yaml_complain(yaml, error && error->line > 0 ? error->line : 1, "not valid YAML: %s",
			     error && error->msg ? error->msg : "it can't be read");
}

/* The one document of the text; a file of nothing but comments has none and sets nothing. */
static int read_documents(struct yaml *yaml, struct fy_parser *parser, struct fy_diag *diag,
			  yaml_keep_fn keep, void *data)
{
	struct fy_document *document = fy_parse_load_document(parser);
	struct fy_document *second = NULL;
	int r = document ? keep(data, fy_document_root(document)) : 0;

	if (r == 0 && document)
		second = fy_parse_load_document(parser);
	if (r == 0 && fy_parser_get_stream_error(parser))
		r = complain_syntax(yaml, diag);
	else if (r == 0 && second)
		r = yaml_complain(yaml, 1, "more than one document ('---'); one is allowed");
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
			return yaml_complain(yaml, line, "a line can't begin with '%%' here");
		len = text[i] ? text_decode(text + i, &character) : 0;
		if (len == 0)
			return yaml_complain(yaml, line, "byte 0x%02x is not UTF-8 text",
					     (unsigned char)text[i]);
		is_line_begin = text[i] == '\n' || text[i] == '\r';
		line += text[i] == '\n';
	}
	return 0;
}

static int read_text(struct yaml *yaml, const char *text, size_t n, yaml_keep_fn keep, void *data)
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
		r = read_documents(yaml, parser, cfg.diag, keep, data);
	fy_parser_destroy(parser);
	fy_diag_destroy(cfg.diag);
	return r;
}

int yaml_read(struct yaml *yaml, const char *text, size_t n, yaml_keep_fn keep, void *data)
{
	/* What decodes it looks beyond an end that is in the middle of a character. */
	auto_free char *copy = xcalloc(n + 1, 1);
	int r;

	memcpy(copy, text, n);
	r = check_text(yaml, copy, n);
	/* libfyaml takes the length 0 for "up to the NUL". */
	if (r == 0 && n)
		r = read_text(yaml, copy, n, keep, data);
	return r;
}

int yaml_read_file(struct yaml *yaml, yaml_keep_fn keep, void *data)
{
	auto_free char *text = xcalloc(FILE_MAX + 1, 1);
	FILE *file = fopen(yaml->name, "re");
	size_t n = 0;
	int error = file ? 0 : errno;

	if (file) {
		errno = 0;
		n = fread(text, 1, FILE_MAX + 1, file);
		error = ferror(file) ? (errno ? errno : EIO) : 0;
		fclose(file);
	}
	if (error || n > FILE_MAX) {
		snprintf(yaml->error, sizeof(yaml->error), "%.200s: cannot read it: %s", yaml->name,
			 error ? strerror(error) : "it is larger than 1 MiB");
		return error ? -error : -EFBIG;
	}
	return yaml_read(yaml, text, n, keep, data);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Puts threads below their processes. Their energy is in the row above them already. */
#include "top_threads.h"

#include <stdlib.h>
#include <string.h>

#include "text.h"
#include "xalloc.h"

/* Threads of one process, in the order in which they come. */
struct family {
	uint64_t process_id;
	size_t index; /* of the row of the process */
	size_t n;
	size_t first, last; /* of the threads */
};

static int by_process(const void *left, const void *right)
{
	const struct family *a = left, *b = right;

	return (a->process_id > b->process_id) - (a->process_id < b->process_id);
}

static struct family *find(struct family *families, size_t n, uint64_t process_id)
{
	struct family key = { .process_id = process_id };

	return process_id ? bsearch(&key, families, n, sizeof(key), by_process) : NULL;
}

static struct family *make_families(const struct top_model *model)
{
	struct family *families = xcalloc(model->n_rows, sizeof(*families));
	size_t i;

	for (i = 0; i < model->n_rows; i++)
		families[i] = (struct family){ .process_id = model->rows[i].id, .index = i };
	qsort(families, model->n_rows, sizeof(*families), by_process);
	return families;
}

/* "| `-" of a process is "|   " for what is below it. */
static char *stem_below(const char *stem, bool is_last)
{
	const char *branch = text_is_utf8() ? "├─" : "|-", *last = text_is_utf8() ? "└─" : "`-";
	const char *line = text_is_utf8() ? "│ " : "| ";
	size_t n = strlen(stem), unit = strlen(branch);
	bool is_branch = n >= unit && strcmp(stem + n - unit, branch) == 0;
	bool is_end = n >= unit && strcmp(stem + n - unit, last) == 0;

	if (!is_branch && !is_end)
		return xasprintf("%s%s", stem, is_last ? last : branch);
	return xasprintf("%.*s%s%s", (int)(n - unit), stem, is_branch ? line : "  ",
			 is_last ? last : branch);
}

/* In the tree, the children of a process come behind its threads. */
static bool has_children(const struct top_model *model, size_t i)
{
	return i + 1 < model->n_rows &&
	       strlen(model->rows[i + 1].stem) > strlen(model->rows[i].stem);
}

void top_threads_place(struct top_model *model, struct top_row *threads, size_t n_threads)
{
	auto_free struct family *families = make_families(model);
	auto_free size_t *next = xcalloc(n_threads, sizeof(*next));
	auto_free struct family **of_row = xcalloc(model->n_rows, sizeof(*of_row));
	struct top_row *rows = xcalloc(model->n_rows + n_threads, sizeof(*rows));
	struct family *family;
	size_t i, k, left, n = 0;

	for (i = 0; i < n_threads; i++) {
		family = find(families, model->n_rows, threads[i].process_id);
		if (!family)
			continue;
		if (family->n++ == 0)
			family->first = i;
		else
			next[family->last] = i;
		family->last = i;
		of_row[family->index] = family;
	}
	for (i = 0; i < model->n_rows; i++) {
		struct top_row *process = &rows[n++];

		*process = model->rows[i];
		family = of_row[i];
		if (!family || family->n < 2)
			continue;
		for (left = family->n, k = family->first; left-- > 0; k = next[k]) {
			bool is_last = left == 0 && !has_children(model, i);

			free(threads[k].stem);
			threads[k].stem = stem_below(process->stem, is_last);
			rows[n++] = threads[k];
			threads[k] = (struct top_row){ 0 };
		}
	}
	for (i = 0; i < n_threads; i++)
		top_row_done(&threads[i]);
	free(threads);
	free(model->rows);
	model->rows = rows;
	model->n_rows = n;
}

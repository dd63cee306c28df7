/* SPDX-License-Identifier: Apache-2.0 */
/* A balanced tree of labels; the C library keeps the balance. */
#include "labels.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "xalloc.h"

struct label_entry {
	char *label;
	size_t number;
	struct labels *labels;
};

static int compare(const void *left, const void *right)
{
	const struct label_entry *a = left, *b = right;

	a->labels->n_compares++;
	return strcmp(a->label, b->label);
}

static void entry_free(void *data)
{
	struct label_entry *entry = data;

	free(entry->label);
	free(entry);
}

size_t labels_find(struct labels *labels, const char *label)
{
	struct label_entry key = { .label = (char *)label, .labels = labels };
	struct label_entry **found = tfind(&key, &labels->root, compare);

	return found ? (*found)->number : LABELS_NONE;
}

size_t labels_get(struct labels *labels, const char *label)
{
	size_t number = labels_find(labels, label);
	struct label_entry *entry;

	if (number != LABELS_NONE)
		return number;
	entry = xcalloc(1, sizeof(*entry));
	*entry = (struct label_entry){ xstrdup(label), labels->n, labels };
	/* Only without memory is it not there now. */
	if (!tsearch(entry, &labels->root, compare))
		abort();
	return labels->n++;
}

void labels_done(struct labels *labels)
{
	tdestroy(labels->root, entry_free);
	*labels = (struct labels){ 0 };
}

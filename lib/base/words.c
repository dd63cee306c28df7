/* SPDX-License-Identifier: Apache-2.0 */
/* One walk for both ways. */
#include "base/words.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

#define TEXT_MAX 4096

static void fail(struct watt_words *words, int error)
{
	if (!words->error)
		words->error = error;
}

void watt_words_done(struct watt_words *words)
{
	size_t i;

	for (i = 0; i < words->n_texts; i++)
		free(words->texts[i]);
	free(words->texts);
	free(words->list);
	*words = (struct watt_words){ 0 };
}

void watt_words_u64(struct watt_words *words, uint64_t *value, uint64_t most)
{
	if (words->error)
		return;
	if (!words->is_loading) {
		int r = watt_grow((void **)&words->list, &words->cap, words->n,
				  sizeof(*words->list));

		if (r < 0)
			fail(words, r);
		else
			words->list[words->n++] = *value;
		return;
	}
	if (words->at == words->n || words->list[words->at] > most)
		fail(words, -EBADMSG);
	else
		*value = words->list[words->at++];
}

void watt_words_u32(struct watt_words *words, uint32_t *value, uint32_t most)
{
	uint64_t wide = *value;

	watt_words_u64(words, &wide, most);
	*value = (uint32_t)wide;
}

void watt_words_size(struct watt_words *words, size_t *value, size_t most)
{
	uint64_t wide = *value;

	watt_words_u64(words, &wide, most);
	*value = (size_t)wide;
}

void watt_words_bool(struct watt_words *words, bool *value)
{
	uint64_t wide = *value;

	watt_words_u64(words, &wide, 1);
	*value = wide != 0;
}

void watt_words_double(struct watt_words *words, double *value, double least, double most)
{
	uint64_t bits = 0;
	double loaded;

	memcpy(&bits, value, sizeof(bits));
	watt_words_u64(words, &bits, UINT64_MAX);
	if (!words->is_loading || words->error)
		return;
	memcpy(&loaded, &bits, sizeof(loaded));
	if (!isfinite(loaded) || loaded < least || loaded > most)
		fail(words, -EBADMSG);
	else
		*value = loaded;
}

static void save_text(struct watt_words *words, const char *text)
{
	char *copy = NULL;
	int r = watt_grow((void **)&words->texts, &words->cap_texts, words->n_texts,
			  sizeof(*words->texts));

	if (r == 0) {
		copy = strndup(text ? text : "", TEXT_MAX);
		r = copy ? 0 : -ENOMEM;
	}
	if (r < 0)
		fail(words, r);
	else
		words->texts[words->n_texts++] = copy;
}

void watt_words_text(struct watt_words *words, char **text)
{
	const char *loaded;
	char *copy = NULL;

	if (words->error)
		return;
	if (!words->is_loading) {
		save_text(words, *text);
		return;
	}
	if (words->at_text == words->n_texts) {
		fail(words, -EBADMSG);
		return;
	}
	loaded = words->texts[words->at_text++];
	if (loaded && *loaded) {
		copy = strdup(loaded);
		if (!copy) {
			fail(words, -ENOMEM);
			return;
		}
	}
	free(*text);
	*text = copy;
}

int watt_words_end(const struct watt_words *words)
{
	if (words->error)
		return words->error;
	if (words->is_loading && (words->at != words->n || words->at_text != words->n_texts))
		return -EBADMSG;
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* lib/base/pieces.c: JSON that arrives in parts, of any length. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>

#include "base/pieces.h"
#include "base/util.h"

static char heard[512];

static int hear(void *data, const char *key, const char *text, size_t len)
{
	size_t n = strlen(heard);

	snprintf(heard + n, sizeof(heard) - n, "%s=%.*s;", key, (int)len, text);
	return *(int *)data;
}

static int feed(enum watt_pieces_of of, const char *text, size_t step, int answer)
{
	struct watt_pieces pieces = { .of = of, .max_len = 40, .fn = hear, .data = &answer };
	size_t i, len = strlen(text);
	int r;

	heard[0] = '\0';
	for (i = 0; i < len; i += step)
		watt_pieces_feed(&pieces, text + i, WATT_MIN(step, len - i));
	r = watt_pieces_end(&pieces);
	watt_pieces_done(&pieces);
	return r;
}

static void test_list(void **state)
{
	static const char list[] = "{\"kind\":\"PodList\", \"metadata\":{\"v\":\"1\"},\n"
				   "\"items\":[{\"a\":\"}]\\\"{\"}, {\"b\":[{}]}],\"n\":3}";
	size_t step;

	for (step = 1; step < sizeof(list); step += 3) {
		assert_int_equal(feed(WATT_PIECES_LIST, list, step, 0), 0);
		assert_string_equal(heard, "metadata={\"v\":\"1\"};items={\"a\":\"}]\\\"{\"};"
					   "items={\"b\":[{}]};");
	}
	assert_int_equal(feed(WATT_PIECES_LIST, "{\"items\":[]}", 5, 0), 0);
	assert_string_equal(heard, "");
}

static void test_stream(void **state)
{
	static const char stream[] = "{\"type\":\"ADDED\"}\n{\"a\":{\"items\":[{}]}}\r\n";
	size_t step;

	for (step = 1; step < sizeof(stream); step++) {
		assert_int_equal(feed(WATT_PIECES_STREAM, stream, step, 0), 0);
		assert_string_equal(heard, "={\"type\":\"ADDED\"};={\"a\":{\"items\":[{}]}};");
	}
	assert_int_equal(feed(WATT_PIECES_STREAM, "", 1, 0), 0);
}

static void test_refused(void **state)
{
	static const struct {
		const char *text;
		int error;
	} cases[] = {
		{ "", -EBADMSG },
		{ "<html>", -EBADMSG },
		{ "[{}]", -EBADMSG },
		{ "{\"items\":[{}]", -EBADMSG },
		{ "{\"items\":[{}}", -EBADMSG },
		{ "{\"items\":[{]}", -EBADMSG },
		{ "{\"items\":[]}{}", -EBADMSG },
		{ "{\"items\":[]} x", -EBADMSG },
		{ "{\"items\":[{\"a\":\"0123456789012345678901234567890123456789\"}]}", -EMSGSIZE },
	};
	char deep[2 * WATT_PIECES_DEPTH_MAX];
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(cases); i++)
		assert_int_equal(feed(WATT_PIECES_LIST, cases[i].text, 7, 0), cases[i].error);
	memset(deep, '[', sizeof(deep) - 1);
	deep[0] = '{';
	deep[sizeof(deep) - 1] = '\0';
	assert_int_equal(feed(WATT_PIECES_LIST, deep, 7, 0), -EMSGSIZE);
	/* who takes the pieces may have enough */
	assert_int_equal(feed(WATT_PIECES_STREAM, "{\"a\":1}{\"b\":2}", 3, -ECANCELED), -ECANCELED);
	assert_string_equal(heard, "={\"a\":1};");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_list),
		cmocka_unit_test(test_stream),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests_name("pieces", tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* agent/outbox.c and what agent/otlp.c reads of answers */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "otlp.h"
#include "outbox.h"

static char *copy(const char *text)
{
	char *copied = strdup(text);

	assert_non_null(copied);
	return copied;
}

static void rmtree(const char *folder)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	assert_int_equal(system(command), 0);
}

/* A document of n bytes that begins with a number. */
static char *document(unsigned int number, size_t n)
{
	char *text = malloc(n + 1);

	assert_non_null(text);
	memset(text, '.', n);
	text[n] = '\0';
	text[snprintf(text, n, "%u", number)] = '.';
	return text;
}

static void expect_first(struct outbox *outbox, unsigned int number)
{
	size_t n;
	char *text = outbox_copy_first(outbox, &n);

	assert_non_null(text);
	assert_int_equal(strtoul(text, NULL, 10), number);
	free(text);
}

/* Oldest first, none twice; what is too much goes from the front, and is counted. */
static void check_order(const char *folder)
{
	struct outbox outbox;
	unsigned int i;
	size_t n;

	assert_int_equal(outbox_open(&outbox, folder, 1000), 0);
	assert_null(outbox_copy_first(&outbox, &n));
	for (i = 0; i < 12; i++)
		outbox_add(&outbox, document(i, 100));
	assert_int_equal(outbox.n_items, 10);
	assert_int_equal(outbox.bytes, 1000);
	assert_int_equal(outbox.lost, 2);
	for (i = 2; i < 12; i++) {
		expect_first(&outbox, i);
		expect_first(&outbox, i);
		outbox_remove_first(&outbox);
	}
	outbox_remove_first(&outbox);
	assert_int_equal(outbox.n_items, 0);
	assert_int_equal(outbox.bytes, 0);
	/* One that is larger than all room is still the newest. */
	outbox_add(&outbox, document(1, 100));
	outbox_add(&outbox, document(7, 5000));
	assert_int_equal(outbox.n_items, 1);
	expect_first(&outbox, 7);
	outbox_remove_first(&outbox);
	outbox_close(&outbox);
}

static void test_order(void **state)
{
	char folder[] = "/tmp/watt-outbox-XXXXXX";

	check_order(NULL);
	assert_non_null(mkdtemp(folder));
	check_order(folder);
	rmtree(folder);
}

/* What an earlier run has left comes first; what is none of ours is left alone. */
static void test_restart(void **state)
{
	static const char *const others[] = { "new", "7.json", "0000000000000000000a.json",
					      "README" };
	char folder[] = "/tmp/watt-outbox-XXXXXX", path[128];
	struct outbox outbox, second;
	size_t i, n;
	char *text;

	assert_non_null(mkdtemp(folder));
	assert_int_equal(outbox_open(&outbox, folder, 1000), 0);
	assert_int_equal(outbox_open(&second, folder, 1000), -EBUSY);
	for (i = 0; i < 3; i++)
		outbox_add(&outbox, document((unsigned int)i, 100));
	outbox_close(&outbox);
	for (i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, others[i]);
		close(open(path, O_CREAT | O_WRONLY, 0600));
	}
	/* A link where a document would be is not followed. */
	snprintf(path, sizeof(path), "%s/%020d.json", folder, 99);
	assert_int_equal(symlink("/etc/passwd", path), 0);
	/* One of them is cut short. */
	snprintf(path, sizeof(path), "%s/%020d.json", folder, 1);
	assert_int_equal(outbox_open(&outbox, folder, 1000), 0);
	assert_int_equal(outbox.n_items, 3);
	assert_int_equal(truncate(path, 5), 0);
	outbox_add(&outbox, document(3, 100));
	expect_first(&outbox, 0);
	outbox_remove_first(&outbox);
	expect_first(&outbox, 2);
	assert_int_equal(outbox.lost, 1);
	outbox_remove_first(&outbox);
	expect_first(&outbox, 3);
	outbox_remove_first(&outbox);
	assert_null(outbox_copy_first(&outbox, &n));
	outbox_close(&outbox);
	/* With less room the newest are kept. */
	assert_int_equal(outbox_open(&outbox, folder, 1000), 0);
	for (i = 0; i < 5; i++)
		outbox_add(&outbox, document((unsigned int)i, 100));
	outbox_close(&outbox);
	assert_int_equal(outbox_open(&outbox, folder, 250), 0);
	text = outbox_copy_first(&outbox, &n);
	assert_int_equal(strtoul(text, NULL, 10), 3);
	assert_int_equal(n, 100);
	free(text);
	outbox_close(&outbox);
	rmtree(folder);
}

/* Where nothing can be written documents wait in memory. */
static void test_no_room(void **state)
{
	char folder[] = "/tmp/watt-outbox-XXXXXX";
	struct outbox outbox;
	size_t n;
	char *text;

	assert_non_null(mkdtemp(folder));
	assert_int_equal(outbox_open(&outbox, folder, 1000), 0);
	rmtree(folder);
	outbox_add(&outbox, copy("first"));
	assert_int_equal(outbox.error, -ENOENT);
	text = outbox_copy_first(&outbox, &n);
	assert_string_equal(text, "first");
	assert_int_equal(n, 5);
	free(text);
	outbox_remove_first(&outbox);
	assert_int_equal(outbox.lost, 0);
	outbox_close(&outbox);
	assert_int_equal(outbox_open(&outbox, "/nowhere/folder", 1000), -ENOENT);
	assert_int_equal(outbox_open(&outbox, "/dev/null", 1000), -ENOTDIR);
}

static uint64_t rejected(const char *answer)
{
	return otlp_rejected_points(answer, strlen(answer));
}

static void test_answers(void **state)
{
	assert_int_equal(rejected(""), 0);
	assert_int_equal(rejected("{"), 0);
	assert_int_equal(rejected("[]"), 0);
	assert_int_equal(rejected("{\"partialSuccess\": 1}"), 0);
	assert_int_equal(rejected("{\"partialSuccess\": {\"rejectedDataPoints\": \"12\"}}"), 12);
	assert_int_equal(rejected("{\"partialSuccess\": {\"rejectedDataPoints\": 3}}"), 3);
	assert_int_equal(rejected("{\"partialSuccess\": {\"rejectedDataPoints\": -3}}"), 0);
	assert_int_equal(rejected("{\"partialSuccess\": {\"rejectedDataPoints\": \"x\"}}"), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_restart),
		cmocka_unit_test(test_no_room),
		cmocka_unit_test(test_answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

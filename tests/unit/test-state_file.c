/* SPDX-License-Identifier: Apache-2.0 */
/* lib/source/meta/state_file.c: the bounds within which what runtimes write is believed. */
#include "containers.h"

static int parse(const char *text)
{
	json_t *value = NULL;
	int r = watt_state_parse(text, strlen(text), &value);

	json_decref(value);
	return r;
}

static void test_depth(void **state)
{
	char text[2 * WATT_STATE_DEPTH_MAX + 8];
	size_t n = WATT_STATE_DEPTH_MAX;

	memset(text, '[', n);
	memset(text + n, ']', n);
	text[2 * n] = '\0';
	assert_int_equal(parse(text), 0);
	memset(text, '[', n + 1);
	memset(text + n + 1, ']', n + 1);
	text[2 * n + 2] = '\0';
	assert_int_equal(parse(text), -EMSGSIZE);
	/* brackets in texts are no depth, whatever is escaped */
	memset(text + 2, '[', 2 * n);
	memcpy(text, "[\"\\\"", 4);
	memcpy(text + 2 * n, "\"]", 3);
	assert_int_equal(parse(text), 0);
}

static void test_size(void **state)
{
	char *text = malloc(WATT_STATE_SIZE_MAX + 2);
	json_t *value = NULL;

	memset(text, ' ', WATT_STATE_SIZE_MAX + 2);
	memcpy(text, "[]", 2);
	assert_int_equal(watt_state_parse(text, WATT_STATE_SIZE_MAX + 1, &value), -EMSGSIZE);
	assert_null(value);
	assert_int_equal(watt_state_parse(text, WATT_STATE_SIZE_MAX, &value), 0);
	json_decref(value);
	free(text);
}

static void test_text(void **state)
{
	char name[WATT_STATE_NAME_MAX + 2];
	json_t *object = json_object();

	memset(name, 'x', sizeof(name));
	name[WATT_STATE_NAME_MAX] = '\0';
	json_object_set_new(object, "longest", json_string(name));
	name[WATT_STATE_NAME_MAX] = 'x';
	name[WATT_STATE_NAME_MAX + 1] = '\0';
	json_object_set_new(object, "long", json_string(name));
	json_object_set_new(object, "empty", json_string(""));
	json_object_set_new(object, "number", json_integer(5));
	assert_non_null(watt_state_text(object, "longest"));
	assert_null(watt_state_text(object, "long"));
	assert_null(watt_state_text(object, "empty"));
	assert_null(watt_state_text(object, "number"));
	assert_null(watt_state_text(object, "none"));
	assert_null(watt_state_text(NULL, "none"));
	json_decref(object);
}

static void test_labels_are_bounded(void **state)
{
	struct watt_container found = { .id = "a", .name = "b" };
	struct watt_answer answer;
	json_t *labels = json_object();
	char key[300], value[WATT_STATE_LABEL_MAX + 2];
	int i;

	memset(value, 'v', sizeof(value));
	value[sizeof(value) - 1] = '\0';
	json_object_set_new(labels, "too long", json_string(value));
	memset(key, 'k', sizeof(key));
	key[sizeof(key) - 1] = '\0';
	json_object_set_new(labels, key, json_string("x"));
	for (i = 0; i < 100; i++) {
		snprintf(key, sizeof(key), "key-%d", i);
		json_object_set_new(labels, key, json_string("x"));
	}
	assert_int_equal(watt_state_keep(&found, labels, &answer), 0);
	assert_int_equal(answer.container.n_labels, WATT_STATE_LABELS_MAX);
	assert_string_equal(answer.container.labels[0].key, "key-0");
	watt_answer_done(&answer);
	json_decref(labels);
	found.name = NULL;
	assert_int_equal(watt_state_keep(&found, NULL, &answer), -ENOENT);
}

/* What may not be read is said to be forbidden, and not to be absent. */
static void test_probe_is_forbidden(void **state)
{
	static const char *const places[] = { "var/lib/x", NULL };
	struct watt_diag diag = { 0 };
	char path[PATH_MAX];
	struct containers c;

	containers_open(&c, &watt_meta_docker);
	scratch_write(c.dir, "var/lib/x/file", "");
	snprintf(path, sizeof(path), "%s/var/lib", c.dir);
	assert_int_equal(chmod(c.dir, 0755), 0);
	assert_int_equal(chmod(path, 0), 0);
	if (geteuid() == 0)
		assert_int_equal(seteuid(65534), 0); /* root may read everything */
	watt_state_probe(&c.test.env, places, "x", &diag);
	if (getuid() == 0)
		assert_int_equal(seteuid(0), 0);
	assert_int_equal(chmod(path, 0755), 0);
	assert_int_equal(diag.state, WATT_FORBIDDEN);
	assert_true(diag.hint[0]);
	containers_close(&c);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_size),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_labels_are_bounded),
		cmocka_unit_test(test_probe_is_forbidden),
	};

	return cmocka_run_group_tests_name("state_file", tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A machine made on the spot, on which a runtime keeps the state of its containers. */
#ifndef WATT_TESTS_CONTAINERS_H
#define WATT_TESTS_CONTAINERS_H

#include "env.h"

#include "source/meta/state_file.h"
#include "source/registry.h"

#define ID_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define ID_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define POD_UID "0f1e2d3c-1111-2222-3333-444455556666"

struct containers {
	char *dir;
	struct test_env test;
	struct watt_meta *meta;
	struct watt_answer answer;
};

static inline void containers_open(struct containers *c, const struct watt_meta_ops *ops)
{
	char procfs[PATH_MAX];

	*c = (struct containers){ .dir = scratch_new() };
	scratch_write(c->dir, "proc/stat", "");
	scratch_write(c->dir, "etc/passwd",
		      "root:x:0:0::/root:/bin/sh\nanna:x:1000:1000:A:/home/anna:/bin/sh\n");
	snprintf(procfs, sizeof(procfs), "%s/proc", c->dir);
	test_env_open(&c->test, procfs, NULL);
	assert_int_equal(ops->open(&c->test.env, &c->meta), 0);
}

static inline void containers_close(struct containers *c)
{
	watt_answer_done(&c->answer);
	c->meta->ops->close(c->meta);
	test_env_close(&c->test);
	scratch_remove(c->dir);
}

/* What it answers to the question, in place of the answer before. */
static inline int containers_ask(struct containers *c, const char *id, const char *runtime,
				 uint32_t uid)
{
	struct watt_question q = { .kind = WATT_ASK_CONTAINER, .container.uid = uid };

	snprintf(q.container.id, sizeof(q.container.id), "%s", id);
	snprintf(q.container.runtime, sizeof(q.container.runtime), "%s", runtime);
	watt_answer_done(&c->answer);
	return c->meta->ops->answer(c->meta, &q, &c->answer);
}

static inline void containers_expect(struct containers *c, const char *name, const char *image)
{
	assert_int_equal(c->answer.kind, WATT_ASK_CONTAINER);
	assert_string_equal(c->answer.container.name, name);
	if (image)
		assert_string_equal(c->answer.container.image, image);
	else
		assert_null(c->answer.container.image);
}

/* That it says what it finds: on a fixture without any, and on this one. */
static inline void containers_probe(struct containers *c, const char *without,
				    enum watt_availability expected)
{
	struct watt_diag diag = { 0 };
	struct test_env bare;

	test_env_open(&bare, fixture(without, "proc"), NULL);
	assert_int_equal(c->meta->ops->probe(&bare.env, &diag), -ENOENT);
	assert_int_equal(diag.state, WATT_ABSENT);
	assert_true(diag.why[0] && diag.path[0]);
	test_env_close(&bare);
	c->meta->ops->probe(&c->test.env, &diag);
	assert_int_equal(diag.state, expected);
}

#endif

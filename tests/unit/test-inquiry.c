/* SPDX-License-Identifier: Apache-2.0 */
/* lib/sample/inquiry.c: providers that answer, that know nothing, and that hang. */
#include "env.h"

#include <semaphore.h>
#include <time.h>

#include "base/clock.h"
#include "base/util.h"
#include "sample/inquiry.h"

/* What the provider below does, and what happened to it. */
static struct {
	sem_t entered; /* it has begun to answer a user above 1000 */
	sem_t leave;   /* it may end */
	sem_t left;    /* it does */
	sem_t heard;
	int pipe[2]; /* what it listens to */
	bool is_deaf;
	bool cant_open;
} stage;

static int fake_probe(const struct watt_env *env, struct watt_diag *diag)
{
	return 0;
}

static const struct watt_meta_ops fake;

static int fake_open(const struct watt_env *env, struct watt_meta **ret)
{
	struct watt_meta *meta = stage.cant_open ? NULL : calloc(1, sizeof(*meta));

	if (!meta)
		return -ENOMEM;
	*meta = (struct watt_meta){ &fake, stage.is_deaf ? -1 : stage.pipe[0] };
	*ret = meta;
	return 0;
}

/* Knows all users but 7, and takes its time for those above 1000. */
static int fake_answer(struct watt_meta *meta, const struct watt_question *q,
		       struct watt_answer *ret)
{
	if (q->uid == 7)
		return -ENOENT;
	if (q->uid == 900 && q->n_asked < 2) {
		sem_post(&stage.entered);
		return -EAGAIN;
	}
	if (q->uid > 1000) {
		sem_post(&stage.entered);
		sem_wait(&stage.leave);
		sem_post(&stage.left);
	}
	*ret = (struct watt_answer){ .kind = WATT_ASK_USER, .user.uid = q->uid };
	snprintf(ret->user.name, sizeof(ret->user.name), "u%u", q->uid);
	ret->storage = strdup("owned");
	return 0;
}

static void fake_listen(struct watt_meta *meta)
{
	char byte;

	assert_int_equal(read(meta->fd, &byte, 1), 1);
	sem_post(&stage.heard);
}

static void fake_close(struct watt_meta *meta)
{
	free(meta);
}

static const struct watt_meta_ops fake = {
	.name = "fake",
	.summary = "for tests",
	.answers = 1u << WATT_ASK_USER,
	.probe = fake_probe,
	.open = fake_open,
	.answer = fake_answer,
	.listen = fake_listen,
	.close = fake_close,
};

static const struct watt_meta_ops *const providers[] = { &fake, NULL };
static struct watt_inquiry *inquiry;
static const struct watt_env env = { .sysfs = WATT_ROOT_INIT, .procfs = WATT_ROOT_INIT };

static int set_up(void **state)
{
	struct watt_inquiry_opts opts = { .providers = providers,
					  .deadline_ns = 3600 * WATT_NSEC_PER_SEC };

	memset(&stage, 0, sizeof(stage));
	sem_init(&stage.entered, 0, 0);
	sem_init(&stage.leave, 0, 0);
	sem_init(&stage.left, 0, 0);
	sem_init(&stage.heard, 0, 0);
	assert_int_equal(pipe2(stage.pipe, O_CLOEXEC), 0);
	assert_int_equal(watt_inquiry_new(&env, &opts, &inquiry), 0);
	return 0;
}

static int tear_down(void **state)
{
	inquiry = watt_inquiry_free(inquiry);
	close(stage.pipe[0]);
	close(stage.pipe[1]);
	return 0;
}

static void ask(uint32_t uid)
{
	struct watt_question q = { .kind = WATT_ASK_USER, .uid = uid };

	assert_int_equal(watt_inquiry_ask(inquiry, &q), 0);
}

static void pause_shortly(void)
{
	struct timespec ts = { 0, WATT_NSEC_PER_MSEC };

	nanosleep(&ts, NULL);
}

static uint32_t next_answer(void)
{
	struct watt_answer answer;
	uint32_t uid;

	while (watt_inquiry_next(inquiry, &answer) != 0)
		pause_shortly();
	uid = answer.user.uid;
	assert_string_equal(answer.storage, "owned");
	watt_answer_done(&answer);
	assert_null(answer.storage);
	return uid;
}

static struct watt_inquiry_stats stats(void)
{
	struct watt_inquiry_stats s;

	assert_int_equal(watt_inquiry_get_stats(inquiry, 0, &s), 0);
	assert_int_equal(watt_inquiry_get_stats(inquiry, 1, &s), -EINVAL);
	return s;
}

/* Hours later, for whoever measures time. */
static void tend_later(void)
{
	watt_inquiry_tend(inquiry, watt_now_ns() + 7200 * WATT_NSEC_PER_SEC);
}

static void test_all_are_answered(void **state)
{
	bool seen[500] = { false };
	struct watt_question other = { .kind = WATT_ASK_CGROUP };
	struct watt_answer answer;
	uint32_t i;

	assert_int_equal(watt_inquiry_next(inquiry, &answer), 1);
	assert_int_equal(watt_inquiry_pending(inquiry), 0);
	for (i = 0; i < 500; i++)
		ask(i);
	for (i = 1; i < 500; i++) {
		uint32_t uid = next_answer();

		assert_false(seen[uid]);
		seen[uid] = true;
	}
	while (watt_inquiry_pending(inquiry))
		pause_shortly();
	assert_false(seen[7]);
	assert_int_equal(stats().asked, 500);
	assert_int_equal(stats().answered, 499);
	assert_int_equal(stats().unknown, 1);
	assert_int_equal(stats().late, 0);
	/* nobody is there for that */
	assert_int_equal(watt_inquiry_room(inquiry, WATT_ASK_CGROUP), 0);
	assert_int_equal(watt_inquiry_ask(inquiry, &other), -EAGAIN);
}

/* Whoever says no deadline has one of some seconds: nobody is waited for as long as he likes. */
static void test_usual_deadline(void **state)
{
	struct watt_inquiry_opts opts = { .providers = providers };
	uint64_t now_ns;

	watt_inquiry_free(inquiry);
	assert_int_equal(watt_inquiry_new(&env, &opts, &inquiry), 0);
	ask(1001);
	sem_wait(&stage.entered);
	now_ns = watt_now_ns();
	watt_inquiry_tend(inquiry, now_ns + 5 * WATT_NSEC_PER_SEC);
	assert_int_equal(stats().hung, 1);
	sem_post(&stage.leave);
	assert_int_equal(next_answer(), 1001);
}

/* One question that hangs stops no other; its answer is welcome however late. */
static void test_one_hangs(void **state)
{
	ask(1001);
	sem_wait(&stage.entered);
	ask(1);
	ask(2);
	watt_inquiry_tend(inquiry, watt_now_ns()); /* too early */
	tend_later();
	assert_int_equal(stats().hung, 1);
	assert_int_equal(next_answer() + next_answer(), 3);
	assert_int_equal(watt_inquiry_pending(inquiry), 0);
	sem_post(&stage.leave);
	assert_int_equal(next_answer(), 1001);
	while (stats().hung)
		pause_shortly();
	assert_int_equal(stats().late, 1);
	assert_int_equal(stats().answered, 3);
}

/* When all hang, nobody is asked any more, until one comes back. */
static void test_all_hang(void **state)
{
	uint32_t i;

	for (i = 0; i < 3; i++) {
		ask(2000 + i);
		sem_wait(&stage.entered);
		tend_later();
	}
	assert_int_equal(stats().hung, 3);
	assert_int_equal(watt_inquiry_room(inquiry, WATT_ASK_USER), 0);
	assert_int_equal(watt_inquiry_pending(inquiry), 0);
	sem_post(&stage.leave);
	assert_true(next_answer() >= 2000);
	while (stats().hung == 3)
		pause_shortly();
	assert_true(watt_inquiry_room(inquiry, WATT_ASK_USER) > 1000);
	ask(5);
	assert_int_equal(next_answer(), 5);
	sem_post(&stage.leave);
	sem_post(&stage.leave);
	while (stats().hung)
		pause_shortly();
}

/* Who hangs when all ends is counted, and ends by itself later, with whatever it needs. */
static void test_hangs_at_the_end(void **state)
{
	ask(1001);
	sem_wait(&stage.entered);
	ask(1);
	assert_int_equal(watt_inquiry_stop(inquiry), 1);
	inquiry = watt_inquiry_free(inquiry);
	assert_null(inquiry);
	/* Or whoever was left behind would take what is meant for the next one. */
	sem_post(&stage.leave);
	sem_wait(&stage.left);
	assert_int_equal(set_up(state), 0);
}

/* Questions are bounded: who asks keeps the rest. Answers nobody took are freed. */
static void test_is_bounded(void **state)
{
	struct watt_question q = { .kind = WATT_ASK_USER };
	size_t n = 0;

	ask(1001);
	sem_wait(&stage.entered);
	while (watt_inquiry_ask(inquiry, &q) == 0)
		n++;
	assert_int_equal(watt_inquiry_room(inquiry, WATT_ASK_USER), 0);
	assert_int_equal(n, 4095);
	sem_post(&stage.leave);
	while (watt_inquiry_pending(inquiry) < 4096 || stats().answered < 4096)
		pause_shortly();
	assert_int_equal(watt_inquiry_room(inquiry, WATT_ASK_USER), 0);
	next_answer();
	assert_int_equal(watt_inquiry_room(inquiry, WATT_ASK_USER), 4096);
}

static void test_listens(void **state)
{
	ask(1); /* whoever was never asked isn't there */
	next_answer();
	assert_int_equal(write(stage.pipe[1], "xy", 2), 2);
	sem_wait(&stage.heard);
	sem_wait(&stage.heard);
	ask(2);
	assert_int_equal(next_answer(), 2);
}

/* Who may be known later is asked for again whenever something was heard, and is not waited for. */
static void test_asks_again(void **state)
{
	ask(900);
	sem_wait(&stage.entered);
	while (watt_inquiry_pending(inquiry))
		pause_shortly();
	ask(1);
	assert_int_equal(next_answer(), 1);
	assert_int_equal(stats().unknown, 0);
	assert_int_equal(write(stage.pipe[1], "x", 1), 1);
	sem_wait(&stage.entered);
	while (watt_inquiry_pending(inquiry))
		pause_shortly();
	assert_int_equal(write(stage.pipe[1], "x", 1), 1);
	assert_int_equal(next_answer(), 900);
	assert_int_equal(stats().asked, 2);
	assert_int_equal(stats().answered, 2);
}

static void test_cant_open(void **state)
{
	stage.cant_open = true;
	ask(1);
	ask(2);
	while (watt_inquiry_pending(inquiry))
		pause_shortly();
	assert_int_equal(stats().unknown, 2);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_all_are_answered, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_usual_deadline, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_one_hangs, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_all_hang, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_hangs_at_the_end, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_is_bounded, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_listens, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_asks_again, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_cant_open, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("inquiry", tests, NULL, NULL);
}

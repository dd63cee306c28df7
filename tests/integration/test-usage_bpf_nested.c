/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Births and deaths while the hooks of a birth and of a death run on the same CPU: where the kernel
 * lets anybody in there, it skips the hooks of the same kind. What is said to be lost must be what is
 * missing. Needs root; says why and skips otherwise.
 */
#include "../unit/unit.h"

#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "slow_hook.skel.h"
#include "usage_rig.h"

#define SLOW_NAME "slow"
#define SLOW_BIRTHS 10
#define SLOW_HOLD_NS (10 * WATT_NSEC_PER_MSEC)
/* Longer than how often the kernel is asked for how many hooks it skipped. */
#define SKIPPED_PAUSE_US 300000
#define TRIES 3

struct shared {
	volatile int is_over;
	volatile int n_born; /* of the one that pushes in */
};

static struct slow_hook_bpf *slow_open(void)
{
	struct slow_hook_bpf *slow = slow_hook_bpf__open();

	assert_non_null(slow);
	slow->rodata->hold_ns = SLOW_HOLD_NS;
	memcpy((char *)&slow->rodata->name, SLOW_NAME, sizeof(slow->rodata->name));
	if (slow_hook_bpf__load(slow) == 0 && slow_hook_bpf__attach(slow) == 0)
		return slow;
	slow_hook_bpf__destroy(slow);
	return NULL;
}

static void be_on_first_cpu(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sched_setaffinity(0, sizeof(set), &set);
}

static void be_born_and_die(void)
{
	pid_t pid = fork();

	if (pid < 0)
		_exit(1);
	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
}

/* Its hooks and its children's take long. */
static void be_slow(void *data)
{
	(void)data;
	be_on_first_cpu();
	prctl(PR_SET_NAME, SLOW_NAME);
	for (int i = 0; i < SLOW_BIRTHS; i++)
		be_born_and_die();
}

/* Goes before all others of its CPU, whatever they do, once a millisecond. */
static void push_in(void *data)
{
	struct sched_param param = { .sched_priority = 10 };
	struct shared *shared = data;

	be_on_first_cpu();
	if (sched_setscheduler(0, SCHED_FIFO, &param) < 0)
		_exit(1);
	while (!shared->is_over) {
		usleep(1000);
		be_born_and_die();
		shared->n_born++;
	}
}

/* What was told of births, deaths and ends. By names: of whom no birth was told is no parent known. */
static uint64_t count_told(const struct rig *rig)
{
	char own_name[16];
	uint64_t n = 0;

	prctl(PR_GET_NAME, own_name);

	for (size_t i = 0; i < rig->n_slots; i++) {
		const struct rig_task *task = rig->tasks[i];

		if (task && (!strcmp(task->comm, own_name) || !strcmp(task->comm, SLOW_NAME)))
			n += task->n_events[WATT_USAGE_FORK] + task->n_events[WATT_USAGE_EXIT] +
			     task->n_events[WATT_USAGE_FREE];
	}
	return n;
}

struct nested {
	uint64_t n_events, told, lost;
};

/* Until all that will come has come. */
static void settle(struct rig *rig, uint64_t lost_before, struct nested *nested)
{
	for (int i = 0; i < 20; i++) {
		usleep(SKIPPED_PAUSE_US);
		rig_sweep(rig, true);
		nested->told = count_told(rig);
		nested->lost = rig->lost - lost_before;
		if (nested->told + nested->lost == nested->n_events)
			break;
	}
	fprintf(stderr, "%llu events, %llu told, %llu lost\n", (unsigned long long)nested->n_events,
		(unsigned long long)nested->told, (unsigned long long)nested->lost);
}

static struct nested be_nested(struct rig *rig, struct shared *shared)
{
	struct nested nested = { 0 };
	struct slow_hook_bpf *slow;
	uint64_t lost_before;
	pid_t pusher;

	*shared = (struct shared){ 0 };
	usleep(SKIPPED_PAUSE_US);
	rig_sweep(rig, true);
	rig_mark(rig);
	lost_before = rig->lost;
	slow = slow_open();
	if (!slow) {
		fprintf(stderr, "this kernel lets nobody slow its hooks down\n");
		if (getenv("WATT_TEST_ALL_WAYS"))
			fail();
		skip();
	}
	pusher = child_spawn(push_in, shared);
	child_reap(child_spawn(be_slow, NULL));
	shared->is_over = 1;
	child_reap(pusher);
	slow_hook_bpf__destroy(slow);
	/* two parents and their children, three events each */
	nested.n_events = 3 * (2 + SLOW_BIRTHS + (uint64_t)shared->n_born);
	settle(rig, lost_before, &nested);
	return nested;
}

/* The kernel's own threads come and go, too, and who knows when: then it is tried again. */
static void test_nested(void **state)
{
	struct rig *rig = rig_get(state);
	struct shared *shared =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct nested nested;
	int n_tries = 0;

	assert_ptr_not_equal(shared, MAP_FAILED);
	rig_sweep(rig, true);
	do {
		nested = be_nested(rig, shared);
	} while (nested.lost != nested.n_events - nested.told && ++n_tries < TRIES);
	assert_int_equal(nested.lost, nested.n_events - nested.told);
	if (rig_may_lose())
		assert_true(nested.lost > 0);
	else
		assert_int_equal(nested.lost, 0);
	munmap(shared, 4096);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST_BOTH(nested),
	};
	const char *why = rig_why_not();

	if (why) {
		fprintf(stderr, "%s\n", why);
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}

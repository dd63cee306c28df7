/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lib/attrib/instance.c: instances of a GPU that come and go, each with what those in it have of
 * the GPU's energy: together with what is idle and nobody's that is the GPU's, to the nJ.
 */
#include "channel.h"
#include "unit.h"

#include "attrib/attrib.h"
#include "rules_of.h"

#define MS 1000000ULL
#define SLICE_NS (50 * MS)
#define EPOCH_NS (1000 * MS)
#define GPU_W 200
#define IDLE_W 40
#define FIRST_PID 500
#define N_USERS 2

static const struct watt_channel channels[2] = {
	CHANNEL("gpu", "gpu-0", WATT_DOMAIN_GPU, .package_id = -1, .idle_uw = IDLE_W * 1000000),
	CHANNEL("other", "gpu-1", WATT_DOMAIN_GPU, .package_id = -1),
};

/* What is told of each place: it has come at from_ns, and was gone at until_ns. */
struct told {
	const char *path;
	uint32_t n_units;
	uint64_t from_ns, until_ns;
	uint32_t pid;
	uint32_t percent; /* of all its units, by that one */
};

struct world {
	struct watt_timeline *tl;
	struct watt_attrib *at;
	struct watt_snapshot *snap;
	uint64_t t_ns;
	uint64_t amounts[4];
};

static void open_world(struct world *w, const char *keys)
{
	static const struct watt_channel *const list[] = { &channels[0], &channels[1] };
	struct watt_rules rules = rules_of(keys, &watt_share_key_syntax);
	static const uint16_t slots[1] = { 0 };
	struct watt_attrib_opts opts = { .channels = list,
					 .n_channels = 2,
					 .cpu_slot = slots,
					 .n_cpus = 1,
					 .n_slots = 1,
					 .share_keys = &rules };

	*w = (struct world){ .t_ns = EPOCH_NS };
	assert_int_equal(watt_timeline_new(list, 2, &w->tl), 0);
	assert_int_equal(watt_attrib_new(&opts, &w->at), 0);
	watt_rules_clear(&rules);
}

static void close_world(struct world *w)
{
	watt_snapshot_unref(w->snap);
	watt_attrib_free(w->at);
	watt_timeline_free(w->tl);
}

static void sweep(struct world *w)
{
	struct watt_usage records[N_USERS];
	struct watt_usage_batch batch = { .t_before_ns = w->t_ns,
					  .t_after_ns = w->t_ns,
					  .records = records,
					  .n_records = N_USERS };
	uint32_t i;

	for (i = 0; i < N_USERS; i++) {
		records[i] = (struct watt_usage){ .t_ns = w->t_ns,
						  .start_ns = 1 + i,
						  .leader_start_ns = 1 + i,
						  .tid = FIRST_PID + i,
						  .tgid = FIRST_PID + i,
						  .kind = WATT_USAGE_TASK };
		snprintf(records[i].comm, sizeof(records[i].comm), "user-%u", i);
	}
	assert_int_equal(watt_attrib_push_usage(w->at, &batch), 0);
}

static void tell(struct world *w, const struct told *told, size_t n)
{
	struct watt_activity_place places[5] = { { "gpu-0", w->t_ns, WATT_ACTIVITY_GPU_TIME, 0 } };
	struct watt_activity readings[4];
	struct watt_activity_batch batch = { places, 1, readings, 0 };
	size_t i;

	for (i = 0; i < n; i++) {
		bool is_there = w->t_ns < told[i].until_ns;

		if (w->t_ns < told[i].from_ns)
			continue;
		if (w->t_ns > told[i].from_ns && is_there)
			w->amounts[i] += SLICE_NS * told[i].n_units * told[i].percent / 100;
		readings[batch.n_readings++] =
			(struct watt_activity){ .t_ns = w->t_ns,
						.amount = w->amounts[i],
						.pid = told[i].pid,
						.place = (uint32_t)batch.n_places };
		places[batch.n_places++] =
			(struct watt_activity_place){ told[i].path, w->t_ns, WATT_ACTIVITY_GPU_TIME,
						      is_there ? told[i].n_units : 0 };
	}
	assert_int_equal(watt_attrib_push_activity(w->at, &batch), 0);
}

static void live(struct world *w, uint64_t until_ns, const struct told *told, size_t n)
{
	for (; w->t_ns <= until_ns; w->t_ns += SLICE_NS) {
		int64_t energy_nj = (int64_t)((w->t_ns - EPOCH_NS) * GPU_W);
		struct watt_sample sample = { w->t_ns, w->t_ns, energy_nj, 0, WATT_STATUS_OK };

		assert_int_equal(watt_timeline_push(w->tl, &sample), 0);
		sample.channel = 1;
		assert_int_equal(watt_timeline_push(w->tl, &sample), 0);
		tell(w, told, n);
		sweep(w);
		assert_true(watt_attrib_advance(w->at, w->tl, w->t_ns) >= 0);
	}
}

static void look(struct world *w)
{
	struct watt_look_opts opts = { .t_ns = w->t_ns };

	watt_snapshot_unref(w->snap);
	assert_int_equal(watt_attrib_snapshot(w->at, w->tl, &opts, &w->snap), 0);
	assert_int_equal(watt_snapshot_get_quality(w->snap)->check_failures, 0);
	assert_int_equal(watt_snapshot_get_quality(w->snap)->sum_failures, 0);
}

static size_t find(const struct world *w, const char *path)
{
	size_t i;

	for (i = 0; i < watt_snapshot_get_domain_count(w->snap); i++)
		if (!strcmp(watt_snapshot_get_domain(w->snap, i)->path, path))
			return i;
	return SIZE_MAX;
}

static const struct watt_domain_state *state_of(const struct world *w, const char *path)
{
	return watt_snapshot_get_domain_state(w->snap, find(w, path));
}

static int64_t nj_of(const struct world *w, const char *name, const char *path)
{
	size_t domain = find(w, path), i;

	for (i = 0; i < watt_snapshot_get_row_count(w->snap); i++) {
		const struct watt_row *row = watt_snapshot_get_row(w->snap, i);

		if (!strcmp(row->entity->name, name) && row->entity->kind == WATT_ENTITY_PROCESS)
			return watt_energy_to_nj(row->energy[domain]);
	}
	return 0;
}

#define A "gpu-0/mig-1-0"
#define B "gpu-0/mig-2-0"
static const struct told told[] = {
	{ A, 3, 0, EPOCH_NS + 3000 * MS, FIRST_PID, 80 },
	{ B, 2, EPOCH_NS + 1000 * MS, UINT64_MAX, FIRST_PID + 1, 50 },
	{ B, 2, EPOCH_NS + 1000 * MS, UINT64_MAX, 0, 10 }, /* somebody whom nobody knows */
};

/* In the tree below the GPU, by a model; added to nothing. */
static void check_place(const struct world *w)
{
	const struct watt_domain *d = watt_snapshot_get_domain(w->snap, find(w, A));

	assert_int_equal(d->kind, WATT_DOMAIN_GPU_INSTANCE);
	assert_int_equal(d->origin, WATT_ORIGIN_ESTIMATED);
	assert_int_equal(d->parent, find(w, "gpu-0"));
	assert_int_equal(d->channel, -1);
	assert_int_equal(d->is_summed, 0);
	assert_int_equal(d->is_partition, 0);
	assert_string_equal(d->name, "mig-1-0");
	assert_int_equal(find(w, "gpu-0"), 0); /* what was there keeps its number */
}

static void test_come_and_go(void **state)
{
	int64_t gpu_nj, before_nj;
	struct world w;

	open_world(&w, NULL);
	live(&w, EPOCH_NS + 900 * MS, told, 1);
	look(&w);
	check_place(&w);
	assert_int_equal(find(&w, B), SIZE_MAX);
	gpu_nj = 900 * (int64_t)MS * (GPU_W - IDLE_W);
	assert_int_equal(watt_energy_to_nj(state_of(&w, A)->energy), gpu_nj);
	assert_int_equal(nj_of(&w, "user-0", A), gpu_nj);
	assert_int_equal(nj_of(&w, "user-0", "gpu-0"), gpu_nj);

	live(&w, EPOCH_NS + 4000 * MS, told, 2);
	look(&w);
	assert_int_not_equal(find(&w, B), SIZE_MAX);
	assert_int_equal(state_of(&w, A)->status, WATT_STATUS_ABSENT);
	assert_int_equal(state_of(&w, B)->status, WATT_STATUS_OK);
	assert_int_equal(state_of(&w, A)->t_ns, state_of(&w, "gpu-0")->t_ns);
	/* of 80 % of 3 slices and 50 % of 2: 12 and 5 of 17, while both were there */
	before_nj = watt_energy_to_nj(state_of(&w, A)->energy) - 1000 * (int64_t)MS * 160;
	assert_true(llabs(before_nj * 17 - 1950 * (int64_t)MS * 160 * 12) <
		    60 * (int64_t)MS * 160 * 17);
	assert_int_equal(watt_energy_to_nj(state_of(&w, "gpu-0")->energy),
			 watt_energy_to_nj(state_of(&w, A)->energy) +
				 watt_energy_to_nj(state_of(&w, B)->energy) +
				 watt_energy_to_nj(state_of(&w, "gpu-0")->idle) +
				 watt_energy_to_nj(state_of(&w, "gpu-0")->unattributed));
	close_world(&w);
}

/* Whom nobody knows is nobody's in his instance, and in the GPU. */
static void test_unknown_user(void **state)
{
	int64_t b_nj;
	struct world w;

	open_world(&w, NULL);
	live(&w, EPOCH_NS + 2000 * MS, told + 2, 1);
	look(&w);
	b_nj = watt_energy_to_nj(state_of(&w, B)->energy);
	assert_true(b_nj > 0);
	assert_int_equal(watt_energy_to_nj(state_of(&w, B)->unattributed), b_nj);
	assert_true(watt_energy_to_nj(state_of(&w, "gpu-0")->unattributed) >= b_nj);
	close_world(&w);
}

/* The GPU's key is the key of its instances: nobody divides twice. */
static void test_keys(void **state)
{
	struct world w;

	open_world(&w, "gpu=none");
	live(&w, EPOCH_NS + 900 * MS, told, 1);
	look(&w);
	assert_int_equal(watt_snapshot_get_domain(w.snap, find(&w, A))->key, WATT_KEY_NONE);
	assert_int_equal(watt_energy_to_nj(state_of(&w, A)->energy), 0);
	close_world(&w);
	open_world(&w, "gpu=learned");
	live(&w, EPOCH_NS + 900 * MS, told, 1);
	look(&w);
	assert_int_equal(state_of(&w, A)->key, WATT_KEY_GPU_TIME);
	assert_int_equal(state_of(&w, A)->key_readiness_ppm,
			 state_of(&w, "gpu-0")->key_readiness_ppm);
	close_world(&w);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_come_and_go),
		cmocka_unit_test(test_unknown_user),
		cmocka_unit_test(test_keys),
	};

	return cmocka_run_group_tests_name("instance", tests, NULL, NULL);
}

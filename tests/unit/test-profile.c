/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was learned, taken out and put in again: as profiles, which are the prior of another
 * session, and as the state with which a recording goes on in another file.
 */
#include "unit.h"

#include <math.h>

#include <wattribute/json.h>
#include <wattribute/profile.h>

#include "attrib/attrib.h"
#include "base/profile.h"
#include "base/words.h"
#include "rules_of.h"
#include "../accuracy/world.h"

#define N_TASKS 12
#define SECOND 20 /* slices */

static const struct watt_channel *const channels[] = { &world_channel };

struct meter {
	struct watt_timeline *tl;
	struct watt_attrib *at;
};

static void open_meter(struct meter *meter, const struct watt_profile *prior)
{
	static const uint16_t slots[WORLD_MAX_CPUS] = { 0 };
	struct watt_rules rules = rules_of("learned", &watt_share_key_syntax);
	struct watt_attrib_opts opts = { .channels = channels,
					 .n_channels = 1,
					 .cpu_slot = slots,
					 .n_cpus = WORLD_MAX_CPUS,
					 .n_slots = 1,
					 .horizon_ns = 60000000000ULL,
					 .share_keys = &rules,
					 .prior = prior };

	assert_int_equal(watt_timeline_new(channels, 1, &meter->tl), 0);
	assert_int_equal(watt_attrib_new(&opts, &meter->at), 0);
	watt_rules_clear(&rules);
}

static void close_meter(struct meter *meter)
{
	watt_attrib_free(meter->at);
	watt_timeline_free(meter->tl);
}

static void tell(struct meter *meter, const struct watt_usage_batch *batch,
		 const struct watt_sample *sample)
{
	assert_int_equal(watt_attrib_push_usage(meter->at, batch), 0);
	assert_true(watt_timeline_push(meter->tl, sample) >= 0);
	assert_true(watt_attrib_advance(meter->at, meter->tl, sample->t_after_ns) >= 0);
}

/* Runs the world for some slices, with one or two who watch. */
static void watch(struct world *world, struct meter *one, struct meter *other, unsigned int n)
{
	while (n--) {
		const struct watt_usage_batch *batch = world_run(world);
		struct watt_sample sample = { .t_before_ns = world_now_ns(world),
					      .t_after_ns = world_now_ns(world),
					      .raw = world_read(world) };

		tell(one, batch, &sample);
		if (other)
			tell(other, batch, &sample);
	}
}

static struct world *make_world(uint64_t seed, uint32_t n_programs)
{
	const struct world_opts opts = { .n_tasks = N_TASKS,
					 .n_cpus = 4,
					 .seconds = 60,
					 .n_programs = n_programs,
					 .seed = seed };

	return world_new(&opts);
}

static struct watt_words load_of(const struct watt_words *saved)
{
	struct watt_words words = *saved;

	words.is_loading = true;
	return words;
}

static void assert_same(const struct meter *a, const struct meter *b)
{
	struct watt_words x, y;
	size_t i;

	assert_int_equal(watt_attrib_save_learned(a->at, 0, &x), 0);
	assert_int_equal(watt_attrib_save_learned(b->at, 0, &y), 0);
	assert_int_equal(x.n, y.n);
	assert_memory_equal(x.list, y.list, x.n * sizeof(*x.list));
	assert_int_equal(x.n_texts, y.n_texts);
	for (i = 0; i < x.n_texts; i++)
		assert_string_equal(x.texts[i], y.texts[i]);
	watt_words_done(&x);
	watt_words_done(&y);
}

/* The same of a sensor that is read each fourth slice, and not at its end. */
static void watch_sparsely(struct world *world, struct meter *one, struct meter *other,
			   unsigned int n)
{
	while (n--) {
		const struct watt_usage_batch *batch = world_run(world);
		uint64_t now_ns = world_now_ns(world), t_ns = now_ns - WORLD_SLICE_NS * 24 / 50;
		bool is_read = (now_ns - WORLD_START_NS) / WORLD_SLICE_NS % 4 == 0;
		struct watt_sample sample = { t_ns, t_ns, world_read(world), 0,
					      is_read ? WATT_STATUS_OK : WATT_STATUS_PENDING };

		for (struct meter *meter = one; meter; meter = meter == one ? other : NULL) {
			assert_int_equal(watt_attrib_push_usage(meter->at, batch), 0);
			if (is_read)
				assert_true(watt_timeline_push(meter->tl, &sample) >= 0);
			assert_true(watt_attrib_advance(meter->at, meter->tl, now_ns) >= 0);
		}
	}
}

static size_t count_words(const struct meter *meter)
{
	struct watt_words words;
	size_t n;

	assert_int_equal(watt_attrib_save_learned(meter->at, 0, &words), 0);
	n = words.n;
	watt_words_done(&words);
	return n;
}

/* Slices that wait for a reading to be one are part of the state. */
static void test_goes_on_between_readings(void **state)
{
	struct world *world = make_world(7, 0);
	struct watt_words saved, words;
	struct meter first, later, quick;

	(void)state;
	open_meter(&first, NULL);
	open_meter(&later, NULL);
	open_meter(&quick, NULL);
	watch_sparsely(world, &first, NULL, 10 * SECOND);
	watch_sparsely(world, &first, &later, SECOND);
	assert_int_equal(watt_attrib_save_learned(first.at, 0, &saved), 0);
	words = load_of(&saved);
	assert_int_equal(watt_attrib_load_learned(later.at, "package-0", &words), 0);
	assert_same(&first, &later);
	watch_sparsely(world, &first, &later, 20 * SECOND);
	assert_same(&first, &later);
	/* beside one that waits for nothing */
	watch(world, &quick, NULL, 10 * SECOND);
	assert_true(count_words(&first) > count_words(&quick));
	watt_words_done(&saved);
	close_meter(&first);
	close_meter(&later);
	close_meter(&quick);
	world_free(world);
}

/* Who begins in the middle, and is told once what was learned, knows the same bits ever after. */
static void go_on_in_the_middle(uint32_t n_programs)
{
	struct world *world = make_world(7, n_programs);
	struct watt_words saved, words;
	struct meter first, later;

	open_meter(&first, NULL);
	open_meter(&later, NULL);
	watch(world, &first, NULL, 10 * SECOND);
	watch(world, &first, &later, SECOND);
	assert_int_equal(watt_attrib_save_learned(first.at, 0, &saved), 0);
	words = load_of(&saved);
	assert_int_equal(watt_attrib_load_learned(later.at, "package-0", &words), 0);
	assert_same(&first, &later);
	watch(world, &first, &later, 20 * SECOND);
	assert_same(&first, &later);
	watt_words_done(&saved);
	close_meter(&first);
	close_meter(&later);
	world_free(world);
}

static void test_goes_on_in_the_middle(void **state)
{
	(void)state;
	go_on_in_the_middle(0);
	/* processes of one program have learners and evidence of their own */
	go_on_in_the_middle(2);
}

/* Whatever is wrong with it: nothing is known then, and everything goes on. */
static void test_damaged_state_is_refused(void **state)
{
	struct world *world = make_world(8, 3);
	struct watt_words saved, words;
	struct meter meter;
	size_t i, n_refused = 0;

	(void)state;
	open_meter(&meter, NULL);
	watch(world, &meter, NULL, 5 * SECOND);
	assert_int_equal(watt_attrib_save_learned(meter.at, 0, &saved), 0);
	for (i = 0; i < saved.n; i += 7) {
		uint64_t was = saved.list[i];

		words = load_of(&saved);
		words.n = i; /* cut */
		assert_int_equal(watt_attrib_load_learned(meter.at, "package-0", &words), -EBADMSG);
		words = load_of(&saved);
		saved.list[i] = 0x7ff8000000000001ULL; /* no number */
		n_refused += watt_attrib_load_learned(meter.at, "package-0", &words) == -EBADMSG;
		saved.list[i] = was;
	}
	assert_true(n_refused > saved.n / 7 / 2);
	words = load_of(&saved);
	words.n_texts = 0;
	assert_int_equal(watt_attrib_load_learned(meter.at, "package-0", &words), -EBADMSG);
	words = load_of(&saved);
	assert_int_equal(watt_attrib_load_learned(meter.at, "nowhere", &words), -ENODATA);
	watch(world, &meter, NULL, 5 * SECOND);
	watt_words_done(&saved);
	close_meter(&meter);
	world_free(world);
}

static struct watt_profile *learn(uint64_t seed, const struct watt_profile *prior,
				  unsigned int n_slices)
{
	struct world *world = make_world(seed, 0);
	struct watt_profile *profile;
	struct meter meter;

	open_meter(&meter, prior);
	watch(world, &meter, NULL, n_slices);
	assert_int_equal(watt_attrib_get_profile(meter.at, &profile), 0);
	close_meter(&meter);
	world_free(world);
	return profile;
}

/* Through its text, as a file has it. */
static struct watt_profile *through_text(struct watt_profile *profile)
{
	struct watt_profile *read;
	char *text, *again;

	assert_int_equal(watt_profile_to_json(profile, 0, &text), 0);
	assert_int_equal(watt_profile_parse(text, strlen(text), NULL, NULL, &read), 0);
	assert_int_equal(watt_profile_to_json(read, 0, &again), 0);
	assert_string_equal(text, again);
	free(text);
	free(again);
	watt_profile_free(profile);
	return read;
}

static void test_profile_tells_what_was_learned(void **state)
{
	struct watt_profile *profile = through_text(learn(9, NULL, 30 * SECOND));
	const struct watt_profile_domain *domain = watt_profile_get_domain(profile, 0);
	size_t i, n = watt_profile_get_program_count(profile, 0);

	(void)state;
	assert_int_equal(watt_profile_get_domain_count(profile), 1);
	assert_string_equal(domain->path, "package-0");
	assert_int_equal(domain->key, WATT_KEY_LEARNED);
	assert_true(domain->n_slices > 25 * SECOND && domain->n_slices <= 30 * SECOND);
	assert_true(domain->significance_ratio > 1.5);
	assert_true(n >= N_TASKS);
	for (i = 0; i < N_TASKS; i++) {
		const struct watt_profile_program *one = watt_profile_get_program(profile, 0, i);

		assert_true(one->power_w > 1.5 && one->power_w < 12.5);
		assert_true(one->uncertainty_w > 0 && one->uncertainty_w < 1);
		assert_true(one->cpu_s > 1 && one->n_slices > 20);
	}
	assert_null(watt_profile_get_program(profile, 0, n));
	assert_null(watt_profile_get_domain(profile, 1));
	watt_profile_free(profile);
}

/* Two learners of one name, as processes in cgroups whose paths are not known, are one program. */
static void test_same_names_are_one(void **state)
{
	const struct watt_profile_domain domain = { .path = "p", .kind = WATT_DOMAIN_PACKAGE };
	struct watt_profile *profile = watt_profile_new();
	struct watt_profile_part *part = watt_profile_add_domain(profile, &domain);
	struct watt_profile_program one = { .name = "a", .power_w = 2, .cpu_s = 3, .n_slices = 4 };

	(void)state;
	assert_int_equal(watt_profile_add_program(part, &one), 0);
	one.power_w = 6;
	one.cpu_s = 1;
	assert_int_equal(watt_profile_add_program(part, &one), 0);
	one.is_executable = 1;
	assert_int_equal(watt_profile_add_program(part, &one), 0);
	assert_int_equal(part->n, 2);
	assert_true(fabs(part->programs[0].power_w - 3) < 1e-9);
	assert_true(fabs(part->programs[0].cpu_s - 4) < 1e-9);
	assert_int_equal(part->programs[0].n_slices, 8);
	watt_profile_free(profile);
}

static const struct watt_profile_program *find(const struct watt_profile *profile, const char *name)
{
	const struct watt_profile_program *one;
	size_t i;

	for (i = 0; (one = watt_profile_get_program(profile, 0, i)); i++)
		if (!strcmp(one->name, name))
			return one;
	return NULL;
}

/* With what was known before, half a second tells what took half a minute to learn. */
static void test_prior_is_known_at_once(void **state)
{
	struct watt_profile *prior = through_text(learn(10, NULL, 30 * SECOND));
	struct watt_profile *fresh = learn(10, NULL, SECOND), *warm = learn(10, prior, SECOND);
	const struct watt_profile_program *one, *known, *stranger;
	double off_known = 0, off_stranger = 0;
	size_t i;

	(void)state;
	for (i = 0; (one = watt_profile_get_program(prior, 0, i)); i++) {
		known = find(warm, one->name);
		stranger = find(fresh, one->name);
		assert_non_null(known); /* also who did not run yet */
		off_known += fabs(known->power_w - one->power_w);
		off_stranger += stranger ? fabs(stranger->power_w - one->power_w) : 0;
		assert_true(known->cpu_s >= one->cpu_s);
	}
	assert_true(off_known < off_stranger / 4);
	watt_profile_free(prior);
	watt_profile_free(fresh);
	watt_profile_free(warm);
}

/* A prior is where learning begins, and not where it ends. */
static void test_wrong_prior_is_unlearned(void **state)
{
	struct watt_profile *prior = learn(11, NULL, 30 * SECOND),
			    *truth = learn(11, NULL, 30 * SECOND);
	struct watt_profile *after;
	const struct watt_profile_program *one;
	double off = 0, sum = 0;
	size_t i;

	(void)state;
	for (i = 0; i < prior->parts[0].n; i++)
		prior->parts[0].programs[i].power_w = 14 - prior->parts[0].programs[i].power_w;
	after = learn(11, prior, 30 * SECOND);
	for (i = 0; (one = watt_profile_get_program(truth, 0, i)); i++) {
		off += fabs(find(after, one->name)->power_w - one->power_w) * one->cpu_s;
		sum += one->power_w * one->cpu_s;
	}
	assert_true(off < 0.1 * sum);
	watt_profile_free(prior);
	watt_profile_free(truth);
	watt_profile_free(after);
}

static void note(void *data, enum watt_log_level level, const char *text)
{
	(void)level;
	snprintf(data, 256, "%s", text);
}

#define CURVE "\"curve_ratio\":[1,1,1,1,1,1,1,1,1]"
#define DOMAIN(more) \
	"{\"schema\":\"wattribute-profile-1\",\"domains\":[{\"path\":\"p\",\"kind\":\"package\"," \
	"\"key\":\"learned\",\"n_slices\":1,\"mean_w\":5,\"spread_w\":2,\"readiness_ratio\":0.5," \
	"\"significance_ratio\":2," more "}]}"
#define PROGRAM(name, more) \
	"{\"name\":" name \
	",\"cgroup\":null,\"is_executable\":true,\"uncertainty_w\":1,\"cpu_s\":1," \
	"\"n_slices\":1," more "}"

/* Each with a word that its sentence has to have. */
static void test_refuses_what_is_no_profile(void **state)
{
	static const struct {
		const char *text, *why;
	} cases[] = {
		{ "", "line" },
		{ "[", "line" },
		{ "{}", "schema" },
		{ "{\"schema\":\"wattribute-profile-2\",\"domains\":[]}", "schema" },
		{ "{\"schema\":\"wattribute-profile-1\"}", "domains" },
		{ "{\"schema\":\"wattribute-profile-1\",\"domains\":[{}]}", "domains[0]: 'path'" },
		{ DOMAIN("\"curve_ratio\":[1],\"programs\":[]"), "9 numbers" },
		{ DOMAIN("\"curve_ratio\":[1,1,1,1,1,1,1,1,0],\"programs\":[]"), "0.001" },
		{ DOMAIN(CURVE), "programs" },
		{ DOMAIN(CURVE ",\"programs\":[" PROGRAM("\"a\"", "\"power_w\":-1") "]"),
		  "domains[0].programs[0]: 'power_w'" },
		{ DOMAIN(CURVE ",\"programs\":[" PROGRAM("\"a\"", "\"power_w\":\"1\"") "]"),
		  "power_w" },
		{ DOMAIN(CURVE ",\"programs\":[" PROGRAM("3", "\"power_w\":1") "]"), "name" },
		{ DOMAIN(CURVE ",\"programs\":[" PROGRAM("\"a\"", "\"power_w\":1") "," PROGRAM(
			  "\"a\"", "\"power_w\":1") "]"),
		  "programs[1]: its name is there twice" },
		{ "[[[[[[[[[[]]]]]]]]]]", "deeper" },
	};
	struct watt_profile *profile;
	char why[256];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		*why = '\0';
		assert_int_equal(watt_profile_parse(cases[i].text, strlen(cases[i].text), note, why,
						    &profile),
				 -EBADMSG);
		if (!strstr(why, cases[i].why))
			fail_msg("case %zu says: %s", i, why);
	}
	assert_int_equal(watt_profile_read("/nowhere", note, why, &profile), -ENOENT);
	assert_non_null(strstr(why, "/nowhere"));
	assert_null(watt_profile_free(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_goes_on_in_the_middle),
		cmocka_unit_test(test_goes_on_between_readings),
		cmocka_unit_test(test_damaged_state_is_refused),
		cmocka_unit_test(test_profile_tells_what_was_learned),
		cmocka_unit_test(test_same_names_are_one),
		cmocka_unit_test(test_prior_is_known_at_once),
		cmocka_unit_test(test_wrong_prior_is_unlearned),
		cmocka_unit_test(test_refuses_what_is_no_profile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

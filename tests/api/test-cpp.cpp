/* SPDX-License-Identifier: Apache-2.0 */
/* The C++ header, as a program that is built without exceptions uses it: on the simulated machine. */
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <type_traits>

#include <unistd.h>

#include <wattribute/wattribute.hpp>

static int failures;

static void expect(bool is_so, const char *what)
{
	std::printf("%s %s\n", is_so ? "ok     " : "FAILED ", what);
	failures += !is_so;
}

static watt::options simulated()
{
	return watt::options().set("sources", "synth").set("usage", "synth").set("slice", "10ms");
}

static void test_meter()
{
	watt::meter meter(simulated());
	bool has_inner = false;

	expect(bool(meter.begin()), "a section begins");
	{
		watt::section inner(meter, [&](const watt::expected<watt::result> &took) {
			has_inner = took && took->energy_j && *took->energy_j > 0;
		});
		std::this_thread::sleep_for(std::chrono::milliseconds(30));
	}
	expect(has_inner, "a scope tells what it took");

	watt::expected<watt::result> took = meter.end();
	double sum_j = 0;

	expect(took && took->energy_j && *took->energy_j > 0, "the section took energy");
	expect(took && took->origin == WATT_ORIGIN_SIMULATED, "which is simulated");
	expect(took && took->elapsed_s >= 0.03, "and as long as it was");
	for (const auto &[path, energy_j] : took->domain_energy_j)
		sum_j += path.find('/') == std::string::npos && energy_j ? *energy_j : 0;
	expect(sum_j >= *took->energy_j * 0.999, "the domains have it");
	took = meter.end();
	expect(!took && took.error().number == EINVAL && !took.error().text.empty(),
	       "there is no section any more");
}

static void test_errors()
{
	watt::options wrong = simulated().set("slice", "long").set("colour", "red");
	watt::meter meter(wrong);
	watt::expected<watt::session> none = watt::session::open(wrong);

	expect(!none && none.error().text.find("slice: 'long'") == 0, "the first problem is told");
	expect(!meter.begin() && !meter.end(), "nothing is measured with wrong options");
	none = watt::session::open(watt::options().set("config", "/nonexistent"));
	expect(!none && none.error().number == ENOENT &&
		       none.error().text.find("/nonexistent") != std::string::npos,
	       "what is not there is named");
	none = watt::session::replay("/dev/null");
	expect(!none && none.error().number == EMEDIUMTYPE,
	       "what is no recording is said to be none");
}

/* Of one domain: what its users have, what is idle and what nobody has. */
static int64_t sum_nj(const watt::snapshot &snap, size_t index)
{
	int64_t sum = 0;

	snap.each_row([&](const watt_row &row) {
		if (watt_view_is_user(row.entity->kind))
			sum += row.window_nj[index];
	});
	return sum;
}

static bool is_exact(const watt::snapshot &snap)
{
	bool is_so = true;
	size_t i = 0;

	snap.each_domain([&](const watt_domain &, const watt_domain_state &state) {
		int64_t others_nj = state.window_idle_nj + state.window_unattributed_nj;

		is_so = is_so && sum_nj(snap, i++) + others_nj == state.window_nj;
	});
	return is_so;
}

static void test_session()
{
	watt::expected<watt::session> ses = watt::session::open(simulated());

	expect(bool(ses), "a session opens");
	watt::expected<uint64_t> tracked = ses->track(0x7ffffff0);
	expect(!tracked && tracked.error().number == ESRCH,
	       "a process that is none is said to be none");
	watt::expected<watt::snapshot> first = ses->next(100), second = ses->next(100);
	/* A busy machine may read its sensors late. */
	for (int tries = 0; tries < 300 && second && !second->energy_j(); tries++) {
		first = std::move(second);
		second = ses->next(100);
	}
	expect(first && second && second->start_ns() == first->end_ns(),
	       "windows follow each other");
	expect(second && second->energy_j() && *second->energy_j() > 0, "they have energy");
	expect(first && is_exact(*first) && is_exact(*second), "it adds up to the nJ");

	watt::snapshot kept = *second;
	watt::session moved = std::move(*ses);

	ses = watt::error{ EINVAL, "gone" };
	expect(moved.next(10).has_value() && kept.end_ns() > 0,
	       "sessions move, snapshots are shared");
	static_assert(!std::is_copy_constructible_v<watt::session>);
}

int main()
{
	test_meter();
	test_errors();
	test_session();
	expect(watt::mark("nobody hears") == -ENOTCONN, "a mark that nobody hears");
	return failures != 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file wattribute.hpp
 * @brief The C API with owners: C++17, header only, needs no exceptions and throws none.
 *
 *     watt::meter meter;
 *     meter.begin();
 *     work();
 *     watt::expected<watt::result> took = meter.end();
 *     if (took)
 *             std::printf("%g J\n", took->energy_j);
 *     else
 *             std::fprintf(stderr, "not measured: %s\n", took.error().text.c_str());
 *
 * What can fail returns watt::expected: a value, or an error with the errno and a sentence. What is
 * not known is an empty std::optional, never 0. Objects own what they hold, can be moved, and give
 * get() for the C functions, which say all that is not said here: threads, fork, lifetimes.
 */
#ifndef WATTRIBUTE_WATTRIBUTE_HPP
#define WATTRIBUTE_WATTRIBUTE_HPP

#include <cerrno>
#include <cmath>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <wattribute/wattribute.h>

namespace watt
{

/** Why something could not be done. */
struct error {
	int number = 0;   /**< positive errno */
	std::string text; /**< one sentence */
};

/** A value, or why there is none. */
template <typename T> class expected
{
    public:
	expected(T value) : held_(std::in_place_index<0>, std::move(value))
	{
	}
	expected(watt::error why) : held_(std::in_place_index<1>, std::move(why))
	{
	}

	bool has_value() const
	{
		return held_.index() == 0;
	}
	explicit operator bool() const
	{
		return has_value();
	}
	/** Only where there is a value. */
	T &operator*()
	{
		return *std::get_if<0>(&held_);
	}
	const T &operator*() const
	{
		return *std::get_if<0>(&held_);
	}
	T *operator->()
	{
		return std::get_if<0>(&held_);
	}
	const T *operator->() const
	{
		return std::get_if<0>(&held_);
	}
	/** Only where there is none. */
	const watt::error &error() const
	{
		return *std::get_if<1>(&held_);
	}

    private:
	std::variant<T, watt::error> held_;
};

/** For calls that give nothing. */
using done = expected<std::monostate>;

namespace detail
{

template <auto Close> struct closer {
	template <typename T> void operator()(T *object) const
	{
		Close(object);
	}
};

template <typename T, auto Close> using owner = std::unique_ptr<T, closer<Close> >;

inline error fail(int r, std::string text = {})
{
	if (text.empty())
		text = std::strerror(-r);
	return { -r, std::move(text) };
}

inline done as_done(int r, std::string text = {})
{
	if (r < 0)
		return fail(r, std::move(text));
	return std::monostate{};
}

inline std::optional<double> known(double value)
{
	return std::isnan(value) ? std::nullopt : std::optional<double>(value);
}

/** Keeps the last sentence at level ERROR. Any thread of a session may tell it one. */
class log
{
    public:
	static void take(void *self, enum watt_log_level level, const char *text)
	{
		log *to = static_cast<log *>(self);

		if (level != WATT_LOG_ERROR)
			return;
		std::lock_guard<std::mutex> held(to->lock_);
		to->text_ = text;
	}

	std::string take_text()
	{
		std::lock_guard<std::mutex> held(lock_);

		return std::exchange(text_, {});
	}

    private:
	std::mutex lock_;
	std::string text_;
};

} /* namespace detail */

/** How to measure, as the command's options; the first that is wrong is kept until it is used. */
class options
{
    public:
	options()
	{
		watt_options *made = nullptr;

		if (watt_options_new(&made) == 0)
			options_.reset(made);
	}

	/** "slice", "10ms"; see watt_options_get_info(). Can be chained. */
	options &set(const std::string &name, const std::string &value) &
	{
		int r = watt_options_set(options_.get(), name.c_str(), value.c_str());

		if (r < 0 && !problem_)
			problem_ = detail::fail(r, name + ": " + watt_options_get_problem(get()));
		return *this;
	}

	options &&set(const std::string &name, const std::string &value) &&
	{
		return std::move(set(name, value));
	}

	const std::optional<error> &problem() const
	{
		return problem_;
	}
	watt_options *get() const
	{
		return options_.get();
	}

    private:
	detail::owner<watt_options, watt_options_free> options_;
	std::optional<error> problem_;
};

/** What a section took. */
struct result {
	std::optional<double> energy_j;     /**< of the machine */
	std::optional<double> own_energy_j; /**< attributed to this process */
	std::optional<double> power_w;
	double elapsed_s = 0;
	double cpu_s = 0;
	enum watt_status status = WATT_STATUS_PENDING;
	enum watt_origin origin = WATT_ORIGIN_MEASURED;
	uint32_t uncertainty_ppm = 0; /**< 0: unknown */
	/** Path of each domain, and what it took. */
	std::vector<std::pair<std::string, std::optional<double> > > domain_energy_j;
};

/** A meter for sections of code. Thread-safe; sections of a thread are nested. */
class meter
{
    public:
	meter() : meter_(watt_meter_open(nullptr))
	{
	}

	explicit meter(const options &how) : problem_(how.problem())
	{
		if (!problem_)
			meter_.reset(watt_meter_open(how.get()));
	}

	done begin()
	{
		return problem_ ? done(*problem_) : check(watt_meter_begin(meter_.get()));
	}

	expected<result> end()
	{
		struct watt_meter_result raw = {};
		int r;

		if (problem_)
			return *problem_;
		raw.sz = sizeof(raw);
		r = watt_meter_end(meter_.get(), &raw);
		if (r < 0)
			return check(r).error();
		return read(raw);
	}

	watt_meter *get() const
	{
		return meter_.get();
	}

    private:
	done check(int r) const
	{
		const char *why = r < 0 && meter_ ? watt_meter_get_problem(meter_.get()) : nullptr;

		return detail::as_done(r, why ? why : "");
	}

	result read(const struct watt_meter_result &raw) const
	{
		result ret;

		ret.energy_j = detail::known(raw.energy_j);
		ret.own_energy_j = detail::known(raw.own_energy_j);
		ret.power_w = detail::known(raw.power_w);
		ret.elapsed_s = raw.elapsed_s;
		ret.cpu_s = raw.cpu_s;
		ret.status = raw.status;
		ret.origin = raw.origin;
		ret.uncertainty_ppm = raw.uncertainty_ppm;
		for (uint32_t i = 0; i < raw.n_domains; i++) {
			const struct watt_domain *domain = watt_meter_get_domain(meter_.get(), i);

			if (domain)
				ret.domain_energy_j.emplace_back(
					domain->path, detail::known(raw.domain_energy_j[i]));
		}
		return ret;
	}

	detail::owner<watt_meter, watt_meter_close> meter_;
	std::optional<error> problem_;
};

/** A section for as long as a scope: what it took is told to a function when it is left. */
template <typename F> class section
{
    public:
	section(watt::meter &meter, F told) : meter_(meter), told_(std::move(told))
	{
		done begun = meter_.begin();

		if (!begun)
			problem_ = begun.error();
	}
	section(const section &) = delete;
	section &operator=(const section &) = delete;

	~section()
	{
		told_(problem_ ? expected<result>(*problem_) : meter_.end());
	}

    private:
	watt::meter &meter_;
	F told_;
	std::optional<error> problem_;
};

/** The window of a snapshot. Copies share it. */
class snapshot
{
    public:
	/** Takes the caller's reference. */
	explicit snapshot(struct watt_snapshot *taken) : snap_(taken, watt_snapshot_unref)
	{
	}

	uint64_t start_ns() const
	{
		return watt_snapshot_get_window_start_ns(get());
	}
	uint64_t end_ns() const
	{
		return watt_snapshot_get_time_ns(get());
	}
	double duration_s() const
	{
		return static_cast<double>(end_ns() - start_ns()) / 1e9;
	}

	/** Calls told(const watt_domain &, const watt_domain_state &) for each. */
	template <typename F> void each_domain(F told) const
	{
		for (size_t i = 0; i < watt_snapshot_get_domain_count(get()); i++)
			told(*watt_snapshot_get_domain(get(), i),
			     *watt_snapshot_get_domain_state(get(), i));
	}

	/** Calls told(const watt_row &) for each. */
	template <typename F> void each_row(F told) const
	{
		for (size_t i = 0; i < watt_snapshot_get_row_count(get()); i++)
			told(*watt_snapshot_get_row(get(), i));
	}

	/** Energy of the machine in the window, in J. */
	std::optional<double> energy_j() const
	{
		std::optional<double> sum_j;

		each_domain([&](const watt_domain &domain, const watt_domain_state &state) {
			if (domain.is_summed && state.window_ns && watt_view_has_energy(&state))
				sum_j = sum_j.value_or(0) +
					static_cast<double>(state.window_nj) / 1e9;
		});
		return sum_j;
	}

	struct watt_snapshot *get() const
	{
		return snap_.get();
	}

    private:
	std::shared_ptr<struct watt_snapshot> snap_;
};

/** A measurement of the machine, or a recording of one. It takes the log of its options. */
class session
{
    public:
	/** Opens and starts one. */
	static expected<session> open(const options &how = {})
	{
		return make(how, [&](watt_options *options, watt_session **ret) {
			return watt_session_open(options, ret);
		});
	}

	/** The same of a recording, in whose time it runs. */
	static expected<session> replay(const std::string &path, const options &how = {})
	{
		return make(how, [&](watt_options *options, watt_session **ret) {
			return watt_session_open_recording(path.c_str(), options, ret);
		});
	}

	/** Waits so long, and gives what happened since the last call. */
	expected<snapshot> next(uint32_t period_ms)
	{
		struct watt_snapshot *snap = nullptr;
		int r = watt_session_wait(session_.get(), period_ms);

		if (r == 0)
			r = watt_session_snapshot(session_.get(), &snap);
		if (r < 0)
			return fail(r);
		return snapshot(snap);
	}

	/** Sums a process and its descendants; the id of their row. */
	expected<uint64_t> track(uint32_t pid)
	{
		uint64_t id = 0;
		int r = watt_session_track(session_.get(), pid, &id);

		if (r < 0)
			return fail(r);
		return id;
	}

	watt_session *get() const
	{
		return session_.get();
	}

    private:
	template <typename F> static expected<session> make(const options &how, F open)
	{
		session ses;
		watt_session *opened = nullptr;
		int r;

		if (how.problem())
			return *how.problem();
		watt_options_set_log(how.get(), detail::log::take, ses.log_.get());
		r = open(how.get(), &opened);
		watt_options_set_log(how.get(), nullptr, nullptr);
		ses.session_.reset(opened);
		if (r == 0)
			r = watt_session_start(opened);
		if (r < 0)
			return ses.fail(r);
		return ses;
	}

	session() : log_(std::make_unique<detail::log>())
	{
	}

	error fail(int r)
	{
		return detail::fail(r, log_->take_text());
	}

	/* Outlives the session's threads, which may tell it something. */
	std::unique_ptr<detail::log> log_;
	detail::owner<watt_session, watt_session_close> session_;
};

/** Tells whoever measures this program that a phase begins; "" ends one. As watt_mark(). */
inline int mark(std::string_view label)
{
	return watt_mark(std::string(label).c_str());
}

} /* namespace watt */

#endif

/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Timers in the program's own structures for C++17: <twheel_timer.h>
 *
 * The destructor of a timer stops it. The wheel points to its timers, so a timer can be
 * neither copied nor moved. A wheel and its timers belong to one thread at a time. Callbacks
 * may throw, because no function of the wheel calls them.
 *
 * Times are those of std::chrono::steady_clock, to the nanosecond. The wheel reads no clock, so a
 * simulation may count in time points of its own.
 */
#ifndef TWHEEL_TIMER_HPP
#define TWHEEL_TIMER_HPP

#include <chrono>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <new>
#include <utility>

#include <twheel_timer.h>

namespace libtwheel {

using time_point = std::chrono::time_point<std::chrono::steady_clock, std::chrono::nanoseconds>;

/* Returns a time point in nanoseconds. A negative time becomes 0: both are due already. */
inline std::uint64_t to_wheel(time_point time)
{
	auto ns = time.time_since_epoch().count();

	return ns > 0 ? static_cast<std::uint64_t>(ns) : 0;
}

/* Converts back. TWHEEL_TIMERS_NEVER, and other times too late for a time point, become its maximum. */
inline time_point from_wheel(std::uint64_t ns)
{
	return ns > static_cast<std::uint64_t>(INT64_MAX) ? time_point::max() :
	       time_point(std::chrono::nanoseconds(static_cast<std::int64_t>(ns)));
}

/* A wheel. Its destructor stops the timers that are still pending. */
class timers {
public:
	explicit timers(time_point now = std::chrono::steady_clock::now())
		: wheel_(twheel_timers_new(to_wheel(now)))
	{
		if (!wheel_)
#ifdef __cpp_exceptions
			throw std::bad_alloc();
#else
			std::abort();
#endif
		/* The unit is 1 ns, so slots of 2^20 units are about a millisecond wide. */
		twheel_timers_width(get(), 20);
	}

	/* Returns the wheel for calls of the C library. */
	::twheel_timers *get() const { return wheel_.get(); }

	/*
	 * Calls back at most @most timers that are due at @now, and returns their number. If a
	 * callback throws, the timers after it remain due.
	 */
	unsigned int advance(time_point now, unsigned int most = UINT_MAX)
	{
		unsigned int count = 0;

		for (::twheel_timer *timer; count < most && (timer = twheel_timers_expired(get(), to_wheel(now))); ) {
			count++;
			timer->fn(timer);
		}
		return count;
	}

	/* Returns the time at which to call advance() next, time_point::max() if no timer is pending. */
	time_point next() const { return from_wheel(twheel_timers_next(get())); }

	/* Moves all deadlines after the program's clock was set, so that the time until each stays the same. */
	void shift(std::chrono::nanoseconds by) { twheel_timers_shift(get(), by.count()); }

	std::uint64_t count() const { return twheel_timers_count(get()); }

private:
	struct deleter {
		void operator()(::twheel_timers *wheel) const
		{
			while (::twheel_timer *timer = twheel_timers_any(wheel))
				twheel_timer_stop(wheel, timer);
			twheel_timers_free(wheel);
		}
	};

	std::unique_ptr<::twheel_timers, deleter> wheel_;
};

/* The part of a timer that does not depend on the kind of its callback. */
class timer_base : private ::twheel_timer {
public:
	timer_base(const timer_base &) = delete;
	timer_base &operator=(const timer_base &) = delete;

	/* Starts or restarts the timer for the time @expires. */
	void start(time_point expires) { twheel_timer_start(wheel_, this, to_wheel(expires)); }

	/* Does the same as start(), mostly inline if the timer is pending and @expires is later. */
	void push(time_point expires) { twheel_timer_push(wheel_, this, to_wheel(expires)); }

	/* Stops the timer. Returns whether it was pending. */
	bool stop() { return pending() && twheel_timer_stop(wheel_, this); }

	bool pending() const { return twheel_timer_pending(this); }

	/* Returns the deadline of the timer, or the last one if the timer is not pending. */
	time_point expires() const { return from_wheel(::twheel_timer::expires); }

protected:
	timer_base(timers &wheel, twheel_timer_fn function) : ::twheel_timer{}, wheel_(wheel.get())
	{
		fn = function;
	}

	~timer_base() { stop(); }

	static timer_base *from(::twheel_timer *timer) { return static_cast<timer_base *>(timer); }

private:
	::twheel_timers *wheel_;
};

/* A timer that calls a lambda. The lambda may destroy the timer, as the last thing that it does. */
class timer : public timer_base {
public:
	timer(timers &wheel, std::function<void()> function)
		: timer_base(wheel, call), function_(std::move(function)) {}

private:
	static void call(::twheel_timer *t) { static_cast<timer *>(from(t))->function_(); }

	std::function<void()> function_;
};

/*
 * A timer of 56 bytes that calls a member function, which may destroy the timer:
 *
 *	libtwheel::member_timer<connection, &connection::on_idle> idle{wheel, this};
 */
template <class T, void (T::*Function)()> class member_timer : public timer_base {
public:
	member_timer(timers &wheel, T *object) : timer_base(wheel, call), object_(object) {}

private:
	static void call(::twheel_timer *t)
	{
		(static_cast<member_timer *>(from(t))->object_->*Function)();
	}

	T *object_;
};

} /* namespace libtwheel */

#endif /* TWHEEL_TIMER_HPP */

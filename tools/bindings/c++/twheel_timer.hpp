/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Timers in the program's own structures for C++17: <twheel_timer.h>
 *
 * The destructor of a timer stops it. The wheel points to its timers, so a timer can be
 * neither copied nor moved. A wheel and its timers belong to one thread at a time. Callbacks
 * may throw, because no function of the wheel calls them.
 */
#ifndef TWHEEL_TIMER_HPP
#define TWHEEL_TIMER_HPP

#include <climits>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <new>
#include <utility>

#include <twheel_timer.h>

namespace libtwheel {

/* A wheel. Its destructor stops the timers that are still pending. */
class timers {
public:
	explicit timers(std::uint64_t now) : wheel_(twheel_timers_new(now))
	{
		if (!wheel_)
#ifdef __cpp_exceptions
			throw std::bad_alloc();
#else
			std::abort();
#endif
	}

	/* For the functions of the C library. */
	::twheel_timers *get() const { return wheel_.get(); }

	/*
	 * Calls back at most @most timers that are due at tick @now, and returns their number. If a
	 * callback throws, the timers after it remain due.
	 */
	unsigned int advance(std::uint64_t now, unsigned int most = UINT_MAX)
	{
		unsigned int count = 0;

		for (::twheel_timer *timer; count < most && (timer = twheel_timers_expired(get(), now)); ) {
			count++;
			timer->fn(timer);
		}
		return count;
	}

	/* Returns the tick at which advance() is due, TWHEEL_TIMERS_NEVER if no timer is pending. */
	std::uint64_t next() const { return twheel_timers_next(get()); }

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

/* What timers with different callbacks have in common. */
class timer_base : private ::twheel_timer {
public:
	timer_base(const timer_base &) = delete;
	timer_base &operator=(const timer_base &) = delete;

	/* Starts or restarts the timer for tick @expires. */
	void start(std::uint64_t expires) { twheel_timer_start(wheel_, this, expires); }

	/* The same, inline if the timer is pending and @expires is later. */
	void push(std::uint64_t expires) { twheel_timer_push(wheel_, this, expires); }

	/* Returns whether the timer was pending. */
	bool stop() { return pending() && twheel_timer_stop(wheel_, this); }

	bool pending() const { return twheel_timer_pending(this); }

	/* Returns the tick of the next expiry, or of the last one. */
	std::uint64_t expires() const { return ::twheel_timer::expires; }

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

/* A timer that calls a lambda, whose last act may destroy the timer. */
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

/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Timers by the million through one file descriptor: libtwheel for C++17
 *
 * The methods are the functions of <twheel.h>. A session and a batch can be moved, but not
 * copied. A delay is a duration. A deadline is a time point of std::chrono::steady_clock, which
 * is CLOCK_MONOTONIC. If the setup chose another clock, the time point counts on that clock.
 * A method that fails throws std::system_error, or with -fno-exceptions ends the program.
 * Threads may share a session, but not a batch.
 */
#ifndef TWHEEL_HPP
#define TWHEEL_HPP

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include <twheel.h>

namespace libtwheel {

using std::chrono::nanoseconds;
using time_point = std::chrono::steady_clock::time_point;

/* Returns a delay in nanoseconds. A negative delay becomes 0, as for std::this_thread::sleep_for(). */
inline std::uint64_t delay_ns(nanoseconds delay) { return delay.count() > 0 ? delay.count() : 0; }

/* Returns a deadline in nanoseconds. A deadline before the epoch becomes 0, which also has passed. */
inline std::uint64_t deadline_ns(time_point deadline) { return delay_ns(deadline.time_since_epoch()); }

template <class E> [[noreturn]] inline void fail(const E &error)
{
#ifdef __cpp_exceptions
	throw error;
#else
	std::fprintf(stderr, "%s\n", error.what());
	std::abort();
#endif
}

/* Returns @ret, the result of a function of the library. Throws if @ret is an error. */
inline unsigned int check(int ret, const char *function, const char *if_enoent = ": no such timer is pending")
{
	if (ret < 0)
		fail(std::system_error(-ret, std::generic_category(),
				       std::string(function) + (ret == -ENOENT ? if_enoent : "")));
	return ret;
}

struct deleter {
	void operator()(::twheel *t) const { twheel_close(t); }
	void operator()(twheel_batch *batch) const { twheel_batch_free(batch); }
};

class session {
public:
	/* @flags are TWHEEL_OPEN_*. */
	explicit session(const twheel_setup &setup = {}, unsigned int flags = 0)
	{
		::twheel *t = nullptr;

		check(twheel_open_flags(&t, &setup, flags),
		      "/dev/twheel: check the setup, TWHEEL_BACKEND, the module and the group twheel", "");
		t_.reset(t);
	}

	/* Returns the session for calls of the C library. */
	::twheel *get() const { return t_.get(); }

	/* Returns the descriptor, which is readable when events are unread. */
	int fd() const { return twheel_fd(get()); }

	/* Starts or restarts a timer. Returns 1 if it was pending, 2 if its unread event is withdrawn, else 0. */
	unsigned int start(std::uint64_t id, nanoseconds delay, std::uint64_t user_data = 0)
	{
		return check(twheel_start(get(), id, delay_ns(delay), user_data), "twheel_start");
	}

	/* Starts a timer with TWHEEL_START_ABS or a period. Returns its id, chosen for TWHEEL_ID_ANY. */
	std::uint64_t start_flags(std::uint64_t id, nanoseconds expires, nanoseconds period = {},
				  std::uint64_t user_data = 0, std::uint32_t flags = 0)
	{
		__u64 chosen = id;

		check(twheel_start_flags(get(), &chosen, delay_ns(expires), period.count(), user_data, flags),
		      "twheel_start_flags");
		return chosen;
	}

	/* Moves a timer to another deadline, by a store unless the deadline is earlier than its word. */
	void push(std::uint64_t id, time_point deadline, std::uint64_t user_data = 0)
	{
		check(twheel_push(get(), id, deadline_ns(deadline), user_data), "twheel_push");
	}

	/* Stops a timer. Returns 0 if it was pending, 1 if its unread event is withdrawn. */
	unsigned int stop(std::uint64_t id) { return check(twheel_stop(get(), id), "twheel_stop"); }

	/* Moves a timer to a later deadline by a store. */
	void refresh(std::uint64_t id, time_point deadline)
	{
		twheel_refresh(with_word(id), id, deadline_ns(deadline));
	}

	void stop_by_store(std::uint64_t id) { twheel_stop_by_store(with_word(id), id); }

	/* Returns the unread events, at most @most. */
	std::vector<twheel_event> read(unsigned int most = 64)
	{
		std::vector<twheel_event> events(most);

		events.resize(check(twheel_read(get(), events.data(), most), "twheel_read"));
		return events;
	}

	/* Waits up to @timeout for events, and reads them. A negative @timeout has no end. */
	std::vector<twheel_event> wait(nanoseconds timeout = nanoseconds(-1), unsigned int most = 64)
	{
		std::vector<twheel_event> events(most);
		const std::uint64_t begin = twheel_now();
		std::int64_t left = timeout.count();
		int ret;

		while ((ret = twheel_wait(get(), events.data(), most, left)) == -EINTR)
			if (left >= 0)
				left = delay_ns(timeout - nanoseconds(twheel_now() - begin));
		events.resize(check(ret, "twheel_wait"));
		return events;
	}

	/* Returns a timer, or nothing if it is not pending and has no unread event. */
	std::optional<twheel_entry> look(std::uint64_t id) const
	{
		twheel_entry entry;
		int ret = twheel_get(get(), id, &entry);

		if (ret == -ENOENT)
			return std::nullopt;
		check(ret, "twheel_get");
		return entry;
	}

	/* Returns all timers that are pending, or whose events are unread. */
	std::vector<twheel_entry> list() const
	{
		std::vector<twheel_entry> all;
		twheel_entry some[64];
		__u64 cursor = 0;
		unsigned int got;

		while ((got = check(twheel_list(get(), some, 64, &cursor), "twheel_list")))
			all.insert(all.end(), some, some + got);
		return all;
	}

private:
	::twheel *with_word(std::uint64_t id) const
	{
		if (id >= get()->shared_ids)
			fail(std::out_of_range("twheel: a timer without a word"));
		return get();
	}

	std::unique_ptr<::twheel, deleter> t_;
};

/*
 * A batch of starts and stops, submitted when it is full or by flush(). These methods return the
 * number of results, for at(), which are valid until the next operation is added. The destructor
 * drops operations that were not submitted. A batch must not outlive its session.
 */
class batch {
public:
	batch(session &session, unsigned int size)
	{
		twheel_batch *made = nullptr;

		check(twheel_batch_new(session.get(), size, &made), "twheel_batch_new");
		batch_.reset(made);
	}

	unsigned int start(std::uint64_t id, nanoseconds delay, std::uint64_t user_data = 0)
	{
		return check(twheel_batch_start(batch_.get(), id, delay_ns(delay), user_data), "twheel_batch_start");
	}

	unsigned int stop(std::uint64_t id) { return check(twheel_batch_stop(batch_.get(), id), "twheel_batch_stop"); }

	unsigned int flush() { return check(twheel_batch_flush(batch_.get()), "twheel_batch_flush"); }

	/* Returns an operation with its result. @index is below the last number that a method returned. */
	const twheel_op &at(unsigned int index) const
	{
		const twheel_op *op = twheel_batch_op(batch_.get(), index);

		if (!op)
			fail(std::out_of_range("twheel: no such operation in the batch"));
		return *op;
	}

private:
	std::unique_ptr<twheel_batch, deleter> batch_;
};

} /* namespace libtwheel */

#endif /* TWHEEL_HPP */

// SPDX-License-Identifier: GPL-2.0 OR MIT
/* A scheduler for coroutines of C++20, on <twheel_timer.hpp> */
#include <chrono>
#include <coroutine>
#include <cstdio>
#include <exception>

#include <twheel_timer.hpp>

using namespace std::chrono_literals;
using libtwheel::time_point;

/* A coroutine that no other coroutine waits for. Its frame is freed when it returns. */
struct task {
	struct promise_type {
		task get_return_object() { return {}; }
		std::suspend_never initial_suspend() noexcept { return {}; }
		std::suspend_never final_suspend() noexcept { return {}; }
		void return_void() {}
		void unhandled_exception() { std::terminate(); }
	};
};

class scheduler {
public:
	/* An object for co_await. It is in the frame of the coroutine, so nothing is allocated. */
	class sleep {
	public:
		sleep(scheduler &s, time_point end) : timer_(s.wheel_, this), end_(end) {}
		bool await_ready() const { return false; }
		void await_resume() const {}

		void await_suspend(std::coroutine_handle<> sleeper)
		{
			sleeper_ = sleeper;
			timer_.start(end_);
		}

	private:
		void wake() { sleeper_.resume(); }

		std::coroutine_handle<> sleeper_;
		libtwheel::member_timer<sleep, &sleep::wake> timer_;
		time_point end_;
	};

	explicit scheduler(time_point now) : wheel_(now), now_(now) {}

	sleep sleep_for(std::chrono::nanoseconds time) { return { *this, now_ + time }; }

	/* Runs until no coroutine sleeps. @wait sleeps until a time, and returns the current time. */
	template <class Wait> void run(Wait wait)
	{
		while (wheel_.count()) {
			now_ = wait(wheel_.next());
			wheel_.advance(now_);
		}
	}

private:
	libtwheel::timers wheel_;
	time_point now_;
};

static task blink(scheduler &s, const char *name, int times, std::chrono::nanoseconds pause)
{
	for (int i = 1; i <= times; i++) {
		co_await s.sleep_for(pause);
		std::printf("%s %d\n", name, i);
	}
}

int main()
{
	scheduler s{time_point(0ns)};

	blink(s, "slow", 2, 70us);
	blink(s, "fast", 3, 30us);
	/* Virtual time. A server waits for its descriptors here, and reads its clock. */
	s.run([](time_point next) { return next; });
}

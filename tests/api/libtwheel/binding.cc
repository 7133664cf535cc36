// SPDX-License-Identifier: GPL-2.0
/*
 * Test of the C++ binding: each function with its errors. Prints TAP
 */
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <iostream>
#include <iterator>
#include <poll.h>
#include <csignal>
#include <sys/epoll.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <type_traits>
#include <unistd.h>

#include <twheel.hpp>
#include <twheel_timer.hpp>

using libtwheel::batch;
using clock_type = std::chrono::steady_clock;
using libtwheel::session;
using libtwheel::time_point;
using namespace std::chrono_literals;

static_assert(!std::is_copy_constructible_v<session> && std::is_nothrow_move_constructible_v<session>);
static_assert(!std::is_copy_constructible_v<batch> && std::is_nothrow_move_assignable_v<batch>);

static int line_of_failure;

#define EXPECT(is) do { if (!(is) && !line_of_failure) line_of_failure = __LINE__; } while (0)

/* Returns the text of the error if @call fails with the errno @number, otherwise "". */
template <class F> static std::string fails_with(int number, F call)
{
	try {
		call();
	} catch (const std::system_error &error) {
		return error.code().value() == number ? error.what() : "";
	}
	return "";
}

template <class E, class F> static bool throws(F call)
{
	try {
		call();
	} catch (const E &) {
		return true;
	}
	return false;
}

static session with_words(unsigned int words)
{
	twheel_setup setup{};

	setup.shared_ids = words;
	return session(setup);
}

static void wait_unread(session &t, unsigned int count)
{
	struct twheel_stats stats = {};

	while (stats.unread != count) {
		libtwheel::check(twheel_stats(t.get(), &stats), "twheel_stats");
		usleep(1000);
	}
}

static void sessions_end_once()
{
	session one = with_words(8), other;
	int fd = one.fd();

	EXPECT(one.get()->shared_ids == 8);
	other = std::move(one);
	EXPECT(!one.get() && other.fd() == fd && fcntl(fd, F_GETFD) >= 0);
	other = session();
	EXPECT(other.fd() == fd || fcntl(fd, F_GETFD) < 0);
}

static void sessions_are_here_or_there()
{
	const char *asked = getenv("TWHEEL_BACKEND");
	// Without TWHEEL_BACKEND, a session is in the process if this user cannot open the device.
	bool in_process = asked && *asked ? !strcmp(asked, "process") : access("/dev/twheel", R_OK | W_OK) != 0;

	EXPECT((twheel_backend(session().get()) == TWHEEL_BACKEND_PROCESS) == in_process);
	EXPECT(twheel_backend(session({}, TWHEEL_OPEN_PROCESS).get()) == TWHEEL_BACKEND_PROCESS);
	EXPECT(fails_with(EINVAL, [] { session({}, TWHEEL_OPEN_PROCESS | TWHEEL_OPEN_KERNEL); })
	       .find("/dev/twheel") == 0);
}

static void a_signal_does_not_end_a_wait()
{
	const itimerval often = { { 0, 10000 }, { 0, 10000 } }, never = {};
	const auto begin = clock_type::now();
	session t;

	signal(SIGALRM, [](int) {});
	setitimer(ITIMER_REAL, &often, nullptr);
	EXPECT(t.wait(50ms).empty() && clock_type::now() - begin >= 50ms);
	t.start(1, 50ms);
	EXPECT(t.wait().at(0).id == 1);
	setitimer(ITIMER_REAL, &never, nullptr);
}

static void timers()
{
	session t;

	EXPECT(t.start(3, 1h, 33) == 0 && t.start(3, 2h, 34) == 1);
	EXPECT(t.look(3)->user_data == 34 && t.look(3)->state == TWHEEL_STATE_PENDING);
	EXPECT(t.stop(3) == 0 && !t.look(3));
	EXPECT(fails_with(ENOENT, [&] { t.stop(3); }).find("twheel_stop: no such timer is pending") == 0);
	EXPECT(!t.start(3, -1ns) && t.wait().at(0).id == 3);
	EXPECT(!t.start(3, std::chrono::nanoseconds::max()) && t.wait(1ms).empty());
	t.stop(3);
	auto id = t.start_flags(TWHEEL_ID_ANY, 0s, 0s, 44);
	wait_unread(t, 1);
	EXPECT(t.start(id, 1h) == 2 && t.read().empty() && t.wait(0ns).empty());
}

static void cancel_of_a_sibling()
{
	session t;

	t.start(1, 0s);
	t.start(2, 0s);
	wait_unread(t, 2);
	EXPECT(t.stop(3 - t.read(1).at(0).id) == 1 && t.read().empty());
}

static void many_due_at_once()
{
	session t;
	struct pollfd pollfd = { t.fd(), POLLIN, 0 };
	unsigned int count = 0;

	for (unsigned int id = 0; id < 10000; id++)
		t.start(id, 0s);
	wait_unread(t, 10000);
	while (poll(&pollfd, 1, 0)) {
		size_t some = t.read().size();

		EXPECT(some == std::min(64u, 10000 - count));
		count += some;
	}
	EXPECT(count == 10000);
}

/* A child closes its copy, and the loop of the parent still watches the session. */
static void fork_and_close()
{
	struct epoll_event event = {};
	int loop = epoll_create1(0), status;
	session t;

	event.events = EPOLLIN;
	EXPECT(!epoll_ctl(loop, EPOLL_CTL_ADD, t.fd(), &event));
	if (pid_t child = fork()) {
		EXPECT(waitpid(child, &status, 0) == child && !status);
	} else {
		{ session closed = std::move(t); }
		_exit(0);
	}
	t.start(1, 0s);
	EXPECT(epoll_wait(loop, &event, 1, -1) == 1 && t.wait().at(0).id == 1);
	close(loop);
}

static void events()
{
	session t;
	struct pollfd pollfd = { t.fd(), POLLIN, 0 };

	t.start_flags(3, 0s, 1ms, 33);
	EXPECT(poll(&pollfd, 1, -1) == 1);
	auto events = t.wait(60s);
	EXPECT(events.size() == 1 && events[0].id == 3 && events[0].user_data == 33);
	EXPECT(t.wait(60s, 1).at(0).flags == TWHEEL_EVENT_PERIODIC);
	EXPECT(fails_with(EINVAL, [&] { t.read(0); }) != "");
}

static void words()
{
	session t = with_words(8), without;
	auto deadline = clock_type::now() + 1h;

	t.start(3, 0s);
	wait_unread(t, 1);
	t.refresh(3, deadline);
	EXPECT(t.read().empty() && t.look(3)->deadline_ns == libtwheel::deadline_ns(deadline));
	t.push(3, deadline - 1min);
	EXPECT(t.look(3)->deadline_ns == libtwheel::deadline_ns(deadline - 1min));
	/* A deadline of long ago is due at once. */
	t.push(3, libtwheel::time_point::min());
	EXPECT(t.wait().at(0).id == 3);
	t.start(4, 0s);
	wait_unread(t, 1);
	t.stop_by_store(4);
	EXPECT(t.read().empty() && !t.look(4));
	EXPECT(throws<std::out_of_range>([&] { t.refresh(8, deadline); }));
	EXPECT(throws<std::out_of_range>([&] { without.stop_by_store(0); }));
}

static void lists()
{
	session t;

	for (unsigned int id = 0; id < 200; id++)
		t.start(id, 1h, 2 * id);
	EXPECT(t.list().size() == 200 && t.list().at(199).user_data == 398);
}

static void batches()
{
	session t;
	batch operations(t, 3), moved = std::move(operations);

	EXPECT(!moved.start(1, 1h) && !moved.stop(2) && moved.stop(1) == 3);
	EXPECT(moved.at(1).result == -ENOENT && throws<std::out_of_range>([&] { moved.at(3); }));
	moved.start(4, 1h);
	EXPECT(moved.flush() == 1 && t.look(4));
	EXPECT(fails_with(EINVAL, [&] { batch(t, 0); }) != "");
}

struct connection {
	void on_idle() { delete this; }

	int &closed;
	libtwheel::member_timer<connection, &connection::on_idle> idle;
	libtwheel::timer hard;

	connection(libtwheel::timers &wheel, int &count)
		: closed(count), idle(wheel, this), hard(wheel, [this] { delete this; }) {}

	~connection() { closed++; }
};

static time_point at(long ns)
{
	return time_point(std::chrono::nanoseconds(ns));
}

static void timers_of_the_program()
{
	libtwheel::timers wheel(at(100));
	int calls = 0, closed = 0;
	libtwheel::timer first(wheel, [&] { calls++; });

	EXPECT(wheel.next() == time_point::max() && !first.pending() && !first.stop());
	first.start(at(500));
	first.push(at(70000));
	first.push(at(80000));
	{
		libtwheel::timer second(wheel, [&] { calls += 100; });

		second.start(at(600));
		EXPECT(wheel.next() == at(600) && wheel.count() == 2);
	}
	EXPECT(wheel.count() == 1 && wheel.advance(at(79999)) == 0 && wheel.advance(at(80000)) == 1 && calls == 1);
	EXPECT(first.expires() == at(80000) && !first.pending());
	for (int i = 0; i < 2; i++) {
		connection *c = new connection(wheel, closed);

		c->idle.start(at(80010 + 10 * i));
		c->hard.start(at(80015));
	}
	EXPECT(wheel.advance(at(80010), 1) == 1 && closed == 1 && wheel.count() == 2);
	EXPECT(wheel.advance(at(90000)) == 1 && closed == 2 && wheel.count() == 0);
	first.start(at(95000));
	wheel.shift(-5us);
	EXPECT(first.expires() == at(90000) && wheel.advance(at(90000)) == 1);
	first.start(at(-1));
	EXPECT(wheel.advance(at(90000)) == 1 && calls == 3);
}

static void callbacks_may_throw()
{
	std::unique_ptr<libtwheel::timer> last;
	libtwheel::timers wheel(at(0));
	int calls = 0;
	libtwheel::timer first(wheel, [] { throw std::runtime_error("a callback"); });
	libtwheel::timer second(wheel, [&] { calls++; });

	first.start(at(5));
	second.start(at(5));
	EXPECT(throws<std::runtime_error>([&] { wheel.advance(at(5)); }) && !first.pending() && second.pending());
	EXPECT(wheel.next() <= at(5) && wheel.advance(at(5)) == 1 && calls == 1);
	/* A timer may outlive its wheel, which has stopped it. */
	last = std::make_unique<libtwheel::timer>(wheel, [] {});
	last->start(at(9));
}

int main()
{
	static const struct {
		const char *name;
		void (*run)();
	} tests[] = {
		{ "sessions_end_once", sessions_end_once },
		{ "sessions_are_here_or_there", sessions_are_here_or_there },
		{ "a_signal_does_not_end_a_wait", a_signal_does_not_end_a_wait },
		{ "timers", timers }, { "events", events }, { "words", words },
		{ "cancel_of_a_sibling", cancel_of_a_sibling },
		{ "many_due_at_once", many_due_at_once },
		{ "fork_and_close", fork_and_close },
		{ "lists", lists }, { "batches", batches },
		{ "timers_of_the_program", timers_of_the_program },
		{ "callbacks_may_throw", callbacks_may_throw },
	};
	int number = 0, failed = 0;

	std::cout << "TAP version 13\n1.." << std::size(tests) << '\n';
	for (const auto &test : tests) {
		line_of_failure = 0;
		try {
			test.run();
		} catch (const std::exception &error) {
			std::cout << "# " << error.what() << '\n';
			line_of_failure = -1;
		}
		if (line_of_failure) {
			std::cout << "# line " << line_of_failure << "\nnot ";
			failed = 1;
		}
		std::cout << "ok " << ++number << " - " << test.name << std::endl;
	}
	return failed;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Boost.Asio: a steady_timer for each connection
 *
 * Documents: Boost.Asio, "basic_waitable_timer": expires_at() cancels the wait that is pending,
 * whose handler gets operation_aborted, so that a heartbeat is expires_at() and async_wait()
 * ("Changing an active waitable timer's expiry time"); cancel(). BOOST_ASIO_DISABLE_THREADS and a
 * concurrency hint of 1 are for one thread. Steps are a posix::stream_descriptor.
 */
#include <boost/asio.hpp>
#include <chrono>
#include <memory>
#include <vector>

#include "replay.h"

namespace asio = boost::asio;
using error_code = boost::system::error_code;

static std::unique_ptr<asio::io_context> context;
static std::vector<std::unique_ptr<asio::steady_timer>> timers;

static void open_context(unsigned int connections)
{
	context = std::make_unique<asio::io_context>(1);
	timers.resize(connections);
}

static void refresh(unsigned int connection, uint64_t deadline_ns)
{
	auto &timer = *timers[connection];

	timer.expires_at(asio::steady_timer::time_point(std::chrono::nanoseconds(deadline_ns)));
	timer.async_wait([connection](const error_code &error) {
		if (error)
			return;
		timers[connection].reset();
		replay_expired(connection);
	});
}

static void start(unsigned int connection, uint64_t deadline_ns)
{
	timers[connection] = std::make_unique<asio::steady_timer>(*context);
	refresh(connection, deadline_ns);
}

/* A timer that goes cancels its wait. */
static void stop(unsigned int connection)
{
	timers[connection].reset();
}

static void wait_for_step(asio::posix::stream_descriptor &step)
{
	step.async_wait(asio::posix::stream_descriptor::wait_read, [&step](const error_code &error) {
		if (error || !replay_steps())
			context->stop();
		else
			wait_for_step(step);
	});
}

static void loop()
{
	asio::posix::stream_descriptor step(*context, replay_fd());

	wait_for_step(step);
	context->run();
	step.release();
}

const struct adapter adapter = { open_context, start, refresh, stop, nullptr, loop };

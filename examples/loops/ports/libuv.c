// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The timers of libuv on <twheel_timer.h>, for src/timer.c of libuv
 *
 * A wheel replaces the heap in uv_loop_t. In uv_timer_t, a struct twheel_timer replaces the heap's
 * links, the deadline and the number of the start, so the sizes of both structures do not change.
 * The rules of libuv still apply: a timeout of 0 expires in the next iteration, timers with the
 * same deadline expire in the order of their starts, and a callback may start and stop any timer.
 */

static struct twheel_timers *uv__wheel(const uv_loop_t *loop)
{
	return loop->timer_heap.min;
}

static void uv__timer_expire(struct twheel_timer *timer)
{
	uv_timer_t *handle = twheel_timer_container(timer, uv_timer_t, wheel_timer);

	if (handle->repeat)
		uv_timer_start(handle, handle->timer_cb, handle->repeat, handle->repeat);
	else
		uv__handle_stop(handle);
	handle->timer_cb(handle);
}

int uv_timer_init(uv_loop_t *loop, uv_timer_t *handle)
{
	uv__handle_init(loop, (uv_handle_t *)handle, UV_TIMER);
	twheel_timer_init(&handle->wheel_timer, uv__timer_expire);
	handle->timer_cb = NULL;
	handle->repeat = 0;
	return 0;
}

int uv_timer_start(uv_timer_t *handle, uv_timer_cb cb, uint64_t timeout, uint64_t repeat)
{
	uint64_t deadline = handle->loop->time + timeout;

	if (uv__is_closing(handle) || !cb)
		return UV_EINVAL;
	handle->timer_cb = cb;
	handle->repeat = repeat;
	twheel_timer_push(uv__wheel(handle->loop), &handle->wheel_timer,
			  deadline < timeout ? TWHEEL_TIMERS_NEVER : deadline);
	uv__handle_start(handle);
	return 0;
}

int uv_timer_stop(uv_timer_t *handle)
{
	if (!uv__is_active(handle))
		return 0;
	twheel_timer_stop(uv__wheel(handle->loop), &handle->wheel_timer);
	uv__handle_stop(handle);
	return 0;
}

uint64_t uv_timer_get_due_in(const uv_timer_t *handle)
{
	uint64_t now = handle->loop->time;

	return handle->wheel_timer.expires > now ? handle->wheel_timer.expires - now : 0;
}

int uv__next_timeout(const uv_loop_t *loop)
{
	uint64_t next = twheel_timers_next(uv__wheel(loop));

	if (next == TWHEEL_TIMERS_NEVER)
		return twheel_timers_count(uv__wheel(loop)) ? INT_MAX : -1;
	if (next <= loop->time)
		return 0;
	return next - loop->time < INT_MAX ? (int)(next - loop->time) : INT_MAX;
}

void uv__run_timers(uv_loop_t *loop)
{
	twheel_timers_advance(uv__wheel(loop), loop->time, UINT_MAX);
}

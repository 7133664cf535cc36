// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The native methods of Twheel.java, and at the end the native methods of
 * TwheelTimer.java
 *
 * A session, a wheel and a timer are numbers in Java. The methods return the library's results:
 * 0 or more, or a negative errno.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <jni.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <twheel.h>
#include <twheel_timer.h>
#include <unistd.h>

/* The name by which JNI finds a native method */
#define METHOD(name)	Java_twheel_Twheel_##name

static struct twheel *session_of(jlong t)
{
	return (struct twheel *)(long)t;
}

static void *memory_of(JNIEnv *env, jobject buffer)
{
	return (*env)->GetDirectBufferAddress(env, buffer);
}

/* The buffer of the setup has the size that the structure has in Twheel.java. */
JNIEXPORT jlong METHOD(open)(JNIEnv *env, jclass class, jobject setup, jint event_size)
{
	struct twheel *t;
	int ret;

	ret = twheel_open_sized(&t, memory_of(env, setup),
				(*env)->GetDirectBufferCapacity(env, setup), event_size);
	return ret ? ret : (jlong)t;
}

JNIEXPORT void METHOD(close)(JNIEnv *env, jclass class, jlong t)
{
	twheel_close(session_of(t));
}

JNIEXPORT jobject METHOD(words)(JNIEnv *env, jclass class, jlong t)
{
	struct twheel *session = session_of(t);

	return (*env)->NewDirectByteBuffer(env, session->words,
					   (jlong)session->shared_ids * sizeof(*session->words));
}

JNIEXPORT jint METHOD(command)(JNIEnv *env, jclass class, jlong t, jlong number, jobject argument)
{
	return twheel_command(session_of(t), number, memory_of(env, argument));
}

JNIEXPORT jlong METHOD(address)(JNIEnv *env, jclass class, jobject memory)
{
	return (jlong)memory_of(env, memory);
}

/* Returns the result of the start, or for TWHEEL_ID_ANY the id that the library chose. */
JNIEXPORT jlong METHOD(start)(JNIEnv *env, jclass class, jlong t, jlong id, jlong expires_ns,
			      jlong period_ns, jlong user_data, jint flags)
{
	__u64 chosen = id;
	int ret;

	ret = twheel_start_flags(session_of(t), &chosen, expires_ns, period_ns, user_data, flags);
	return ret < 0 || (__u64)id != TWHEEL_ID_ANY ? ret : (jlong)chosen;
}

JNIEXPORT jint METHOD(push)(JNIEnv *env, jclass class, jlong t, jlong id, jlong deadline_ns,
			    jlong user_data)
{
	return twheel_push(session_of(t), id, deadline_ns, user_data);
}

JNIEXPORT jint METHOD(stop)(JNIEnv *env, jclass class, jlong t, jlong id)
{
	return twheel_stop(session_of(t), id);
}

JNIEXPORT jint METHOD(read)(JNIEnv *env, jclass class, jlong t, jobject events, jint count)
{
	return twheel_read(session_of(t), memory_of(env, events), count);
}

/*
 * Wait for events and read them. @wakeup is an eventfd from wakeup(): wake() ends the wait. Returns
 * 0 then, and after a signal or the timeout.
 */
JNIEXPORT jint METHOD(wait)(JNIEnv *env, jclass class, jlong t, jobject events, jint count,
			    jlong timeout_ns, jint wakeup)
{
	const struct timespec timeout = { timeout_ns / 1000000000, timeout_ns % 1000000000 };
	struct pollfd fds[] = {
		{ .fd = twheel_fd(session_of(t)), .events = POLLIN },
		{ .fd = wakeup, .events = POLLIN },
	};

	if (ppoll(fds, 2, &timeout, NULL) < 0)
		return errno == EINTR ? 0 : -errno;
	return twheel_wait(session_of(t), memory_of(env, events), count, 0);
}

JNIEXPORT jint METHOD(wakeup)(JNIEnv *env, jclass class)
{
	int ret = eventfd(0, EFD_CLOEXEC);

	return ret < 0 ? -errno : ret;
}

JNIEXPORT void METHOD(wake)(JNIEnv *env, jclass class, jint wakeup)
{
	eventfd_write(wakeup, 1);
}

JNIEXPORT void METHOD(closeWakeup)(JNIEnv *env, jclass class, jint wakeup)
{
	close(wakeup);
}

JNIEXPORT jstring METHOD(message)(JNIEnv *env, jclass class, jint error)
{
	return (*env)->NewStringUTF(env, strerror(error));
}

#undef METHOD
#define METHOD(name)	Java_twheel_TwheelTimer_##name

_Static_assert(sizeof(struct twheel_timer) <= 40, "TIMER_SIZE of TwheelTimer.java");

static struct twheel_timers *wheel_of(jlong wheel)
{
	return (struct twheel_timers *)(long)wheel;
}

static struct twheel_timer *timer_of(jlong timer)
{
	return (struct twheel_timer *)(long)timer;
}

JNIEXPORT jlong METHOD(init)(JNIEnv *env, jclass class, jlong memory, jint size, jlong tick)
{
	return (jlong)twheel_timers_init((void *)(long)memory, size, tick);
}

JNIEXPORT void METHOD(start)(JNIEnv *env, jclass class, jlong wheel, jlong timer, jint id,
			     jlong tick)
{
	timer_of(timer)->tag = id;
	twheel_timer_start(wheel_of(wheel), timer_of(timer), tick);
}

JNIEXPORT void METHOD(stop)(JNIEnv *env, jclass class, jlong wheel, jlong timer)
{
	twheel_timer_stop(wheel_of(wheel), timer_of(timer));
}

/* Stop up to 256 timers that are due, and put their ids into @ids. Returns their number. */
JNIEXPORT jint METHOD(expired)(JNIEnv *env, jclass class, jlong wheel, jlong tick, jintArray ids)
{
	struct twheel_timer *timer;
	jint tags[256], count = 0;

	while (count < 256 && (timer = twheel_timers_expired(wheel_of(wheel), tick)))
		tags[count++] = timer->tag;
	(*env)->SetIntArrayRegion(env, ids, 0, count, tags);
	return count;
}

/* Returns the tick at which to look for due timers next, at most @latest, for a signed jlong. */
JNIEXPORT jlong METHOD(next)(JNIEnv *env, jclass class, jlong wheel, jlong latest)
{
	uint64_t tick = twheel_timers_next(wheel_of(wheel));

	return tick < (uint64_t)latest ? (jlong)tick : latest;
}

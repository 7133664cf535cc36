// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The native methods of Twheel.java
 *
 * A session and a batch are numbers there. Results are those of the library: 0 or
 * more, or a negative errno.
 */
#include <errno.h>
#include <jni.h>
#include <poll.h>
#include <string.h>
#include <twheel.h>

static struct twheel *session_of(jlong t)
{
	return (struct twheel *)(long)t;
}

static struct twheel_batch *batch_of(jlong b)
{
	return (struct twheel_batch *)(long)b;
}

static void *memory_of(JNIEnv *env, jobject buffer)
{
	return (*env)->GetDirectBufferAddress(env, buffer);
}

/* The structures here and in Twheel.java are equally long, as they are made of one header. */
static jlong open_session(JNIEnv *env, jclass class, jobject setup, jint event_size, jint flags)
{
	struct twheel *t;
	int ret;

	ret = twheel_open_flags_sized(&t, memory_of(env, setup),
				      (*env)->GetDirectBufferCapacity(env, setup),
				      event_size, flags);
	return ret ? ret : (jlong)t;
}

static void close_session(JNIEnv *env, jclass class, jlong t)
{
	twheel_close(session_of(t));
}

static jint fd(JNIEnv *env, jclass class, jlong t)
{
	return session_of(t)->fd;
}

static jobject words(JNIEnv *env, jclass class, jlong t)
{
	struct twheel *session = session_of(t);

	if (!session->shared_ids)
		return NULL;
	return (*env)->NewDirectByteBuffer(env, session->words,
					   (jlong)session->shared_ids * sizeof(*session->words));
}

static jint command(JNIEnv *env, jclass class, jlong t, jlong number, jobject argument)
{
	return twheel_command(session_of(t), number, memory_of(env, argument));
}

static jlong address(JNIEnv *env, jclass class, jobject memory)
{
	return (jlong)memory_of(env, memory);
}

/* Returns the id that was chosen, if one was to be. */
static jlong start(JNIEnv *env, jclass class, jlong t, jlong id, jlong expires_ns,
		   jlong period_ns, jlong user_data, jint flags, jint fd)
{
	struct twheel *session = session_of(t);
	__u64 chosen = id;
	int ret;

	if (flags & TWHEEL_START_IDLE)
		ret = twheel_start_idle(session, &chosen, fd, expires_ns, user_data, flags);
	else
		ret = twheel_start_flags(session, &chosen, expires_ns, period_ns, user_data,
					 flags);
	return ret < 0 || (__u64)id != TWHEEL_ID_ANY ? ret : (jlong)chosen;
}

static jint push(JNIEnv *env, jclass class, jlong t, jlong id, jlong deadline_ns, jlong user_data)
{
	return twheel_push(session_of(t), id, deadline_ns, user_data);
}

static jint stop(JNIEnv *env, jclass class, jlong t, jlong id)
{
	return twheel_stop(session_of(t), id);
}

static jint withdraw(JNIEnv *env, jclass class, jlong t, jlong id)
{
	return twheel_withdraw(session_of(t), id);
}

static jint read_events(JNIEnv *env, jclass class, jlong t, jobject events, jint count)
{
	return twheel_read(session_of(t), memory_of(env, events), count);
}

static jint wait_for_events(JNIEnv *env, jclass class, jlong t, jobject events, jint count,
			    jlong timeout_ns)
{
	return twheel_wait(session_of(t), memory_of(env, events), count, timeout_ns);
}

/* Nothing of the session but its descriptor, which does not change. */
static jint poll_session(JNIEnv *env, jclass class, jlong t, jint timeout_ms)
{
	struct pollfd readable = { .fd = session_of(t)->fd, .events = POLLIN };
	int ret = poll(&readable, 1, timeout_ms);

	if (ret < 0)
		return errno == EINTR ? 0 : -errno;
	return ret;
}

static jlong batch_new(JNIEnv *env, jclass class, jlong t, jint size)
{
	struct twheel_batch *batch;
	int ret = twheel_batch_new(session_of(t), size, &batch);

	return ret ? ret : (jlong)batch;
}

static void batch_free(JNIEnv *env, jclass class, jlong b)
{
	twheel_batch_free(batch_of(b));
}

static jint batch_start(JNIEnv *env, jclass class, jlong b, jlong id, jlong expires_ns,
			jlong period_ns, jlong user_data, jint flags)
{
	return twheel_batch_start_flags(batch_of(b), id, expires_ns, period_ns, user_data, flags);
}

static jint batch_stop(JNIEnv *env, jclass class, jlong b, jlong id)
{
	return twheel_batch_stop(batch_of(b), id);
}

static jint batch_withdraw(JNIEnv *env, jclass class, jlong b, jlong id)
{
	return twheel_batch_withdraw(batch_of(b), id);
}

static jint batch_flush(JNIEnv *env, jclass class, jlong b)
{
	return twheel_batch_flush(batch_of(b));
}

/* out: its id, its result */
static void batch_op(JNIEnv *env, jclass class, jlong b, jint index, jlongArray out)
{
	const struct twheel_op *op = twheel_batch_op(batch_of(b), index);
	const jlong values[] = { op->id, op->result };

	(*env)->SetLongArrayRegion(env, out, 0, 2, values);
}

static jstring message(JNIEnv *env, jclass class, jint error)
{
	return (*env)->NewStringUTF(env, strerror(error));
}

#define BUFFER	"Ljava/nio/ByteBuffer;"
#define METHOD(name, signature, function) \
	{ (char *)(name), (char *)(signature), (void *)(function) }

static const JNINativeMethod methods[] = {
	METHOD("open", "(" BUFFER "II)J", open_session),
	METHOD("close", "(J)V", close_session),
	METHOD("fd", "(J)I", fd),
	METHOD("words", "(J)" BUFFER, words),
	METHOD("command", "(JJ" BUFFER ")I", command),
	METHOD("address", "(" BUFFER ")J", address),
	METHOD("start", "(JJJJJII)J", start),
	METHOD("push", "(JJJJ)I", push),
	METHOD("stop", "(JJ)I", stop),
	METHOD("withdraw", "(JJ)I", withdraw),
	METHOD("read", "(J" BUFFER "I)I", read_events),
	METHOD("wait", "(J" BUFFER "IJ)I", wait_for_events),
	METHOD("poll", "(JI)I", poll_session),
	METHOD("batchNew", "(JI)J", batch_new),
	METHOD("batchFree", "(J)V", batch_free),
	METHOD("batchStart", "(JJJJJI)I", batch_start),
	METHOD("batchStop", "(JJ)I", batch_stop),
	METHOD("batchWithdraw", "(JJ)I", batch_withdraw),
	METHOD("batchFlush", "(J)I", batch_flush),
	METHOD("batchOp", "(JI[J)V", batch_op),
	METHOD("message", "(I)Ljava/lang/String;", message),
};

JNIEXPORT jint JNI_OnLoad(JavaVM *vm, void *reserved)
{
	JNIEnv *env;
	jclass class;

	if ((*vm)->GetEnv(vm, (void **)&env, JNI_VERSION_10))
		return JNI_ERR;
	class = (*env)->FindClass(env, "twheel/Twheel");
	if (!class || (*env)->RegisterNatives(env, class, methods,
					      sizeof(methods) / sizeof(*methods)))
		return JNI_ERR;
	return JNI_VERSION_10;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * The device node, and the results of TWHEEL_IOC_INFO
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness.h"
#include "proc.h"
#include "session.h"

NEED_KERNEL("version_is_one", "all_features_are_there", "node_*",
	    "descriptor_does_not_seek");

#define ALL_FEATURES	(TWHEEL_FEATURE_NOWAIT | TWHEEL_FEATURE_SHARED)

TEST(version_is_one)
{
	struct twheel_info info;

	ASSERT_EQ(0, tw_info(session_open(), &info));
	ASSERT_EQ(1, info.abi_version);
	ASSERT_EQ(1, proc_number(proc_text(), "version"));
}

TEST(all_features_are_there)
{
	struct twheel_info info;

	ASSERT_EQ(0, tw_info(session_open(), &info));
	ASSERT_EQ(kernel_of_32_bits() ?
		  ALL_FEATURES & ~TWHEEL_FEATURE_SHARED : ALL_FEATURES,
		  info.features);
}

TEST(limits_make_sense)
{
	struct twheel_info info;

	ASSERT_EQ(0, tw_info(session_open(), &info));
	ASSERT_LE(50 * US, info.tick_ns);
	ASSERT_LE(info.tick_ns, SECOND);
	ASSERT_LE(1, info.max_timers);
	ASSERT_EQ(INTERVAL_MAX, info.max_interval_ns);
	ASSERT_EQ(65536, info.max_batch);
}

TEST(parameters_are_obeyed)
{
	struct twheel_info info;
	__u64 value;

	ASSERT_EQ(0, tw_info(session_open(), &info));
	if (!module_parameter("tick_us", &value))
		test_skip("tick_us is not in /sys/module/twheel/parameters");
	ASSERT_EQ(value * US, info.tick_ns);
	ASSERT_TRUE(module_parameter("max_timers", &value));
	ASSERT_EQ(value, info.max_timers);
}

TEST(node_is_for_root_only)
{
	struct stat st;

	ASSERT_EQ(0, stat("/dev/twheel", &st));
	ASSERT_TRUE(S_ISCHR(st.st_mode));
	ASSERT_EQ(0600, st.st_mode & 07777);
	ASSERT_EQ(0, st.st_uid);
}

TEST(descriptor_does_not_seek)
{
	struct twheel_event event;
	int fd = session_open_nonblock();

	ASSERT_EQ(-1, lseek(fd, 0, SEEK_SET));
	ASSERT_EQ(ESPIPE, errno);
	ASSERT_EQ(-1, pread(fd, &event, sizeof(event), 0));
	ASSERT_EQ(ESPIPE, errno);
}

TEST(descriptor_is_not_written)
{
	char bytes[64] = { 0 };
	int fd = session_open();

	ASSERT_EQ(-1, write(fd, bytes, sizeof(bytes)));
	ASSERT_EQ(EINVAL, errno);
}

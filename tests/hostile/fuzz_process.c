// SPDX-License-Identifier: GPL-2.0
/*
 * The calls of the fuzzer on a session in the process, under libFuzzer
 *
 * The input takes the place of the random numbers, so that libFuzzer can search for inputs that
 * reach more of session/ and of twheel_chardev.c. ../api/selftests/process.c takes the place of
 * /dev/twheel. The clock is a variable, so that an input always has the same effect.
 */
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "../api/selftests/virtual_clock.h"
#include "fuzz.h"

#define CALLS_MAX	400

static struct fuzz_shared shared = { .end = ~0ULL, .in_process = true };
static const struct fuzz_kind kind = { .name = "process", .threads = 1, .own = true, .spoilt = 15 };

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void store_word(struct fuzz_thread *t, int fd)
{
	struct twheel_info info;
	__u64 *words;

	if (ioctl(fd, TWHEEL_IOC_INFO, &info) || !info.shared_ids)
		return;
	words = mmap(NULL, info.shared_ids * sizeof(*words), PROT_READ | PROT_WRITE,
		     MAP_SHARED, fd, 0);
	if (words == MAP_FAILED)
		fuzz_fail(&shared, "no words");
	words[fuzz_below(t, MIN(info.shared_ids, 60U))] =
		fuzz_percent(t, 80) ? now_ns() + fuzz_time(t) : fuzz_number(t);
}

static void one_call(struct fuzz_thread *t, int fd)
{
	unsigned int choice = fuzz_below(t, 100);

	if (choice < 45)
		fuzz_struct_call(t, fd);
	else if (choice < 60)
		fuzz_read(t, fd);
	else if (choice < 75)
		fuzz_submit(t, fd);
	else if (choice < 80)
		fuzz_list(t, fd);
	else if (choice < 88)
		store_word(t, fd);
	else if (choice < 98)
		virtual_ns += fuzz_below(t, 256) * MS / 8;
	else
		fuzz_stats(t, fd);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	static struct fuzz_thread t = { .shared = &shared, .kind = &kind, .nth = -1 };
	int fd, calls = 0;

	if (!t.structs.size)
		fuzz_areas_make(&t);
	t.input = data;
	t.left = size;
	fd = fuzz_open(&shared, &kind, O_RDWR);
	if (fuzz_percent(&t, 70))
		fuzz_setup(&t, fd);
	while (t.left && calls++ < CALLS_MAX)
		one_call(&t, fd);
	fuzz_settle(&shared, fd);
	close(fd);
	return 0;
}

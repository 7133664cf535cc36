// SPDX-License-Identifier: GPL-2.0
/*
 * Memory for arguments: good, bad and changing
 *
 * The same pages are mapped several times. So the program can write and check the memory of an
 * argument, even if the mapping that the kernel uses is read-only or vanishes.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"

/* Number of bytes around a place that must not change. */
#define MARGIN	64

/* Map @fd, with an unmapped page behind the mapping. */
static char *map_view(int fd, size_t size, int protection, int flags)
{
	char *room = mmap(NULL, size + PAGE, PROT_NONE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (room == MAP_FAILED ||
	    mmap(room, size, protection, MAP_SHARED | MAP_FIXED | flags, fd,
		 0) == MAP_FAILED || munmap(room + size, PAGE))
		abort();
	return room;
}

static void make_area(struct fuzz_area *area, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, size))
		abort();
	area->size = size;
	area->mine = map_view(fd, size, PROT_READ | PROT_WRITE, 0);
	/* Populate the mapping: place_is_known() is true for it, so no page may be missing. */
	area->view = map_view(fd, size, PROT_READ | PROT_WRITE, MAP_POPULATE);
	area->read_only = map_view(fd, size, PROT_READ, 0);
	area->unstable = map_view(fd, size, PROT_READ | PROT_WRITE, 0);
	close(fd);
}

void fuzz_areas_make(struct fuzz_thread *t)
{
	make_area(&t->structs, 8 * PAGE);
	make_area(&t->arrays, 32 * PAGE);
}

/* Remove pages of another thread's memory, or make them read-only. */
void fuzz_area_disturb(struct fuzz_thread *t, struct fuzz_area *area)
{
	size_t size = PAGE * (1 + fuzz_below(t, area->size / PAGE));
	static const int protections[] = {
		PROT_NONE, PROT_READ, PROT_READ | PROT_WRITE,
		PROT_READ | PROT_WRITE,
	};

	if (fuzz_percent(t, 50))
		madvise(area->unstable, size, MADV_DONTNEED);
	else
		mprotect(area->unstable, size,
			 protections[fuzz_below(t, ARRAY_SIZE(protections))]);
}

static char *nowhere(struct fuzz_thread *t)
{
	static const __u64 pointers[] = {
		0, 1, 8, 4095, 0x10000, 0x7fffffff, 0x80000000, 0xc0000000,
		0xffffe000, 0xfffff000, 0xffffffff,
		0x7ffffffff000, 0x7ffffffffff8, 0x800000000000,
		0xffff800000000000, 0xffff888000001000, 0xffffffff81000000,
		0xfffffffffffff000, 0xfffffffffffffff8, 0xffffffffffffffff,
	};
	__u64 pointer = pointers[fuzz_below(t, ARRAY_SIZE(pointers))];

	return (char *)(uintptr_t)(pointer + fuzz_below(t, 2) * 8);
}

static enum place_kind choose_kind(struct fuzz_thread *t, size_t size)
{
	/* A session in the process takes only valid pointers, and structures are aligned there. */
	if (t->shared->in_process)
		return size % sizeof(__u64) ? PLACE_NORMAL : PLACE_PAGE_END;
	if (!fuzz_spoilt(t))
		return fuzz_below(t, 2) ? PLACE_NORMAL : PLACE_PAGE_END;
	return fuzz_below(t, NR_PLACES);
}

/*
 * Choose an offset in the area for @size bytes. Set the place's room to the number of bytes that
 * exist.
 */
static size_t choose_offset(struct fuzz_thread *t, struct fuzz_area *area,
			    size_t size, struct place *place)
{
	size_t last = area->size - size - MARGIN;

	if (place->kind == PLACE_CROSSING)
		place->room = fuzz_below(t, size + 1);
	if (place->kind == PLACE_PAGE_END || place->kind == PLACE_CROSSING)
		return area->size - place->room;
	if (!t->shared->in_process && fuzz_percent(t, 20))
		return MARGIN + fuzz_below(t, last - MARGIN);
	return MARGIN + (fuzz_below(t, last - MARGIN) & ~7UL);
}

static char *view_of(const struct fuzz_area *area, enum place_kind kind)
{
	if (kind == PLACE_READ_ONLY)
		return area->read_only;
	if (kind == PLACE_UNSTABLE)
		return area->unstable;
	return area->view;
}

/* Choose a place for @size bytes, and fill it and its surroundings with garbage. */
struct place fuzz_place(struct fuzz_thread *t, struct fuzz_area *area, size_t size)
{
	struct place place = { .kind = choose_kind(t, size), .room = size };
	size_t offset;

	if (place.kind == PLACE_NOWHERE) {
		place.user = nowhere(t);
		place.room = 0;
		return place;
	}
	offset = choose_offset(t, area, size, &place);
	place.user = view_of(area, place.kind) + offset;
	place.mine = area->mine + offset;
	memset(place.mine - MARGIN, GARBAGE,
	       MIN(place.room + 2 * MARGIN, area->size - offset + MARGIN));
	if (place.kind == PLACE_FRESH)
		madvise(area->view, area->size, MADV_DONTNEED);
	return place;
}

/* Returns true if the kernel was certainly able to write the whole argument. */
bool place_is_known(const struct place *place)
{
	return place->kind == PLACE_NORMAL || place->kind == PLACE_PAGE_END ||
	       place->kind == PLACE_FRESH;
}

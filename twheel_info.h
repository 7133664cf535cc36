/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Properties of the schemes, for creating wheels and for /proc/twheel */
#ifndef _TWHEEL_INFO_H
#define _TWHEEL_INFO_H

#include <linux/bitmap.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/types.h>

#include "twheel_scheme.h"

/**
 * struct twheel_scheme_info - properties of a scheme
 * @name: name in parameters and in /proc/twheel
 * @slots: number of slots. 0 if the creator of a wheel chooses it
 * @levels: number of levels, with equal numbers of slots
 */
struct twheel_scheme_info {
	const char *name;
	u32 slots;
	u32 levels;
};

/* All names, for messages. */
#define TWHEEL_SCHEME_NAMES	"hier, hashed"

static inline const struct twheel_scheme_info *
twheel_scheme_info(enum twheel_scheme_type type)
{
	static const struct twheel_scheme_info infos[TWHEEL_NR_SCHEMES] = {
		[TWHEEL_HIER] = {
			.name = "hier",
			.slots = TWHEEL_HIER_SLOTS,
			.levels = TWHEEL_HIER_LEVELS,
		},
		[TWHEEL_HASHED] = {
			.name = "hashed",
			.levels = 1,
		},
	};

	return &infos[type];
}

/*
 * Returns the number of slots of a wheel. @slots: as configured for a hashed
 * wheel, a power of two.
 */
static inline u32 twheel_scheme_slots(enum twheel_scheme_type type, u32 slots)
{
	return twheel_scheme_info(type)->slots ?: slots;
}

/*
 * Check *@slots of a struct twheel_config, and set it to the number to use, or
 * leave it at 0 if the scheme has no choice. Returns 0 or -EINVAL.
 */
static inline int twheel_scheme_choose_slots(enum twheel_scheme_type type,
					     unsigned int *slots)
{
	if (twheel_scheme_info(type)->slots)
		return *slots ? -EINVAL : 0;
	if (!*slots)
		*slots = TWHEEL_SLOTS_DEFAULT;
	if (*slots < TWHEEL_SLOTS_MIN || *slots > TWHEEL_SLOTS_MAX)
		return -EINVAL;
	*slots = roundup_pow_of_two(*slots);
	return 0;
}

static inline unsigned int twheel_scheme_levels(enum twheel_scheme_type type)
{
	return twheel_scheme_info(type)->levels;
}

/*
 * Returns the number of occupied slots of a level, an estimate without the lock
 * of the base.
 */
static inline unsigned int twheel_scheme_occupied(const struct twheel_scheme *s,
						  unsigned int level)
{
	u32 slots = s->nr_slots / twheel_scheme_levels(s->type);

	return bitmap_weight(s->occupied + level * BITS_TO_LONGS(slots), slots);
}

#endif /* _TWHEEL_INFO_H */

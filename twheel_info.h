/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The description of each scheme, for makers of wheels and for /proc/twheel
 */
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
 * struct twheel_scheme_info - a scheme as others see it
 * @name: in parameters and in /proc/twheel
 * @slots: its number of slots. 0 if the maker of a wheel chooses it
 * @levels: its levels, of as many slots each
 * @bounded: however its timers are spread, a tick looks at a bounded number that are
 *	not due. Anybody may have a wheel of such a scheme
 */
struct twheel_scheme_info {
	const char *name;
	u32 slots;
	u32 levels;
	bool bounded;
};

/* All of them, for messages. */
#define TWHEEL_SCHEME_NAMES	"hier, hashed"

/**
 * twheel_scheme_info - how a scheme describes itself
 * @type: the scheme
 *
 * Return: its description.
 */
static inline const struct twheel_scheme_info *
twheel_scheme_info(enum twheel_scheme_type type)
{
	static const struct twheel_scheme_info infos[TWHEEL_NR_SCHEMES] = {
		[TWHEEL_HIER] = {
			.name = "hier",
			.slots = TWHEEL_HIER_SLOTS,
			.levels = TWHEEL_HIER_LEVELS,
			.bounded = true,
		},
		/* With few slots each of them may have all timers. */
		[TWHEEL_HASHED] = {
			.name = "hashed",
			.levels = 1,
		},
	};

	return &infos[type];
}

/* The slots that a scheme needs. A hashed wheel has @slots, a power of two. */
static inline u32 twheel_scheme_slots(enum twheel_scheme_type type, u32 slots)
{
	return twheel_scheme_info(type)->slots ?: slots;
}

/**
 * twheel_scheme_choose_slots - what the maker of a wheel says about its slots
 * @type: the scheme
 * @slots: as in struct twheel_config. Becomes the number that is used, or stays 0 if
 *	the scheme leaves no choice
 *
 * Return: 0, or -EINVAL for a number that cannot be.
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

/* Levels of a scheme. A hashed wheel has one. */
static inline unsigned int twheel_scheme_levels(enum twheel_scheme_type type)
{
	return twheel_scheme_info(type)->levels;
}

/* Occupied slots of a level. A slot that was emptied counts until it is looked at. */
static inline unsigned int twheel_scheme_occupied(const struct twheel_scheme *s,
						  unsigned int level)
{
	u32 slots = s->nr_slots / twheel_scheme_levels(s->type);

	return bitmap_weight(s->occupied + level * BITS_TO_LONGS(slots), slots);
}

#endif /* _TWHEEL_INFO_H */

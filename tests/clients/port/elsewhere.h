/* SPDX-License-Identifier: GPL-2.0 */
/* A header outside of left/. Its structure has a timer with the name of one in struct left. */
struct elsewhere {
	struct timer_list common;
};

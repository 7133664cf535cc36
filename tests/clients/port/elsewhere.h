/* SPDX-License-Identifier: GPL-2.0 */
/* A header outside of "left", whose structure has a timer of the same name as one there. */
struct elsewhere {
	struct timer_list common;
};

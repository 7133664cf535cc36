/* SPDX-License-Identifier: GPL-2.0 */
#include <linux/timer.h>
struct mine {
	struct timer_list rh_timer;
};

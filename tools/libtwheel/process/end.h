/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* End of the code compiled with kernel.h */
#undef twheel
#undef twheel_start
#undef twheel_start_at
#undef twheel_stop
#undef twheel_drain
#undef twheel_round_deadline

#pragma GCC diagnostic pop

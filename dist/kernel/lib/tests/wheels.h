/* SPDX-License-Identifier: GPL-2.0 */
/* The schemes of the kernel, by their names */
#ifdef WHEEL
WHEEL(hier)
#undef WHEEL
#endif

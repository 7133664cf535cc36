/* SPDX-License-Identifier: GPL-2.0 */
/* The names of the schemes that the kernel has, for the suites that test all schemes */
#ifdef WHEEL
WHEEL(hier)
#undef WHEEL
#endif

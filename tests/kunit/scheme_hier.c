// SPDX-License-Identifier: GPL-2.0
/*
 * The hierarchical scheme of twheel.ko, for the tests
 */
#include "../../twheel_hier.c"

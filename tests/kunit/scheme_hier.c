// SPDX-License-Identifier: GPL-2.0
/*
 * The scheme as it is in twheel.ko, for the tests
 */
#include "../../twheel_hier.c"

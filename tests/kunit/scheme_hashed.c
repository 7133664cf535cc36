// SPDX-License-Identifier: GPL-2.0
/*
 * The hashed schemes of twheel.ko, for the tests
 */
#include "torn.h"
#include "../../twheel_hashed.c"

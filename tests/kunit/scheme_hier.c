// SPDX-License-Identifier: GPL-2.0
/*
 * The hierarchical scheme of twheel.ko, for the tests
 */
#include "torn.h"
#include "../../twheel_hier.c"

unsigned int kt_torn_reports;

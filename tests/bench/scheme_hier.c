// SPDX-License-Identifier: GPL-2.0
/*
 * The hierarchical scheme for the benchmark module
 */
#include "../../twheel_hier.c"

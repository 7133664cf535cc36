// SPDX-License-Identifier: GPL-2.0
/*
 * scheme_hier.c - the hierarchical scheme for the benchmark module
 */
#include "../../twheel_hier.c"

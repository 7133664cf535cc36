// SPDX-License-Identifier: GPL-2.0
/*
 * scheme_hashed.c - the hashed schemes for the benchmark module
 */
#include "../../twheel_hashed.c"

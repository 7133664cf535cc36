// SPDX-License-Identifier: GPL-2.0
/*
 * The hashed schemes for the benchmark module
 */
#include "../../twheel_hashed.c"

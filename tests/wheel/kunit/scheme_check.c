// SPDX-License-Identifier: GPL-2.0
/*
 * The oracle and the random use of schemes, for the tests
 */
#include "../schemes/oracle.c"
#include "../schemes/check.c"
#include "../schemes/random.c"

// SPDX-License-Identifier: GPL-2.0
/*
 * Schemes 1 to 5 and the table of all schemes, for the tests
 */
#include "corrupted.h"
#include "../schemes/schemes.c"
#include "../schemes/paper.c"
#include "../schemes/heap.c"
#include "../schemes/wheels.c"

// SPDX-License-Identifier: GPL-2.0
/*
 * Schemes 1 to 5, the textbook's 7, Lawn, and the table of all, for the tests
 */
#include "corrupted.h"
#include "../schemes/schemes.c"
#include "../schemes/paper.c"
#include "../schemes/heap.c"
#include "../schemes/textbook.c"
#include "../schemes/lawn.c"
#include "../schemes/wheels.c"

// SPDX-License-Identifier: GPL-2.0
/*
 * Schemes 1 to 5, the textbook's 7, Lawn, and the table of all, for the benchmark
 */
#include "../wheel/schemes/schemes.c"
#include "../wheel/schemes/paper.c"
#include "../wheel/schemes/heap.c"
#include "../wheel/schemes/textbook.c"
#include "../wheel/schemes/lawn.c"
#include "../wheel/schemes/wheels.c"

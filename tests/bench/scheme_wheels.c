// SPDX-License-Identifier: GPL-2.0
/*
 * The schemes of twheel.ko, for the benchmark
 */
#include "../wheel/schemes/wheels.h"

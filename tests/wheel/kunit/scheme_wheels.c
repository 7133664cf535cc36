// SPDX-License-Identifier: GPL-2.0
/*
 * The schemes of twheel.ko, for the tests
 */
#include "corrupted.h"
#include "../schemes/wheels.h"

unsigned int kt_corruptions;
bool (*twheel_test_ask)(struct twheel_node *node);

// SPDX-License-Identifier: GPL-2.0
/*
 * An example of the documentation, without twheel
 */
#include "../../../Documentation/examples/idle_timeout.c"

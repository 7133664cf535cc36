// SPDX-License-Identifier: GPL-2.0
/*
 * The in-kernel example of the tutorial
 */
#include "../../../Documentation/examples/flow_table.c"

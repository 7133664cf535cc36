// SPDX-License-Identifier: GPL-2.0
/*
 * The in-kernel example, as the documentation shows it
 */
#include "../../../Documentation/examples/idle_timeout.c"

// SPDX-License-Identifier: GPL-2.0
/*
 * An example of the documentation, built with twheel_fallback.h in place of twheel
 */
#include "../../../Documentation/examples/idle_timeout.c"

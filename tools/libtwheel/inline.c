// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The inline functions of the header, for languages that cannot include it
 */
#define TWHEEL_INLINE
#include "twheel.h"

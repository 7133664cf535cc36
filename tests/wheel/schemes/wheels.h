/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The schemes of the module, each with its source and its name
 *
 * With WHEEL(name) defined, this file lists the names. Otherwise it includes the sources.
 */
#ifdef WHEEL
WHEEL(hashed)
WHEEL(hier)
#undef WHEEL
#else
#include "schemes.h"
#include "../../../twheel_hashed.c"
#include "../../../twheel_hier.c"
#endif

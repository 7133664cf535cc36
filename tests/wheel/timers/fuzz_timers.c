// SPDX-License-Identifier: GPL-2.0
/*
 * <twheel_timer.h> under libFuzzer, against the model
 */
#include "model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	model_run(data, size);
	return 0;
}

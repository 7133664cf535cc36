// SPDX-License-Identifier: GPL-2.0 OR MIT
module twheel.invalid/twheel

go 1.19

// SPDX-License-Identifier: GPL-2.0 OR MIT

package twheel

// #cgo pkg-config: libtwheel
import "C"

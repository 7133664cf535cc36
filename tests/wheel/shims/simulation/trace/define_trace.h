/* SPDX-License-Identifier: GPL-2.0 */
/* trace/define_trace.h for the simulation: there is nothing to define */

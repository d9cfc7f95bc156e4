/* SPDX-License-Identifier: 0BSD
 *
 * MINIMUM of integers: the smaller of two numbers, or of two codes, whatever their scales.
 */
#ifndef CG_MINIMUM_H
#define CG_MINIMUM_H

#include "cg_broadcast.h"

CG_BINARY(cg_minimum_s8, cg_binary_args, s8, s8, a < b ? a : b)
CG_BINARY(cg_minimum_u8, cg_binary_args, u8, u8, a < b ? a : b)
CG_BINARY(cg_minimum_s16, cg_binary_args, s16, s16, a < b ? a : b)
CG_BINARY(cg_minimum_s32, cg_binary_args, s32, s32, a < b ? a : b)
CG_BINARY(cg_minimum_s64, cg_binary_args, s64, s64, a < b ? a : b)

#endif

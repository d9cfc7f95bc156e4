/* SPDX-License-Identifier: 0BSD
 *
 * MAXIMUM of integers: the larger of two numbers, or of two codes, whatever their scales.
 */
#ifndef CG_MAXIMUM_H
#define CG_MAXIMUM_H

#include "cg_broadcast.h"

CG_BINARY(cg_maximum_s8, cg_binary_args, s8, s8, a > b ? a : b)
CG_BINARY(cg_maximum_u8, cg_binary_args, u8, u8, a > b ? a : b)
CG_BINARY(cg_maximum_s16, cg_binary_args, s16, s16, a > b ? a : b)
CG_BINARY(cg_maximum_s32, cg_binary_args, s32, s32, a > b ? a : b)
CG_BINARY(cg_maximum_s64, cg_binary_args, s64, s64, a > b ? a : b)

#endif

/* SPDX-License-Identifier: 0BSD
 *
 * RIGHT_SHIFT, which repeats the sign and moves by at most all bits but one, and BITWISE_XOR.
 */
#ifndef CG_BITS_H
#define CG_BITS_H

#include "cg_broadcast.h"

CG_BINARY(cg_right_shift_s8, cg_binary_args, s8, s8, (cg_s8)(a >> cg_clamp(b, 0, 7)))
CG_BINARY(cg_right_shift_u8, cg_binary_args, u8, u8, (cg_u8)(a >> cg_min(b, 7)))
CG_BINARY(cg_right_shift_s16, cg_binary_args, s16, s16, (cg_s16)(a >> cg_clamp(b, 0, 15)))
CG_BINARY(cg_right_shift_u16, cg_binary_args, u16, u16, (cg_u16)(a >> cg_min(b, 15)))
CG_BINARY(cg_right_shift_s32, cg_binary_args, s32, s32, a >> cg_clamp(b, 0, 31))
CG_BINARY(cg_right_shift_u32, cg_binary_args, u32, u32, a >> (b < 31u ? b : 31u))

CG_BINARY(cg_bitwise_xor_8, cg_binary_args, u8, u8, (cg_u8)(a ^ b))
CG_BINARY(cg_bitwise_xor_16, cg_binary_args, u16, u16, (cg_u16)(a ^ b))
CG_BINARY(cg_bitwise_xor_32, cg_binary_args, u32, u32, a ^ b)

#endif

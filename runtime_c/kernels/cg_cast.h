/* SPDX-License-Identifier: 0BSD
 *
 * CAST between numbers. Narrower integers keep the lower bits, so that kernels to 8, 16 and 32 bits
 * serve both signs and are called after the unsigned one. Floats are cut off behind the point and
 * saturate; no number becomes the largest one. To half floats every way leads over float.
 */
#ifndef CG_CAST_H
#define CG_CAST_H

#include "cg_half.h"
#include "cg_unary.h"

#define CG_CAST(from, to) CG_UNARY(cg_cast_##from##_##to, from, to, (cg_##to)v)
#define CG_CAST_TO_BOOL(from) CG_UNARY(cg_cast_##from##_b8, from, b8, (cg_b8)(v != 0))
/* A number cut off behind the point, of type cg_<to>. */
#define CG_CUT(from, to, low, high, lowest, highest)                                          \
    CG_KERNEL cg_##to cg_cut_##from##_##to(cg_##from v)                                       \
    {                                                                                         \
        return (cg_##to)(v < (cg_##from)(high) ? v > (cg_##from)(low) ? (cg_##to)v : (lowest) \
                                               : (highest));                           \
    }

#define CG_CAST_FROM_FLOATS(to, low, high, lowest, highest)                                   \
    CG_CUT(f32, to, low, high, lowest, highest)                                               \
    CG_CUT(f64, to, low, high, lowest, highest)                                               \
    CG_UNARY(cg_cast_f16_##to, f16, to, cg_cut_f32_##to(cg_half_to_f32(v)))                   \
    CG_UNARY(cg_cast_f32_##to, f32, to, cg_cut_f32_##to(v))                                   \
    CG_UNARY(cg_cast_f64_##to, f64, to, cg_cut_f64_##to(v))

#define CG_CAST_TO_HALF(from) CG_UNARY(cg_cast_##from##_f16, from, f16, cg_half_of_f32((float)v))

#define CG_CAST_TO_OTHERS(from) \
    CG_CAST_TO_HALF(from)       \
    CG_CAST(from, f32)          \
    CG_CAST(from, f64)          \
    CG_CAST_TO_BOOL(from)

#define CG_CAST_FROM_8(from) \
    CG_CAST(from, u16)       \
    CG_CAST(from, u32)       \
    CG_CAST(from, s64)       \
    CG_CAST_TO_OTHERS(from)

#define CG_CAST_FROM_16(from) \
    CG_CAST(from, u8)         \
    CG_CAST(from, u32)        \
    CG_CAST(from, s64)        \
    CG_CAST_TO_OTHERS(from)

#define CG_CAST_FROM_32(from) \
    CG_CAST(from, u8)         \
    CG_CAST(from, u16)        \
    CG_CAST(from, s64)        \
    CG_CAST_TO_OTHERS(from)

CG_CAST_FROM_8(s8)
CG_CAST_FROM_8(u8)
CG_CAST_FROM_16(s16)
CG_CAST_FROM_16(u16)
CG_CAST_FROM_32(s32)
CG_CAST_FROM_32(u32)

CG_CAST(s64, u8)
CG_CAST(s64, u16)
CG_CAST(s64, u32)
CG_CAST_TO_OTHERS(s64)

CG_CAST_FROM_FLOATS(s8, -128.0f, 127.0f, INT8_MIN, INT8_MAX)
CG_CAST_FROM_FLOATS(u8, -1.0f, 255.0f, 0, UINT8_MAX)
CG_CAST_FROM_FLOATS(s16, -32768.0f, 32767.0f, INT16_MIN, INT16_MAX)
CG_CAST_FROM_FLOATS(u16, -1.0f, 65535.0f, 0, UINT16_MAX)
CG_CAST_FROM_FLOATS(s32, -2147483648.0f, 2147483648.0f, INT32_MIN, INT32_MAX)
CG_CAST_FROM_FLOATS(u32, -1.0f, 4294967296.0f, 0, UINT32_MAX)
CG_CAST_FROM_FLOATS(s64, -9223372036854775808.0f, 9223372036854775808.0f, INT64_MIN, INT64_MAX)

CG_UNARY(cg_cast_f16_f32, f16, f32, cg_half_to_f32(v))
CG_UNARY(cg_cast_f16_f64, f16, f64, (double)cg_half_to_f32(v))
CG_UNARY(cg_cast_f16_b8, f16, b8, (cg_b8)((v & 0x7fff) != 0))
CG_CAST_TO_HALF(f32)
CG_CAST(f32, f64)
CG_CAST_TO_BOOL(f32)
CG_CAST_TO_HALF(f64)
CG_CAST(f64, f32)
CG_CAST_TO_BOOL(f64)

#endif

/* SPDX-License-Identifier: 0BSD
 *
 * CAST between numbers. Narrower integers keep the lower bits, so that kernels to 8, 16 and 32 bits
 * serve both signs and are called after the unsigned one. Floats are cut off behind the point and
 * saturate; no number becomes the largest one.
 */
#ifndef CG_CAST_H
#define CG_CAST_H

#include "cg_unary.h"

#define CG_CAST(from, to) CG_UNARY(cg_cast_##from##_##to, from, to, (cg_##to)v)
#define CG_CAST_TO_BOOL(from) CG_UNARY(cg_cast_##from##_b8, from, b8, (cg_b8)(v != 0))
#define CG_CAST_FROM_FLOAT(to, low, high, lowest, highest)                        \
    CG_UNARY(cg_cast_f32_##to, f32, to, (cg_##to)(v < (high) ? v > (low) ? (cg_##to)v : (lowest) \
                                                             : (highest)))

#define CG_CAST_TO_OTHERS(from) \
    CG_CAST(from, f32)          \
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

CG_CAST_FROM_FLOAT(s8, -128.0f, 127.0f, INT8_MIN, INT8_MAX)
CG_CAST_FROM_FLOAT(u8, -1.0f, 255.0f, 0, UINT8_MAX)
CG_CAST_FROM_FLOAT(s16, -32768.0f, 32767.0f, INT16_MIN, INT16_MAX)
CG_CAST_FROM_FLOAT(u16, -1.0f, 65535.0f, 0, UINT16_MAX)
CG_CAST_FROM_FLOAT(s32, -2147483648.0f, 2147483648.0f, INT32_MIN, INT32_MAX)
CG_CAST_FROM_FLOAT(u32, -1.0f, 4294967296.0f, 0, UINT32_MAX)
CG_CAST_FROM_FLOAT(s64, -9223372036854775808.0f, 9223372036854775808.0f, INT64_MIN, INT64_MAX)
CG_CAST_TO_BOOL(f32)

#endif

/* SPDX-License-Identifier: 0BSD
 *
 * Elements of maps, by the suffix of the kernels that work on them. Maps lie in arenas of bytes, which
 * C allows to be read and written as another type only where the compiler is told so. Compilers without
 * this attribute see each layer as a function of its own, whose maps have one type throughout.
 */
#ifndef CG_ELEMENT_H
#define CG_ELEMENT_H

#include "cg_view.h"

#if defined(__GNUC__) || defined(__clang__)
#define CG_MAY_ALIAS __attribute__((may_alias))
#else
#define CG_MAY_ALIAS
#endif

typedef int8_t cg_s8;
typedef uint8_t cg_u8;
typedef uint8_t cg_b8;                /* 0 or 1 */
typedef int16_t CG_MAY_ALIAS cg_s16;
typedef uint16_t CG_MAY_ALIAS cg_u16;
typedef int32_t CG_MAY_ALIAS cg_s32;
typedef uint32_t CG_MAY_ALIAS cg_u32;
typedef int64_t CG_MAY_ALIAS cg_s64;
typedef uint64_t CG_MAY_ALIAS cg_u64;
typedef uint16_t CG_MAY_ALIAS cg_f16; /* its bits: see cg_half.h */
typedef float CG_MAY_ALIAS cg_f32;
typedef double CG_MAY_ALIAS cg_f64;

#endif

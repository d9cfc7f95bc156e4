/* SPDX-License-Identifier: 0BSD
 *
 * Quantised elements of several types, for what one piece of code computes on all of them. The type is
 * a constant of the kernel, so that one case remains of each switch.
 */
#ifndef CG_CODE_H
#define CG_CODE_H

#include "cg_element.h"

typedef enum { CG_TYPE_S8, CG_TYPE_U8, CG_TYPE_S16 } cg_type;

/* Element i at p. */
CG_KERNEL int32_t cg_code(const void *p, int32_t i, cg_type type)
{
    switch (type) {
    case CG_TYPE_U8:
        return ((const cg_u8 *)p)[i];
    case CG_TYPE_S16:
        return ((const cg_s16 *)p)[i];
    default:
        return ((const cg_s8 *)p)[i];
    }
}

/* Makes v, which the type holds, element i at p. */
CG_KERNEL void cg_set_code(void *p, int32_t i, int32_t v, cg_type type)
{
    switch (type) {
    case CG_TYPE_U8:
        ((cg_u8 *)p)[i] = (uint8_t)v;
        break;
    case CG_TYPE_S16:
        ((cg_s16 *)p)[i] = (int16_t)v;
        break;
    default:
        ((cg_s8 *)p)[i] = (int8_t)v;
        break;
    }
}

#endif

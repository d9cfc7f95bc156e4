/* SPDX-License-Identifier: 0BSD
 *
 * Functions of one 8-bit variable for Helium: sixteen look-ups at a time.
 */
#ifndef CG_LOOKUP_MVE_H
#define CG_LOOKUP_MVE_H

#include "cg_lookup.h"
#include "cg_mve.h"

CG_KERNEL void cg_lookup_mve_8(const cg_lookup_args *a, const cg_src *x, const cg_dst *y,
                               const cg_range *r)
{
#if CG_MVE
    for (int32_t row = r->y0; row < r->y1; row++) {
        for (int32_t col = r->x0; col < r->x1; col++) {
            const uint8_t *in = (const uint8_t *)cg_at(x, row, col);
            uint8_t *out = (uint8_t *)cg_put(y, row, col);
            for (int32_t c = r->c0; c < r->c1; c += 16) {
                const mve_pred16_t p = vctp8q((uint32_t)(r->c1 - c));
                vstrbq_p_u8(out + c, vldrbq_gather_offset_u8(a->table, vldrbq_z_u8(in + c, p)), p);
            }
        }
    }
#else
    cg_lookup_8(a, x, y, r);
#endif
}

#endif

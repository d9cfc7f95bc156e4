/* SPDX-License-Identifier: 0BSD
 *
 * Hybrid operators: data are float, weights int8. At run time the data are quantised to int8 with a
 * scale that fits them, products are summed up in integers, and the sums become float again.
 */
#ifndef CG_HYBRID_H
#define CG_HYBRID_H

#include "cg_float.h"

#include <float.h>

typedef struct {
    float smallest, largest;
} cg_extent;

typedef struct {
    float scale;                      /* real value = scale * (code - zero_point) */
    float inverse;
    int32_t zero_point;
} cg_codes;

/* The values of `count` elements lie in it, and 0 does. */
CG_KERNEL cg_extent cg_extended(cg_extent e, const cg_f32 *x, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        e.smallest = x[i] < e.smallest ? x[i] : e.smallest;
        e.largest = e.largest < x[i] ? x[i] : e.largest;
    }
    return e;
}

/* Codes from -127 to 127, 0 for 0. */
CG_KERNEL cg_codes cg_symmetric_codes(cg_extent e)
{
    const float range = -e.smallest > e.largest ? -e.smallest : e.largest;
    const cg_codes none = {1.0f, 0.0f, 0};
    const cg_codes codes = {range / 127.0f, 127.0f / range, 0};
    return range > 0.0f && range <= FLT_MAX ? codes : none;
}

/* Codes from -128 to 127. The zero point is taken from the end of the range that gives it more
 * exactly. */
CG_KERNEL cg_codes cg_asymmetric_codes(cg_extent e)
{
    const cg_codes none = {0.0f, 0.0f, 0};
    const double scale = (double)(e.largest - e.smallest) / 255.0;
    if (!(scale > 0.0 && scale < (double)FLT_MAX)) {
        return none;
    }
    const double below = (double)e.smallest / scale;
    const double above = (double)e.largest / scale;
    const double zero = 128.0 - below < 127.0 + above ? -128.0 - below : 127.0 - above;
    const int32_t rounded = (int32_t)(zero < 0.0 ? zero - 0.5 : zero + 0.5);
    const float narrow = (float)scale;
    const cg_codes codes = {narrow, 1.0f / narrow, cg_clamp(rounded, -128, 127)};
    return codes;
}

/* The codes of `count` elements, none below `low`. */
CG_KERNEL void cg_encode(const cg_codes *k, int32_t low, const cg_f32 *x, int8_t *codes,
                         int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        const int32_t v = k->zero_point + cg_round_f32(x[i] * k->inverse);
        codes[i] = (int8_t)cg_clamp(v, low, 127);
    }
}

/* Quantises one vector. */
CG_KERNEL cg_codes cg_encode_vector(const cg_f32 *x, int32_t count, int32_t asymmetric,
                                    int8_t *codes)
{
    const cg_extent zero = {0.0f, 0.0f};
    const cg_extent e = cg_extended(zero, x, count);
    const cg_codes k = asymmetric != 0 ? cg_asymmetric_codes(e) : cg_symmetric_codes(e);
    cg_encode(&k, asymmetric != 0 ? -128 : -127, x, codes, count);
    return k;
}

/* Quantises a whole map; its codes lie densely, row by row. */
CG_KERNEL cg_codes cg_encode_map(const cg_src *x, int32_t height, int32_t width, int32_t channels,
                                 int asymmetric, int8_t *codes)
{
    cg_extent e = {0.0f, 0.0f};
    for (int32_t row = 0; row < height; row++) {
        for (int32_t col = 0; col < width; col++) {
            e = cg_extended(e, (const cg_f32 *)cg_at(x, row, col), channels);
        }
    }
    const cg_codes k = asymmetric ? cg_asymmetric_codes(e) : cg_symmetric_codes(e);
    for (int32_t row = 0; row < height; row++) {
        for (int32_t col = 0; col < width; col++) {
            const cg_f32 *in = (const cg_f32 *)cg_at(x, row, col);
            cg_encode(&k, asymmetric ? -128 : -127, in, codes, channels);
            codes += channels;
        }
    }
    return k;
}

#endif

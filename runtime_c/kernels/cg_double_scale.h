/* SPDX-License-Identifier: 0BSD
 *
 * round(acc * M) for a double M, halves away from zero, in integers: what a double multiplication
 * followed by C's round() gives, to the last bit, without floating point.
 *
 * M = (high * 2^21 + low) * 2^(-shift - 21) with high < 2^32, low < 2^21: a double's 53 bits.
 */
#ifndef CG_DOUBLE_SCALE_H
#define CG_DOUBLE_SCALE_H

#include "cg_view.h"

/* |acc * M| has to stay below 2^31; shift is in [1, 63].
 *
 * The product is top * 2^21 + rest, of up to 84 bits. As a double it keeps 53 of them, which matters
 * only just below a tie: within half a last place it rounds up to the tie, and from there up to the
 * next integer. Adding that half a place does the same. It is rare, so tops that are far from
 * a tie skip it. */
CG_KERNEL int32_t cg_scale_double(int32_t acc, uint32_t high, uint32_t low, int32_t shift)
{
    const uint32_t magnitude = acc < 0 ? 0u - (uint32_t)acc : (uint32_t)acc;
    const uint64_t lower = (uint64_t)magnitude * low;
    const uint64_t top = (uint64_t)magnitude * high + (lower >> 21);
    if (shift > 32) {
        /* Factors below 1/2, the usual ones: the upper word alone is shifted. */
        const uint64_t raised = top + ((uint64_t)((uint32_t)1 << (shift - 33)) << 32);
        const uint32_t word = (uint32_t)(raised >> 32) >> (shift - 32);
        if (word == (uint32_t)((raised + 1024u) >> 32) >> (shift - 32)) {
            return acc < 0 ? -(int32_t)word : (int32_t)word;
        }
    }
    const uint64_t biased = top + ((uint64_t)1 << (shift - 1));
    uint64_t value = biased >> shift;
    if (value != (biased + 1024u) >> shift) {
        int32_t lost = 0;
        while ((top >> lost) > UINT32_MAX) {
            lost++;
        }
        const uint32_t rest = (uint32_t)lower & 0x1fffffu;
        const uint32_t half_place = lost > 0 ? (uint32_t)1 << (lost - 1) : 0u;
        value = (biased + ((rest + half_place) >> 21)) >> shift;
    }
    return acc < 0 ? -(int32_t)value : (int32_t)value;
}

#endif

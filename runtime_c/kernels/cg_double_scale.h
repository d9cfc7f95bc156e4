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

/* The product top * 2^21 + rest as a double holds it: its first 53 bits, rounded to nearest, ties
 * to even. Products of 53 bits or fewer are exact. */
CG_KERNEL uint64_t cg_as_double(uint64_t top, uint32_t rest)
{
    int32_t drop = 0;
    while ((top >> drop) > UINT32_MAX) {
        drop++;
    }
    if (drop == 0) {
        return top;
    }
    const uint64_t half = (uint64_t)1 << (drop - 1);
    const uint64_t cut = top & (2u * half - 1u);
    const uint64_t kept = top >> drop;
    const int up = cut > half || (cut == half && (rest != 0 || (kept & 1u) != 0));
    return (kept + (up ? 1u : 0u)) << drop;
}

/* |acc * M| has to stay below 2^31; shift is in [1, 63]. */
CG_KERNEL int32_t cg_scale_double(int32_t acc, uint32_t high, uint32_t low, int32_t shift)
{
    const uint32_t magnitude = acc < 0 ? 0u - (uint32_t)acc : (uint32_t)acc;
    const uint64_t lower = (uint64_t)magnitude * low;
    uint64_t top = (uint64_t)magnitude * high + (lower >> 21);
    const uint64_t half = (uint64_t)1 << (shift - 1);
    uint64_t value = (top + half) >> shift;
    /* A product just below a tie may round up to it; a double's last place is below 2^31 here. */
    if (value != (top + half + ((uint64_t)1 << 31)) >> shift) {
        top = cg_as_double(top, (uint32_t)lower & 0x1fffffu);
        value = (top + half) >> shift;
    }
    return acc < 0 ? -(int32_t)value : (int32_t)value;
}

#endif

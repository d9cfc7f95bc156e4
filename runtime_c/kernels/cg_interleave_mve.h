/* SPDX-License-Identifier: 0BSD
 *
 * Interleaving of four runs of bytes, for Helium.
 */
#ifndef CG_INTERLEAVE_MVE_H
#define CG_INTERLEAVE_MVE_H

#include "cg_mve.h"

#if CG_MVE

/* Sixteen bytes from each of four places, or the first n and zeros, one by one. GCC 12 would move the
 * vectors through memory. */
CG_KERNEL void cg_interleave_4(const int8_t *p0, const int8_t *p1, const int8_t *p2,
                                             const int8_t *p3, int32_t n, int8_t *to)
{
#define CG_STORE_4                                                                    \
    "vst40.8 {q0, q1, q2, q3}, [%[to]]\n\tvst41.8 {q0, q1, q2, q3}, [%[to]]\n\t"      \
    "vst42.8 {q0, q1, q2, q3}, [%[to]]\n\tvst43.8 {q0, q1, q2, q3}, [%[to]]"
    if (__builtin_constant_p(n) && n == 16) {
        __asm__ volatile("vldrb.u8 q0, [%[p0]]\n\tvldrb.u8 q1, [%[p1]]\n\t"
                         "vldrb.u8 q2, [%[p2]]\n\tvldrb.u8 q3, [%[p3]]\n\t" CG_STORE_4
                         :: [p0] "r"(p0), [p1] "r"(p1), [p2] "r"(p2), [p3] "r"(p3), [to] "r"(to)
                         : "q0", "q1", "q2", "q3", "memory");
    } else {
        __asm__ volatile("vctp.8 %[n]\n\tvpstttt\n\tvldrbt.u8 q0, [%[p0]]\n\tvldrbt.u8 q1, [%[p1]]\n\t"
                         "vldrbt.u8 q2, [%[p2]]\n\tvldrbt.u8 q3, [%[p3]]\n\t" CG_STORE_4
                         :: [p0] "r"(p0), [p1] "r"(p1), [p2] "r"(p2), [p3] "r"(p3), [to] "r"(to), [n] "r"(n)
                         : "q0", "q1", "q2", "q3", "p0", "memory");
    }
#undef CG_STORE_4
}

#endif
#endif

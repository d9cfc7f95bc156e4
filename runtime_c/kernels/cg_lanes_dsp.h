/* SPDX-License-Identifier: 0BSD
 *
 * Four int8 channels at a time, one word, for cores with the DSP extension: maxima and sums over a
 * window of pixels. Every function is also there in plain C and gives the same.
 */
#ifndef CG_LANES_DSP_H
#define CG_LANES_DSP_H

#include <string.h>

#include "cg_dsp.h"

/* Four codes, in the order of memory. */
CG_KERNEL uint32_t cg_load4(const int8_t *p)
{
    uint32_t word;
    memcpy(&word, p, sizeof word);
    return word;
}

/* The larger code of every channel. */
CG_KERNEL uint32_t cg_max4(uint32_t a, uint32_t b)
{
#ifdef CG_DSP_ASM
    uint32_t larger;
    __asm__("ssub8 %0, %1, %2\n\tsel %0, %1, %2" : "=&r"(larger) : "r"(a), "r"(b) : "cc");
    return larger;
#else
    int8_t x[4], y[4];
    memcpy(x, &a, sizeof x);
    memcpy(y, &b, sizeof y);
    for (int32_t i = 0; i < 4; i++) {
        x[i] = x[i] > y[i] ? x[i] : y[i];
    }
    memcpy(&a, x, sizeof x);
    return a;
#endif
}

/* Sums of 16 bits: channels 0 and 2, and channels 1 and 3. */
typedef struct {
    uint32_t even, odd;
} cg_sums4;

/* Adds to both halves of a word. */
CG_KERNEL uint32_t cg_add_pair(uint32_t pair, int32_t low, int32_t high)
{
    return ((pair + (uint32_t)low) & 0xffffu) | ((pair & 0xffff0000u) + ((uint32_t)high << 16));
}

/* Adds four codes. */
CG_KERNEL cg_sums4 cg_add4(cg_sums4 sums, uint32_t word)
{
#ifdef CG_DSP_ASM
    __asm__("sxtab16 %0, %0, %1" : "+r"(sums.even) : "r"(word));
    __asm__("sxtab16 %0, %0, %1, ror #8" : "+r"(sums.odd) : "r"(word));
#else
    int8_t x[4];
    memcpy(x, &word, sizeof x);
    sums.even = cg_add_pair(sums.even, x[0], x[2]);
    sums.odd = cg_add_pair(sums.odd, x[1], x[3]);
#endif
    return sums;
}

/* Adds the sums of four channels from p on over `rows` x `columns` pixels, at most 256 in a row. */
CG_KERNEL void cg_window_sum4(int32_t *total, const cg_src *x, const cg_range *w, int32_t c)
{
    for (int32_t i = 0; i < 4; i++) {
        total[i] = 0;
    }
    for (int32_t iy = w->y0; iy < w->y1; iy++) {
        const int8_t *p = (const int8_t *)cg_at(x, iy, w->x0) + c;
        cg_sums4 sums = { 0, 0 };
        for (int32_t ix = w->x0; ix < w->x1; ix++, p += x->pixel) {
            sums = cg_add4(sums, cg_load4(p));
        }
        total[0] += (int16_t)sums.even;
        total[1] += (int16_t)sums.odd;
        total[2] += (int16_t)(sums.even >> 16);
        total[3] += (int16_t)(sums.odd >> 16);
    }
}

#endif

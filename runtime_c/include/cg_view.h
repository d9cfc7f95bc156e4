/* SPDX-License-Identifier: 0BSD
 *
 * Views: how every kernel sees its maps.
 *
 * A map is height x width pixels of some channels. Row r, column c of it lies at
 *     base + ((r - row0) mod ring) * row + (c - col0) * pixel
 * with strides in bytes. ring = 0 means that the whole map is stored and rows never wrap.
 * A kernel computes a range of its output: rows [y0, y1), columns [x0, x1), channels [c0, c1).
 */
#ifndef CG_VIEW_H
#define CG_VIEW_H

#include <stddef.h>
#include <stdint.h>

/* GCC 12 takes calls of some functions that write static arrays for dead and drops them (it
 * happens where stores are strided); noipa keeps it from looking into them from outside. */
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 8
#define CG_ALWAYS_INLINE inline __attribute__((always_inline))
#define CG_NOINLINE __attribute__((noipa))
#elif defined(__GNUC__) || defined(__clang__)
#define CG_ALWAYS_INLINE inline __attribute__((always_inline))
#define CG_NOINLINE __attribute__((noinline))
#else
#define CG_ALWAYS_INLINE inline
#define CG_NOINLINE
#endif

/* Kernels are specialised per layer: their arguments are constants, which fold once inlined. */
#define CG_KERNEL static CG_ALWAYS_INLINE

typedef struct {
    const void *base;
    int32_t row;
    int32_t pixel;
    int32_t ring;
    int32_t row0;
    int32_t col0;
} cg_src;

typedef struct {
    void *base;
    int32_t row;
    int32_t pixel;
    int32_t ring;
    int32_t row0;
    int32_t col0;
} cg_dst;

typedef struct {
    int32_t y0, y1;
    int32_t x0, x1;
    int32_t c0, c1;
} cg_range;

/* A call that makes the whole of one map from the whole of another: strides, and the output's size. */
typedef struct {
    int32_t x_row, x_pixel;
    int32_t y_row, y_pixel;
    int32_t height, width, channels;
} cg_plain;

/* The first channel of pixel (r, c) of an input. */
CG_KERNEL const void *cg_at(const cg_src *v, int32_t r, int32_t c)
{
    const int32_t line = v->ring != 0 ? (r - v->row0) % v->ring : r - v->row0;
    return (const uint8_t *)v->base + (ptrdiff_t)line * v->row + (ptrdiff_t)(c - v->col0) * v->pixel;
}

/* The first channel of pixel (r, c) of an output. */
CG_KERNEL void *cg_put(const cg_dst *v, int32_t r, int32_t c)
{
    const int32_t line = v->ring != 0 ? (r - v->row0) % v->ring : r - v->row0;
    return (uint8_t *)v->base + (ptrdiff_t)line * v->row + (ptrdiff_t)(c - v->col0) * v->pixel;
}

CG_KERNEL int32_t cg_min(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

CG_KERNEL int32_t cg_max(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

CG_KERNEL int32_t cg_clamp(int32_t v, int32_t low, int32_t high)
{
    return cg_max(low, cg_min(v, high));
}

#endif

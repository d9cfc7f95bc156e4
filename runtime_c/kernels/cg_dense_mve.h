/* SPDX-License-Identifier: 0BSD
 *
 * Dot products of packed weights, int8, for Helium.
 *
 * Packed weights are a stream of blocks of four out channels, in words:
 *
 *     4 x int32   bias, into which the input's zero point is folded
 *     4 x 16      weights of inputs 0..15, one channel after the other
 *     4 x 16      weights of inputs 16..31
 *     ...
 *     4 x rest    weights of the last depth % 16 inputs
 *
 * The table ends with the few bytes that the last vector reads in vain. Beside it lies the table of
 * scales: 4 multipliers, then 4 shifts (negative: to the right) for every block, or once for all.
 *
 * VMLADAVA adds sixteen products to one even core register. Eight of those registers are free, so
 * a block of sums is eight wide: two pixels by four channels, or one pixel by eight. Compilers run
 * short of even registers there, which is why blocks are written in assembly. Five pointers lie in odd
 * registers, all but r7, which may be a frame pointer.
 */
#ifndef CG_DENSE_MVE_H
#define CG_DENSE_MVE_H

#include "cg_mve.h"

/* Words of packed weights per block of four channels. */
CG_KERNEL int32_t cg_dense_block(const cg_mve_layer *l)
{
    return 4 + l->depth;
}

/* Channel c of one pixel in plain C. */
CG_KERNEL int8_t cg_dense_one(const cg_mve_layer *l, const int8_t *x, int32_t c)
{
    const int32_t *block = l->weights + c / 4 * cg_dense_block(l);
    const int32_t *scales = cg_mve_scales(l, c);
    const int8_t *w = (const int8_t *)(block + 4);
    int32_t sum = 0;
    for (int32_t k = 0; k < l->depth; k++) {
        const int32_t first = k - k % 16;
        const int32_t width = cg_min(l->depth - first, 16);
        sum += x[k] * w[first * 4 + c % 4 * width + k % 16];
    }
    return cg_mve_code(l, cg_add32(block[c % 4], sum), scales[c % 4], scales[4 + c % 4]);
}

#if CG_MVE && defined(CG_OPTIMIZE_SIZE)

/* Four channels of one pixel, for layers of any constants. */
CG_KERNEL int32x4_t cg_dense_small_4(const int8_t *x, const int32_t *block, int32_t depth)
{
    int32_t s0 = block[0], s1 = block[1], s2 = block[2], s3 = block[3];
    const int8_t *w = (const int8_t *)(block + 4);
    for (const int8_t *end = x + (depth & ~15); x != end; x += 16, w += 64) {
        const int8x16_t v = vldrbq_s8(x);
        s0 = vmladavaq_s8(s0, v, vldrbq_s8(w));
        s1 = vmladavaq_s8(s1, v, vldrbq_s8(w + 16));
        s2 = vmladavaq_s8(s2, v, vldrbq_s8(w + 32));
        s3 = vmladavaq_s8(s3, v, vldrbq_s8(w + 48));
    }
    const int32_t rest = depth & 15;
    if (rest > 0) {
        const int8x16_t v = vldrbq_z_s8(x, vctp8q((uint32_t)rest));
        s0 = vmladavaq_s8(s0, v, vldrbq_s8(w));
        s1 = vmladavaq_s8(s1, v, vldrbq_s8(w + rest));
        s2 = vmladavaq_s8(s2, v, vldrbq_s8(w + 2 * rest));
        s3 = vmladavaq_s8(s3, v, vldrbq_s8(w + 3 * rest));
    }
    const int32x4_t sums = { s0, s1, s2, s3 };
    return sums;
}

/* Channels [r->c0, r->c1) of one pixel. All layers share it. */
__attribute__((unused)) static CG_NOINLINE void cg_dense_small(const cg_mve_layer *l, const cg_range *r,
                                                               const int8_t *x, int8_t *out)
{
    const int32_t *block = l->weights + r->c0 / 4 * cg_dense_block(l);
    for (int32_t c = r->c0; c < r->c1; c += 4) {
        cg_mve_put_4(l, cg_dense_small_4(x, block, l->depth), cg_mve_scales(l, c), out + c, r->c1 - c);
        block += cg_dense_block(l);
    }
}

#elif CG_MVE

/* Sixteen inputs of two pixels, in X and Y, times four weight vectors STEP bytes apart. */
#define CG_DENSE_STEP_2X4(X, Y, STEP)                                                 \
    "vldrb.u8 %q[t], [%[w]], #" STEP "\n\tvmladava.s8 r0, " X ", %q[t]\n\t"           \
    "vmladava.s8 r8, " Y ", %q[t]\n\t"                                                \
    "vldrb.u8 %q[t], [%[w]], #" STEP "\n\tvmladava.s8 r2, " X ", %q[t]\n\t"           \
    "vmladava.s8 r10, " Y ", %q[t]\n\t"                                               \
    "vldrb.u8 %q[t], [%[w]], #" STEP "\n\tvmladava.s8 r4, " X ", %q[t]\n\t"           \
    "vmladava.s8 r12, " Y ", %q[t]\n\t"                                               \
    "vldrb.u8 %q[t], [%[w]], #" STEP "\n\tvmladava.s8 r6, " X ", %q[t]\n\t"           \
    "vmladava.s8 lr, " Y ", %q[t]\n\t"
/* The same from memory; AT ends the address. */
#define CG_DENSE_LOAD_2X4(AT)                                                         \
    "vldrb.u8 %q[a], [%[x]" AT "\n\tvldrb.u8 %q[b], [%[y]" AT "\n\t"                  \
    CG_DENSE_STEP_2X4("%q[a]", "%q[b]", "16")
/* The last inputs; surplus lanes are loaded as 0. */
#define CG_DENSE_REST_2X4(AT)                                                         \
    "vpstt\n\tvldrbt.u8 %q[a], [%[x]" AT "\n\tvldrbt.u8 %q[b], [%[y]" AT "\n\t"       \
    CG_DENSE_STEP_2X4("%q[a]", "%q[b]", "%c[rest]")

/* Sixteen inputs of one pixel times four weight vectors from each of two streams. */
#define CG_DENSE_STEP_1X8(STEP)                                                       \
    "vldrb.u8 %q[b], [%[w]], #" STEP "\n\tvmladava.s8 r0, %q[a], %q[b]\n\t"           \
    "vldrb.u8 %q[t], [%[w]], #" STEP "\n\tvmladava.s8 r2, %q[a], %q[t]\n\t"           \
    "vldrb.u8 %q[b], [%[w]], #" STEP "\n\tvmladava.s8 r4, %q[a], %q[b]\n\t"           \
    "vldrb.u8 %q[t], [%[w]], #" STEP "\n\tvmladava.s8 r6, %q[a], %q[t]\n\t"           \
    "vldrb.u8 %q[b], [%[y]], #" STEP "\n\tvmladava.s8 r8, %q[a], %q[b]\n\t"           \
    "vldrb.u8 %q[t], [%[y]], #" STEP "\n\tvmladava.s8 r10, %q[a], %q[t]\n\t"          \
    "vldrb.u8 %q[b], [%[y]], #" STEP "\n\tvmladava.s8 r12, %q[a], %q[b]\n\t"          \
    "vldrb.u8 %q[t], [%[y]], #" STEP "\n\tvmladava.s8 lr, %q[a], %q[t]\n\t"
#define CG_DENSE_LOAD_1X8(AT) "vldrb.u8 %q[a], [%[x]" AT "\n\t" CG_DENSE_STEP_1X8("16")
#define CG_DENSE_REST_1X8(AT) "vpst\n\tvldrbt.u8 %q[a], [%[x]" AT "\n\t" CG_DENSE_STEP_1X8("%c[rest]")

/* All of depth: `blocks` whole vectors, `unroll` of them per turn, and the rest. The assembler leaves
 * out what is not asked for. The register of the scales counts turns in between. */
#define CG_DENSE_TURNS(LOAD, REST)                                                    \
    ".if %c[blocks] > %c[unroll]\n\tvmov.32 %q[u][0], %[s]\n\t"                       \
    "mov %[s], #%c[blocks] / %c[unroll]\n\t.endif\n"                                  \
    ".if %c[blocks] > 0\n\t1:\n\t" LOAD("], #16") ".endif\n\t"                        \
    ".if %c[unroll] > 1\n\t" LOAD("], #16") ".endif\n\t"                              \
    ".if %c[unroll] > 2\n\t" LOAD("], #16") ".endif\n\t"                              \
    ".if %c[unroll] > 3\n\t" LOAD("], #16") ".endif\n\t"                              \
    ".if %c[unroll] > 4\n\t" LOAD("], #16") ".endif\n\t"                              \
    ".if %c[unroll] > 5\n\t" LOAD("], #16") ".endif\n\t"                              \
    ".if %c[unroll] > 6\n\t" LOAD("], #16") ".endif\n\t"                              \
    ".if %c[unroll] > 7\n\t" LOAD("], #16") ".endif\n\t"                              \
    ".if %c[unroll] > 8\n\t" LOAD("], #16") ".endif\n\t"                              \
    ".if %c[blocks] > %c[unroll]\n\tsubs %[s], #1\n\tbne 1b\n\t"                      \
    "vmov.32 %[s], %q[u][0]\n\t.endif\n\t"                                            \
    ".if %c[rest] > 0\n\t" REST("]") ".endif\n\t"

/* Before the sums fill the registers: which lanes the rest has. */
#define CG_DENSE_LANES ".if %c[rest] > 0\n\tmov r0, #%c[rest]\n\tvctp.8 r0\n\t.endif\n\t"

/* Four sums in V times the multipliers in t; negative ones are corrected where that matters. */
#define CG_DENSE_MULTIPLY(V)                                                          \
    ".if %c[rounding] == 0\n\tvmulh.s32 " V ", " V ", %q[t]\n\t"                      \
    ".else\n\tvqrdmulh.s32 " V ", " V ", %q[t]\n\t.endif\n\t"
#define CG_DENSE_CORRECT(V)                                                           \
    ".if %c[rounding] == 2\n\tvshr.s32 %q[t], " V ", #31\n\t"                         \
    "vadd.i32 " V ", " V ", %q[t]\n\t.endif\n\t"
/* Eight rounded sums -> codes, the second four in the upper halves of words. */
#define CG_DENSE_NARROW                                                               \
    "vqmovnb.s32 %q[a], %q[a]\n\tvqmovnt.s32 %q[a], %q[b]\n\t"                        \
    "movw r0, #%c[zero]\n\tvqadd.s16 %q[a], %q[a], r0\n\t"                            \
    ".if %c[clamps]\n\tmovw r0, #%c[low]\n\tvdup.16 %q[t], r0\n\t"                    \
    "vmax.s16 %q[a], %q[a], %q[t]\n\tmovw r0, #%c[high]\n\tvdup.16 %q[t], r0\n\t"     \
    "vmin.s16 %q[a], %q[a], %q[t]\n\t.endif\n\t"                                      \
    "vqmovnb.s16 %q[a], %q[a]\n\tvshr.u32 %q[b], %q[a], #16\n\t"
#define CG_DENSE_SUMS                                                                 \
    "vmov %q[a][2], %q[a][0], r0, r4\n\tvmov %q[a][3], %q[a][1], r2, r6\n\t"          \
    "vmov %q[b][2], %q[b][0], r8, r12\n\tvmov %q[b][3], %q[b][1], r10, lr\n\t"

/* Four multipliers or shifts; the pointer goes on by STEP, or stays where SAME is the place for all. */
#define CG_DENSE_SCALES(STEP, SAME)                                                   \
    ".if %c[same]\n\tvldrw.u32 %q[t], [%[s], #" SAME "]\n\t"                          \
    ".else\n\tvldrw.u32 %q[t], [%[s]], #" STEP "\n\t.endif\n\t"

/* From sums in registers to codes in memory: two pixels `distance` bytes apart. */
#define CG_DENSE_FINISH_2X4                                                           \
    CG_DENSE_SUMS CG_DENSE_SCALES("16", "0")                                          \
    CG_DENSE_MULTIPLY("%q[a]") CG_DENSE_MULTIPLY("%q[b]")                             \
    CG_DENSE_CORRECT("%q[a]") CG_DENSE_CORRECT("%q[b]")                               \
    CG_DENSE_SCALES("16", "16") "vrshl.s32 %q[a], %q[a], %q[t]\n\t"                   \
    "vrshl.s32 %q[b], %q[b], %q[t]\n\t" CG_DENSE_NARROW                               \
    "vstrb.32 %q[a], [%[out]], #4\n\taddw r0, %[out], #%c[distance] - 4\n\t"          \
    "vstrb.32 %q[b], [r0]\n\t"
/* The same: eight channels of one pixel, whose scales are those of two blocks. */
#define CG_DENSE_FINISH_1X8                                                           \
    CG_DENSE_SUMS CG_DENSE_SCALES("32", "0") CG_DENSE_MULTIPLY("%q[a]")               \
    CG_DENSE_SCALES("-16", "0") CG_DENSE_MULTIPLY("%q[b]")                            \
    CG_DENSE_CORRECT("%q[a]") CG_DENSE_CORRECT("%q[b]")                               \
    CG_DENSE_SCALES("32", "16") "vrshl.s32 %q[a], %q[a], %q[t]\n\t"                   \
    CG_DENSE_SCALES("16", "16") "vrshl.s32 %q[b], %q[b], %q[t]\n\t"                   \
    CG_DENSE_NARROW "vstrb.32 %q[a], [%[out]], #4\n\tvstrb.32 %q[b], [%[out]], #4\n\t"

#define CG_DENSE_OUTPUT                                                               \
    [same] "i"(l->one_scale != 0), [rounding] "i"(l->rounding), [zero] "i"(l->output_offset & 0xffff),               \
    [clamps] "i"(l->act_min > INT8_MIN || l->act_max < INT8_MAX),                     \
    [low] "i"(l->act_min & 0xffff), [high] "i"(l->act_max & 0xffff)
#define CG_DENSE_DEPTH(MOST)                                                          \
    [blocks] "i"(l->depth / 16), [unroll] "i"(cg_dense_unroll(l->depth / 16, MOST)),  \
    [rest] "i"(l->depth % 16)

/* Vectors per turn of a loop, without a rest: at most `most`, or nine, as in a 3x3x16 window. */
CG_KERNEL int32_t cg_dense_unroll(int32_t blocks, int32_t most)
{
    return blocks <= most ? blocks : blocks % 9 == 0 ? 9 : blocks % most == 0 ? most
         : blocks % 4 == 0 ? 4 : blocks % 3 == 0 ? 3 : blocks % 2 == 0 ? 2 : 1;
}

/* The pointers' registers, which GCC does not always find by itself: W and Y read weights or inputs. */
#define CG_DENSE_POINTERS(W, X, Y)                                                    \
    register const int32_t *w __asm__("r3") = (W);                                    \
    register const int32_t *s __asm__("r1") = at->scales;                             \
    register int8_t *out __asm__("r5") = at->out;                                     \
    register const int8_t *px __asm__("r9") = (X);                                    \
    register const void *py __asm__("r11") = (Y)

/* Where a layer's blocks are read and written; every block moves them on. */
typedef struct {
    const int32_t *weights;
    const int32_t *scales;
    int8_t *out;
} cg_dense_at;

/* Up to 32 inputs of two pixels, in vectors; at depths up to CG_DENSE_NEAR, others follow in memory. */
typedef struct {
    int8x16_t x0, x1, y0, y1;
} cg_dense_kept;

enum { CG_DENSE_NEAR = 79 };

CG_KERNEL cg_dense_kept cg_dense_keep(const int8_t *x, const int8_t *y, int32_t depth)
{
    const int8x16_t x0 = cg_mve_load(x, depth), y0 = cg_mve_load(y, depth);
    if (depth <= 16) {
        return (cg_dense_kept){ x0, x0, y0, y0 };
    }
    return (cg_dense_kept){ x0, cg_mve_load(x + 16, depth - 16), y0, cg_mve_load(y + 16, depth - 16) };
}

/* Four channels of two pixels, depth up to CG_DENSE_NEAR. */
CG_KERNEL void cg_dense_near_2x4(const cg_mve_layer *l, cg_dense_at *at, const cg_dense_kept *k,
                                 const int8_t *x, const int8_t *y, int32_t distance)
{
    int32x4_t a, b, t;
    CG_DENSE_POINTERS(at->weights, x, y);
    __asm__ volatile(
        CG_DENSE_LANES "ldm %[w], {r0, r2, r4, r6}\n\tldm %[w]!, {r8, r10, r12, lr}\n\t"
        ".if %c[blocks] > 0\n\t" CG_DENSE_STEP_2X4("%q[x0]", "%q[y0]", "16")
        ".else\n\t" CG_DENSE_STEP_2X4("%q[x0]", "%q[y0]", "%c[rest]") ".endif\n\t"
        ".if %c[blocks] > 1\n\t" CG_DENSE_STEP_2X4("%q[x1]", "%q[y1]", "16")
        ".elseif %c[blocks] == 1 && %c[rest] > 0\n\t"
        CG_DENSE_STEP_2X4("%q[x1]", "%q[y1]", "%c[rest]") ".endif\n\t"
        ".if %c[blocks] > 2\n\t" CG_DENSE_LOAD_2X4(", #32]") ".endif\n\t"
        ".if %c[blocks] > 3\n\t" CG_DENSE_LOAD_2X4(", #48]") ".endif\n\t"
        ".if %c[blocks] > 1 && %c[rest] > 0\n\t"
        CG_DENSE_REST_2X4(", #16 * %c[blocks]]") ".endif\n\t"
        CG_DENSE_FINISH_2X4
        : [a] "=&w"(a), [b] "=&w"(b), [t] "=&w"(t), [w] "+r"(w), [s] "+r"(s), [out] "+r"(out)
        : [x] "r"(px), [y] "r"(py), [x0] "w"(k->x0), [x1] "w"(k->x1), [y0] "w"(k->y0), [y1] "w"(k->y1),
          [distance] "i"(distance), CG_DENSE_DEPTH(4), CG_DENSE_OUTPUT
        : CG_MVE_CLOBBERS);
    *at = (cg_dense_at){ w, s, out };
}

/* The same for any depth; `most`: see cg_dense_unroll. */
CG_KERNEL void cg_dense_far_2x4(const cg_mve_layer *l, cg_dense_at *at, const int8_t *x,
                                const int8_t *y, int32_t distance, int32_t most)
{
    int32x4_t a, b, t, u;
    CG_DENSE_POINTERS(at->weights, x, y);
    __asm__ volatile(
        CG_DENSE_LANES "ldm %[w], {r0, r2, r4, r6}\n\tldm %[w]!, {r8, r10, r12, lr}\n\t"
        CG_DENSE_TURNS(CG_DENSE_LOAD_2X4, CG_DENSE_REST_2X4) CG_DENSE_FINISH_2X4
        : [a] "=&w"(a), [b] "=&w"(b), [t] "=&w"(t), [u] "=&w"(u), [x] "+r"(px), [y] "+r"(py),
          [w] "+r"(w), [s] "+r"(s), [out] "+r"(out)
        : [distance] "i"(distance), CG_DENSE_DEPTH(most), CG_DENSE_OUTPUT
        : CG_MVE_CLOBBERS);
    *at = (cg_dense_at){ w, s, out };
}

/* Eight channels of one pixel. */
CG_KERNEL void cg_dense_1x8(const cg_mve_layer *l, cg_dense_at *at, const int8_t *x, int32_t most)
{
    int32x4_t a, b, t, u;
    CG_DENSE_POINTERS(at->weights, x, at->weights + cg_dense_block(l));
    __asm__ volatile(
        CG_DENSE_LANES "ldm %[w]!, {r0, r2, r4, r6}\n\tldm %[y]!, {r8, r10, r12, lr}\n\t"
        CG_DENSE_TURNS(CG_DENSE_LOAD_1X8, CG_DENSE_REST_1X8) CG_DENSE_FINISH_1X8
        : [a] "=&w"(a), [b] "=&w"(b), [t] "=&w"(t), [u] "=&w"(u), [x] "+r"(px), [y] "+r"(py),
          [w] "+r"(w), [s] "+r"(s), [out] "+r"(out)
        : CG_DENSE_DEPTH(most), CG_DENSE_OUTPUT
        : CG_MVE_CLOBBERS);
    *at = (cg_dense_at){ (const int32_t *)py, s, out };
}

/* Whether the assembly serves the layer: it needs to know all but the addresses. */
CG_KERNEL int32_t cg_dense_is_fast(const cg_mve_layer *l)
{
    return __builtin_constant_p(l->depth) && __builtin_constant_p(l->rounding)
        && __builtin_constant_p(l->output_offset) && __builtin_constant_p(l->act_min)
        && __builtin_constant_p(l->act_max) && __builtin_constant_p(l->one_scale)
        && l->rounding != CG_MVE_TWICE;
}

CG_KERNEL cg_dense_at cg_dense_start(const cg_mve_layer *l, int32_t c, int8_t *out)
{
    return (cg_dense_at){ l->weights + c / 4 * cg_dense_block(l), cg_mve_scales(l, c), out + c };
}

/* Up to four channels of two pixels, or of one where x and y are the same. */
CG_KERNEL void cg_dense_rest(const cg_mve_layer *l, cg_dense_at at, const int8_t *x, const int8_t *y,
                             int32_t distance, int32_t left)
{
    int8_t codes[8];
    int8_t *out = at.out;
    at.out = codes;
    if (l->depth <= CG_DENSE_NEAR) {
        const cg_dense_kept kept = cg_dense_keep(x, y, l->depth);
        cg_dense_near_2x4(l, &at, &kept, x, y, 4);
    } else {
        cg_dense_far_2x4(l, &at, x, y, 4, 2);
    }
    for (int32_t j = 0; j < left; j++) {
        out[j] = codes[j];
        out[j + distance] = codes[4 + j];
    }
}

CG_KERNEL void cg_dense_fast_pixel(const cg_mve_layer *l, const cg_range *r, const int8_t *x, int8_t *out,
                                   int32_t most)
{
    cg_dense_at at = cg_dense_start(l, r->c0, out);
    int32_t c = r->c0;
    for (; c + 8 <= r->c1; c += 8) {
        cg_dense_1x8(l, &at, x, most);
    }
    for (; c < r->c1; c += 4) {
        cg_dense_rest(l, at, x, x, 0, cg_min(r->c1 - c, 4));
        at = cg_dense_start(l, c + 4, out);
    }
}

CG_KERNEL void cg_dense_fast_pixels(const cg_mve_layer *l, const cg_range *r, const int8_t *x,
                                    const int8_t *y, int8_t *out, int32_t distance)
{
    cg_dense_at at = cg_dense_start(l, r->c0, out);
    int32_t c = r->c0;
    if (l->depth <= CG_DENSE_NEAR) {
        const cg_dense_kept kept = cg_dense_keep(x, y, l->depth);
        for (; c + 4 <= r->c1; c += 4) {
            cg_dense_near_2x4(l, &at, &kept, x, y, distance);
        }
    } else {
        for (; c + 4 <= r->c1; c += 4) {
            cg_dense_far_2x4(l, &at, x, y, distance, 8);
        }
    }
    if (c < r->c1) {
        cg_dense_rest(l, at, x, y, distance, r->c1 - c);
    }
}

#endif

/* Channels [r->c0, r->c1) of one pixel; c0 is a multiple of 4. `most`: see cg_dense_unroll. */
CG_KERNEL void cg_dense_one_pixel(const cg_mve_layer *l, const cg_range *r, const int8_t *x, int8_t *out,
                                  int32_t most)
{
#if CG_MVE && defined(CG_OPTIMIZE_SIZE)
    (void)most;
    cg_dense_small(l, r, x, out);
    return;
#elif CG_MVE
    if (cg_dense_is_fast(l)) {
        cg_dense_fast_pixel(l, r, x, out, most);
        return;
    }
#endif
    (void)most;
    for (int32_t c = r->c0; c < r->c1; c++) {
        out[c] = cg_dense_one(l, x, c);
    }
}

/* The same for two pixels, x and y, whose outputs are `distance` bytes apart. */
CG_KERNEL void cg_dense_two_pixels(const cg_mve_layer *l, const cg_range *r, const int8_t *x,
                                   const int8_t *y, int8_t *out, int32_t distance)
{
#if CG_MVE && !defined(CG_OPTIMIZE_SIZE)
    if (cg_dense_is_fast(l) && __builtin_constant_p(distance) && distance >= 4 && distance < 4096) {
        cg_dense_fast_pixels(l, r, x, y, out, distance);
        return;
    }
#endif
    cg_dense_one_pixel(l, r, x, out, 4);
    cg_dense_one_pixel(l, r, y, out + distance, 4);
}

#endif

/* SPDX-License-Identifier: 0BSD
 *
 * TFLite_Detection_PostProcess: boxes from their encodings, then the best of them that do not overlap.
 *
 * Fast: a box competes with its best score alone. Regular: each class keeps its own best boxes, and
 * the best of all classes remain. Nothing is sorted to suppress boxes: the next best one is looked
 * for among those that are left, the first of equal ones. Only the classes of one box are sorted, as
 * std::partial_sort does it in libstdc++, whose order of equal scores is the reference's.
 *
 * Scratch: corners[boxes], candidates[regular: max_detections; fast: classes], best[boxes],
 * left[boxes].
 */
#ifndef CG_DETECTION_H
#define CG_DETECTION_H

#include "cg_element.h"

#include <math.h>

typedef struct {
    float ymin, xmin, ymax, xmax;
} CG_MAY_ALIAS cg_corners;

typedef struct {
    float score;
    int32_t pick;                 /* a class; regular: box * classes + class */
} CG_MAY_ALIAS cg_candidate;

typedef struct {
    int32_t boxes, coordinates;   /* encoded values per box, the first four of which count */
    int32_t classes, columns;     /* columns: scores per box, the last `classes` of which count */
    int32_t max_detections, per_box, per_class;
    int32_t candidates;           /* that scratch has room for */
    float score_threshold, overlap_threshold;
    /* Encodings: uint8 with tables of value / scale and half the exponential, or floats. */
    const double *y_centre, *x_centre, *half_h, *half_w;
    float y_scale, x_scale, h_scale, w_scale;
    const uint8_t *anchor_codes;
    const float *anchors;
    float anchor_scale;
    int32_t anchor_zero;
    int32_t codes;                /* scores are uint8 */
    float score_scale;
    int32_t score_zero;
} cg_detection_args;

typedef struct {
    const void *encodings, *scores;
    cg_corners *corners;
    cg_candidate *candidates;
    cg_f32 *best;
    uint8_t *left;                /* whether a box is still a candidate */
    cg_f32 *boxes_out, *classes_out, *scores_out;
} cg_detection;

/* Coordinate i of the anchor of a box: y, x, h, w. */
CG_KERNEL float cg_anchor(const cg_detection_args *a, int32_t box, int32_t i)
{
    if (a->anchors != NULL) {
        return a->anchors[4 * box + i];
    }
    return (float)(a->anchor_codes[4 * box + i] - a->anchor_zero) * a->anchor_scale;
}

CG_KERNEL float cg_centre(double encoded, float size, float middle)
{
    return (float)(encoded * (double)size + (double)middle);
}

CG_KERNEL cg_corners cg_corners_of(float y, float x, float half_h, float half_w)
{
    const cg_corners box = {y - half_h, x - half_w, y + half_h, x + half_w};
    return box;
}

CG_KERNEL cg_corners cg_box_of_codes(const cg_detection_args *a, const uint8_t *code, int32_t box)
{
    const float h = cg_anchor(a, box, 2), w = cg_anchor(a, box, 3);
    return cg_corners_of(cg_centre(a->y_centre[code[0]], h, cg_anchor(a, box, 0)),
                         cg_centre(a->x_centre[code[1]], w, cg_anchor(a, box, 1)),
                         (float)(a->half_h[code[2]] * (double)h),
                         (float)(a->half_w[code[3]] * (double)w));
}

CG_KERNEL cg_corners cg_box_of_floats(const cg_detection_args *a, const cg_f32 *v, int32_t box)
{
    const float h = cg_anchor(a, box, 2), w = cg_anchor(a, box, 3);
    const double half_h = 0.5 * exp((double)v[2] / (double)a->h_scale);
    const double half_w = 0.5 * exp((double)v[3] / (double)a->w_scale);
    return cg_corners_of(
        cg_centre((double)v[0] / (double)a->y_scale, h, cg_anchor(a, box, 0)),
        cg_centre((double)v[1] / (double)a->x_scale, w, cg_anchor(a, box, 1)),
        (float)(half_h * (double)h), (float)(half_w * (double)w));
}

CG_KERNEL void cg_decode_boxes(const cg_detection_args *a, const cg_detection *d)
{
    for (int32_t box = 0; box < a->boxes; box++) {
        const ptrdiff_t first = (ptrdiff_t)box * a->coordinates;
        if (a->y_centre != NULL) {
            d->corners[box] = cg_box_of_codes(a, (const uint8_t *)d->encodings + first, box);
        } else {
            d->corners[box] = cg_box_of_floats(a, (const cg_f32 *)d->encodings + first, box);
        }
    }
}

/* The score of a box for one of the classes that count. */
CG_KERNEL float cg_class_score(const cg_detection_args *a, const cg_detection *d, int32_t box,
                               int32_t label)
{
    const ptrdiff_t i = (ptrdiff_t)box * a->columns + (a->columns - a->classes) + label;
    if (a->codes != 0) {
        return (float)(((const uint8_t *)d->scores)[i] - a->score_zero) * a->score_scale;
    }
    return ((const cg_f32 *)d->scores)[i];
}

/* With the sides of a comparison as the reference has them, which matters to what is no number. */
CG_KERNEL float cg_larger(float a, float b)
{
    return a < b ? b : a;
}

CG_KERNEL float cg_smaller(float a, float b)
{
    return b < a ? b : a;
}

/* Intersection over union. */
CG_KERNEL float cg_overlap(const cg_corners *p, const cg_corners *q)
{
    const float area_p = (p->ymax - p->ymin) * (p->xmax - p->xmin);
    const float area_q = (q->ymax - q->ymin) * (q->xmax - q->xmin);
    if (area_p <= 0.0f || area_q <= 0.0f) {
        return 0.0f;
    }
    const float h = cg_smaller(p->ymax, q->ymax) - cg_larger(p->ymin, q->ymin);
    const float w = cg_smaller(p->xmax, q->xmax) - cg_larger(p->xmin, q->xmin);
    const float both = cg_larger(h, 0.0f) * cg_larger(w, 0.0f);
    return both / (area_p + area_q - both);
}

/* What a box competes with: its score for a class, or its best one if that is negative. */
CG_KERNEL float cg_competing_score(const cg_detection_args *a, const cg_detection *d, int32_t box,
                                   int32_t label)
{
    return label < 0 ? d->best[box] : cg_class_score(a, d, box, label);
}

CG_KERNEL void cg_admit_boxes(const cg_detection_args *a, const cg_detection *d, int32_t label)
{
    for (int32_t box = 0; box < a->boxes; box++) {
        d->left[box] = cg_competing_score(a, d, box, label) >= a->score_threshold;
    }
}

/* The best box that is left, -1 if none is; it leaves with those that it overlaps. */
CG_KERNEL int32_t cg_next_box(const cg_detection_args *a, const cg_detection *d, int32_t label)
{
    int32_t best = -1;
    float most = 0.0f;
    for (int32_t box = 0; box < a->boxes; box++) {
        if (d->left[box] != 0) {
            const float score = cg_competing_score(a, d, box, label);
            if (best < 0 || score > most) {
                best = box;
                most = score;
            }
        }
    }
    if (best < 0) {
        return best;
    }
    d->left[best] = 0;
    for (int32_t box = 0; box < a->boxes; box++) {
        if (d->left[box] != 0
            && cg_overlap(&d->corners[best], &d->corners[box]) > a->overlap_threshold) {
            d->left[box] = 0;
        }
    }
    return best;
}

/* Put v into the heap of `count`, whose top is the least, in the place of element 0: the hole sinks
 * to the bottom along the lesser children, then v rises from there. */
CG_KERNEL void cg_sink(cg_candidate *heap, int32_t hole, int32_t count, cg_candidate v)
{
    const int32_t top = hole;
    int32_t child = hole;
    while (child < (count - 1) / 2) {
        child = 2 * (child + 1);
        if (heap[child].score > heap[child - 1].score) {
            child--;
        }
        heap[hole] = heap[child];
        hole = child;
    }
    if (count % 2 == 0 && child == (count - 2) / 2) {
        child = 2 * child + 1;
        heap[hole] = heap[child];
        hole = child;
    }
    while (hole > top && heap[(hole - 1) / 2].score > v.score) {
        heap[hole] = heap[(hole - 1) / 2];
        hole = (hole - 1) / 2;
    }
    heap[hole] = v;
}

/* Bring the best `wanted` of `count` candidates to the front, from the best down. */
CG_KERNEL void cg_partial_sort(cg_candidate *list, int32_t wanted, int32_t count)
{
    for (int32_t i = wanted / 2 - 1; i >= 0; i--) {
        cg_sink(list, i, wanted, list[i]);
    }
    for (int32_t i = wanted; i < count; i++) {
        if (list[i].score > list[0].score) {
            const cg_candidate v = list[i];
            list[i] = list[0];
            cg_sink(list, 0, wanted, v);
        }
    }
    for (int32_t end = wanted - 1; end > 0; end--) {
        const cg_candidate v = list[end];
        list[end] = list[0];
        cg_sink(list, 0, end, v);
    }
}

/* The same, where of one wanted candidate the first of equal ones comes to the front. */
CG_KERNEL void cg_best_first(cg_candidate *list, int32_t wanted, int32_t count)
{
    if (wanted != 1) {
        cg_partial_sort(list, wanted, count);
        return;
    }
    for (int32_t i = 1; i < count; i++) {
        if (list[i].score > list[0].score) {
            list[0] = list[i];
        }
    }
}

CG_KERNEL void cg_put_detection(const cg_detection *d, int32_t place, cg_corners box, int32_t label,
                                float score)
{
    cg_f32 *out = d->boxes_out + 4 * (ptrdiff_t)place;
    out[0] = box.ymin;
    out[1] = box.xmin;
    out[2] = box.ymax;
    out[3] = box.xmax;
    d->classes_out[place] = (float)label;
    d->scores_out[place] = score;
}

/* Nothing in the places [from, to), which the reference leaves as they were. */
CG_KERNEL void cg_put_nothing(const cg_detection *d, int32_t from, int32_t to)
{
    const cg_corners none = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int32_t place = from; place < to; place++) {
        cg_put_detection(d, place, none, 0, 0.0f);
    }
}

CG_KERNEL float cg_best_score(const cg_detection_args *a, const cg_detection *d, int32_t box)
{
    float most = cg_class_score(a, d, box, 0);
    for (int32_t label = 1; label < a->classes; label++) {
        const float score = cg_class_score(a, d, box, label);
        most = score > most ? score : most;
    }
    return most;
}

CG_KERNEL int32_t cg_detect_fast(const cg_detection_args *a, const cg_detection *d)
{
    const int32_t wanted = cg_min(a->per_box, a->classes);
    for (int32_t box = 0; box < a->boxes; box++) {
        d->best[box] = cg_best_score(a, d, box);
    }
    cg_admit_boxes(a, d, -1);
    int32_t found = 0;
    for (; found < a->max_detections; found++) {
        const int32_t box = cg_next_box(a, d, -1);
        if (box < 0) {
            break;
        }
        for (int32_t label = 0; label < a->classes; label++) {
            d->candidates[label].score = cg_class_score(a, d, box, label);
            d->candidates[label].pick = label;
        }
        cg_best_first(d->candidates, wanted, a->classes);
        const int32_t place = a->per_box * found;
        for (int32_t k = 0; k < wanted; k++) {
            const cg_candidate *c = &d->candidates[k];
            cg_put_detection(d, place + k, d->corners[box], c->pick, c->score);
        }
        cg_put_nothing(d, place + wanted, place + a->per_box);
    }
    cg_put_nothing(d, a->per_box * found, a->per_box * a->max_detections);
    return found;
}

/* Put a candidate behind those that are at least as good; how many of the best there are now. */
CG_KERNEL int32_t cg_insert(const cg_detection_args *a, cg_candidate *list, int32_t count,
                            cg_candidate v)
{
    int32_t place = cg_min(count, a->max_detections - 1);
    for (; place > 0 && v.score > list[place - 1].score; place--) {
        list[place] = list[place - 1];
    }
    list[place] = v;
    return cg_min(count + 1, a->max_detections);
}

/* The best of the candidates so far and those that a class adds; how many there are now. */
CG_KERNEL int32_t cg_add_class(const cg_detection_args *a, const cg_detection *d, int32_t label,
                               int32_t found)
{
    cg_admit_boxes(a, d, label);
    for (int32_t k = 0; k < a->per_class; k++) {
        const int32_t box = cg_next_box(a, d, label);
        if (box < 0) {
            break;
        }
        const cg_candidate v = {cg_class_score(a, d, box, label), box * a->classes + label};
        if (found == a->max_detections && d->candidates[found - 1].score >= v.score) {
            break;                /* and those that follow are no better */
        }
        found = cg_insert(a, d->candidates, found, v);
    }
    return found;
}

CG_KERNEL int32_t cg_detect_regular(const cg_detection_args *a, const cg_detection *d)
{
    int32_t found = 0;
    for (int32_t label = 0; label < a->classes; label++) {
        found = cg_add_class(a, d, label, found);
    }
    for (int32_t place = 0; place < found; place++) {
        const cg_candidate *c = &d->candidates[place];
        const int32_t box = c->pick / a->classes;
        cg_put_detection(d, place, d->corners[box], c->pick % a->classes, c->score);
    }
    cg_put_nothing(d, found, a->per_box * a->max_detections);
    return found;
}

CG_KERNEL cg_detection cg_detection_of(const cg_detection_args *a, const cg_src *x0,
                                       const cg_src *x1, const cg_dst *y0, const cg_dst *y1,
                                       const cg_dst *y2, void *scratch)
{
    cg_detection d;
    d.encodings = cg_at(x0, 0, 0);
    d.scores = cg_at(x1, 0, 0);
    d.corners = (cg_corners *)scratch;
    d.candidates = (cg_candidate *)(d.corners + a->boxes);
    d.best = (cg_f32 *)(d.candidates + a->candidates);
    d.left = (uint8_t *)(d.best + a->boxes);
    d.boxes_out = (cg_f32 *)cg_put(y0, 0, 0);
    d.classes_out = (cg_f32 *)cg_put(y1, 0, 0);
    d.scores_out = (cg_f32 *)cg_put(y2, 0, 0);
    return d;
}

CG_KERNEL void cg_detection_fast(const cg_detection_args *a, const cg_src *x0, const cg_src *x1,
                                 const cg_dst *y0, const cg_dst *y1, const cg_dst *y2,
                                 const cg_dst *y3, const cg_range *r, void *scratch)
{
    (void)r;
    const cg_detection d = cg_detection_of(a, x0, x1, y0, y1, y2, scratch);
    cg_decode_boxes(a, &d);
    *(cg_f32 *)cg_put(y3, 0, 0) = (float)cg_detect_fast(a, &d);
}

CG_KERNEL void cg_detection_regular(const cg_detection_args *a, const cg_src *x0, const cg_src *x1,
                                    const cg_dst *y0, const cg_dst *y1, const cg_dst *y2,
                                    const cg_dst *y3, const cg_range *r, void *scratch)
{
    (void)r;
    const cg_detection d = cg_detection_of(a, x0, x1, y0, y1, y2, scratch);
    cg_decode_boxes(a, &d);
    *(cg_f32 *)cg_put(y3, 0, 0) = (float)cg_detect_regular(a, &d);
}

#endif

/* SPDX-License-Identifier: 0BSD
 *
 * Codes with a scale and a zero point per column of their map.
 */
#ifndef CG_CHANNEL_CODES_H
#define CG_CHANNEL_CODES_H

#include "cg_unary.h"

typedef struct {
    const float *scale;
    const int32_t *zero_point;
} cg_channel_codes_args;

#endif

/* SPDX-License-Identifier: 0BSD
 *
 * LOGICAL_AND, LOGICAL_OR, LOGICAL_NOT: bools are 0 or 1.
 */
#ifndef CG_LOGICAL_H
#define CG_LOGICAL_H

#include "cg_broadcast.h"
#include "cg_unary.h"

CG_BINARY(cg_logical_and_b8, cg_binary_args, b8, b8, (cg_b8)(a & b))
CG_BINARY(cg_logical_or_b8, cg_binary_args, b8, b8, (cg_b8)(a | b))
CG_UNARY(cg_logical_not_b8, b8, b8, (cg_b8)(v ^ 1))

#endif

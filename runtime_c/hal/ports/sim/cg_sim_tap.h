/* SPDX-License-Identifier: 0BSD
 *
 * How a test program sees the results of commands, which may never leave the scratchpad.
 */
#ifndef CG_SIM_TAP_H
#define CG_SIM_TAP_H

#include "cg_npu.h"

/* If set, called with every command that has completed its tile; `number` counts all commands of the run. */
extern void (*cg_sim_tap)(int32_t number, const cg_npu_command *command);

#endif

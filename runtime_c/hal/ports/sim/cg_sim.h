/* SPDX-License-Identifier: 0BSD
 *
 * What a test program tells the `sim` port besides the calls of cg_hal.h. The port's constants (SIM_...) stand in
 * cg_sim_board.h, which is written from the board's profile.
 */
#ifndef CG_SIM_H
#define CG_SIM_H

#include <stdint.h>

/* One layer of a model: its name, and the cycles that its operator takes on the CPU (0: it runs on the NPU). */
typedef struct {
    const char *name;
    int64_t cpu_cycles;
} cg_sim_layer;

/* Called around every layer, with all layers of the model. The second one lets the CPU's time go by. */
void cg_sim_before_layer(const cg_sim_layer *layers, int32_t index);
void cg_sim_after_layer(const cg_sim_layer *layers, int32_t index);

#endif

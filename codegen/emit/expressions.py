"""Affine numbers as C expressions."""

from __future__ import annotations

from codegen.plan import Affine


def affine_text(value: Affine, plus: int = 0) -> str:
    """`7 + i * 64 + (j + 1) % 2 * 4096`: a constant, loop variables, and buffers in turn."""
    start = value.constant + plus
    if value.terms and not start and value.terms[0][1] > 0:
        (variable, factor), *others = value.terms
        text = variable + (f" * {factor}" if factor != 1 else "")
        value = Affine(0, tuple(others), value.cycles)
    else:
        text = str(start)
    for variable, factor in value.terms:
        sign, size = ("-" if factor < 0 else "+"), abs(factor)
        text += f" {sign} {variable}" + (f" * {size}" if size != 1 else "")
    for variable, shift, modulus, factor in value.cycles:
        turned = f"({variable} + {shift})" if shift else variable
        text += f" + {turned} % {modulus} * {factor}"
    return text

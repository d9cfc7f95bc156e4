"""The int8 operators in numpy, bit for bit as LiteRT's reference kernels (docs/numerics.md).

Codes are int64 inside, so that nothing wraps unless a formula says so. Activations are NHWC.
`Q` is an activation's quantisation.
"""

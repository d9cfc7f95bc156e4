"""codegen: plain C99 for microcontrollers from TensorFlow Lite models."""

__version__ = "0.1.0"

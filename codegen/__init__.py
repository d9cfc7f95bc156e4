"""codegen: plain C99 for microcontroller NPUs from TensorFlow Lite models."""

__version__ = "0.1.0"

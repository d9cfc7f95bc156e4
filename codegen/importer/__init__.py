"""From the bytes of a .tflite file to a checked graph."""

from codegen.importer.model import load_model, parse_model
from codegen.importer.shapes import InputShape, open_inputs

__all__ = ["InputShape", "load_model", "open_inputs", "parse_model"]

"""From the bytes of a .tflite file to a checked graph."""

from codegen.importer.model import load_model, parse_model

__all__ = ["load_model", "parse_model"]

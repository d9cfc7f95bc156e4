"""`codegen bench`: what an inference costs, on an emulated board or on this machine."""

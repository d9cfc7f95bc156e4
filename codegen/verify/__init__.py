"""Compile generated C, run it on this machine or in an emulator, and read back what it computes."""

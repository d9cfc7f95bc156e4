"""`python -m codegen`."""

from codegen.cli import main

main()

"""`python -m coder_stack.cli` is the `coder-stack` command."""

from coder_stack.cli import main

main()

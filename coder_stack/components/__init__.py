"""What the stack consists of, one ComponentResource a file."""

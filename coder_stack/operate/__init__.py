"""Looking at deployed stacks and repairing them, from outside the program (D2, D3)."""

"""Check deployed stacks for drift and repair them, from outside the Pulumi program (D2, D3)."""

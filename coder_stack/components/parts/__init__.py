"""What the components are made of."""

"""From what the engine told to what is wrong, and why. Pure."""

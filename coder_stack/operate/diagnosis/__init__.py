"""Turn the engine's events into findings with causes. Pure."""

"""The Kubernetes API server, as far as the program itself asks it."""

"""Rules for names, as pure functions. Kubernetes names only, so far."""

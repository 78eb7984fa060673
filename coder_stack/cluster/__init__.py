"""Talk to the Kubernetes API server where Pulumi's own provider cannot."""

"""Pulumi's provider protocol, the same for every object of coderd."""

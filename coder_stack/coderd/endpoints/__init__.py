"""Coderd's routes, one method each, in groups; client.py puts them together."""

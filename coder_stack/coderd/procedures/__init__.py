"""Procedures on coderd that take several requests, or must survive a lost response."""

"""Steps on coderd that take several calls, or must survive a lost answer."""

"""The pulumi command: how it is run, and its events, locks and errors."""

"""The pulumi command: running it, its events, its locks and its errors."""

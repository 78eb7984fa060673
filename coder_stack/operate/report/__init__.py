"""The report: its model, its wording, and one renderer a format."""

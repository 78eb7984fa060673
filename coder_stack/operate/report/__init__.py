"""The report: its model, its wording, and one renderer per format."""

"""What coderd decides, as functions on records: no HTTP framework, no files, time handed in."""

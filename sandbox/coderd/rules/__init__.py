"""coderd's decisions as functions of its state, without HTTP and files."""

"""`coder-stack watch`: notice in seconds, let the engine decide and repair, tell people (N1-N3).

facts.py says what should be there, suspicion.py what looks different; both are pure. The engine's
drift check alone gives the verdict, and reconcile alone repairs, in engine_look.py.
"""

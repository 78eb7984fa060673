"""Measure `coder-stack watch` on the sandbox: reaction times, what it costs at rest, endurance."""

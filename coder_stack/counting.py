"""Numbers with their nouns, for messages. Pure."""


def counted(count: int, noun: str) -> str:
    """Return `1 resource`, `2 resources`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"

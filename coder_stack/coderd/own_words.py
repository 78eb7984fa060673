"""Quote what coderd says about another server, for conditions and reports. Pure.

Such words are stack outputs: they are one short line, hold no secret, and stay the same while the
cause does. Go names the local port of each connection, which changes with every attempt.
"""

import re
from collections.abc import Iterable

LONGEST = 300
_LOCAL_PORT = re.compile(r":\d+->")
_USER = re.compile(r"(?<=://)[^/@\s]*@")
# Longer than words and uuids: a token, a key, or a hash of one.
_TOKEN = re.compile(r"\w{32,}")


def own_words(texts: Iterable[str]) -> str:
    """Return the texts as one line, shortened if it is longer than LONGEST."""
    line = "; ".join(" ".join(text.split()) for text in texts)
    line = "".join(each if each.isprintable() else "?" for each in line)
    for pattern, instead in ((_LOCAL_PORT, "->"), (_USER, ""), (_TOKEN, "[...]")):
        line = pattern.sub(instead, line)
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"

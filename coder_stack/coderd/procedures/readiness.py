"""Wait for a coderd that is still starting, with a deadline and with progress messages (CP5)."""

from collections.abc import Callable

from coder_stack.coderd.client import Coderd
from coder_stack.coderd.errors import AnswerLost, ProtocolError, Unavailable
from coder_stack.coderd.models import BuildInfo
from coder_stack.coderd.retry import Clock
from coder_stack.coderd.versions import is_version
from coder_stack.console import inform

_ATTEMPT_SECONDS = 5.0
_PAUSE_SECONDS = 1.0
_REPORT_SECONDS = 10.0


def wait_until_ready(
    coderd: Coderd,
    seconds: float,
    *,
    version: str = "",
    say: Callable[[str], None] = inform,
    clock: Clock | None = None,
) -> BuildInfo:
    """Return the build once coderd answers `/healthz` and `buildinfo`, or raise the last error.

    Errors that do not pass by waiting, such as an untrusted certificate, are raised at once. With
    `version`, wait for a coderd of that version; after the deadline return another one (V2).
    """
    time = clock or Clock()
    start = time.monotonic()
    reported = start
    while True:
        left = seconds - (time.monotonic() - start)
        try:
            build = _ask(coderd, max(1.0, min(_ATTEMPT_SECONDS, left)))
            if is_version(build.version, version) or left <= _PAUSE_SECONDS:
                break
            why = f"it answers with {build.version}, not yet with {version}."
        except (Unavailable, AnswerLost, ProtocolError) as error:
            if left <= _PAUSE_SECONDS:
                raise
            why = str(error)
        if time.monotonic() - reported >= _REPORT_SECONDS:
            reported = time.monotonic()
            say(_progress(reported - start, seconds, why))
        time.sleep(_PAUSE_SECONDS)
    if build.workspace_proxy:
        why = "a workspace proxy answered; give the URL of coderd itself."
        raise ProtocolError("ask coderd for its build", why, fault="not-coderd")
    return build


def _ask(coderd: Coderd, seconds: float) -> BuildInfo:
    attempt = coderd.with_deadline(seconds)
    attempt.healthz()
    return attempt.build_info()


def _progress(passed: float, seconds: float, why: str) -> str:
    return f"operator access: waiting for coderd, {passed:.0f} of {seconds:.0f} s: {why}"

"""Post a notice to the webhook of the config (N2).

The URL is a secret, because whoever has it can post: no message, log or error quotes it or any part
of it. Redirects are not followed, as another place must not learn what the body says.
"""

import http.client
import ssl
import urllib.request
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit

from pydantic import SecretStr

from coder_stack.coderd.connection import is_loopback
from coder_stack.coderd.tls import tls_context
from coder_stack.operate.engine.errors import OperationError
from coder_stack.operate.stack_config import StackConfig
from coder_stack.operate.watch.message import body
from coder_stack.operate.watch.transitions import Notice
from coder_stack.settings import NotifySettings

TIMEOUT_SECONDS = 10.0


class NotTakenError(Exception):
    """The webhook did not take a notice; the message does not name its URL."""


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any, **__: Any) -> None:
        """Let a redirect be the answer."""


@dataclass(frozen=True)
class Webhook:
    """Where and how to tell."""

    url: SecretStr
    settings: NotifySettings = field(default_factory=NotifySettings)
    timeout: float = TIMEOUT_SECONDS

    def __post_init__(self) -> None:
        try:
            parts = urlsplit(self.url.get_secret_value().strip())
            host, secure = parts.hostname or "", parts.scheme == "https"
        except ValueError:
            host, secure, parts = "", False, urlsplit("")
        if not host or not (secure or (parts.scheme == "http" and is_loopback(host))):
            raise OperationError(
                "The secret config `notifyUrl` must be an https URL, or http on this machine.",
                "Set the webhook's URL.",
                "pulumi config set --secret notifyUrl --stack {stack}",
            )

    @classmethod
    def of(cls, config: StackConfig) -> "Webhook | None":
        """Return the webhook of a stack's config; None without `notify` and `notifyUrl`."""
        settings = config.watching().notify
        if "notifyUrl" in config.secrets:
            return cls(config.secret("notifyUrl"), settings or NotifySettings())
        if settings is None:
            return None
        raise OperationError(
            "The config has `notify`, but no `notifyUrl`.",
            "Set the webhook's URL.",
            config.command_to_set("notifyUrl"),
        )

    def post(self, notice: Notice) -> None:
        """Send one notice; raise NotTakenError unless the answer is a success."""
        request = urllib.request.Request(  # noqa: S310  # the scheme is checked above
            self.url.get_secret_value().strip(),
            data=body(notice, self.settings, datetime.now(UTC)),
            headers={"Content-Type": "application/json", "User-Agent": "coder-stack"},
            method="POST",
        )
        host = urlsplit(request.full_url).hostname or ""
        handlers: list[urllib.request.BaseHandler] = [
            _NoRedirect(),
            urllib.request.HTTPSHandler(context=tls_context()),
        ]
        if is_loopback(host):
            handlers.append(urllib.request.ProxyHandler({}))
        try:
            with urllib.request.build_opener(*handlers).open(request, timeout=self.timeout):
                return
        except HTTPError as error:
            error.close()
            redirects = 300 <= error.code < 400
            why = (
                f"redirects ({error.code}), which is not followed"
                if redirects
                else (f"answers {error.code}")
            )
        except (URLError, http.client.HTTPException, OSError, ValueError) as error:
            why = _reason(error)
        raise NotTakenError(f"The webhook {why}.")


def _reason(error: Exception) -> str:
    cause = error.reason if isinstance(error, URLError) else error
    if isinstance(cause, TimeoutError):
        return "does not answer in time"
    if isinstance(cause, ssl.SSLError):
        return "has a certificate that is not trusted, or no TLS"
    if isinstance(cause, OSError) and cause.strerror:
        return f"cannot be reached ({cause.strerror})"
    return "does not answer as an HTTP server does"

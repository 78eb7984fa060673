"""The pack's own constants agree with the program."""

import importlib
import inspect
import pkgutil
from collections.abc import Iterator

import pytest

from access_rules import needs_https
from coder_stack import dynamic
from coder_stack.coderd import Connection
from coder_stack.dynamic.runtime.resource import CoderdResource
from secret_rules import SECRET_OUTPUTS


def secrets_of_resources() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each resource of coder_stack.dynamic with the secret fields of its models."""
    for found in pkgutil.iter_modules(dynamic.__path__, "coder_stack.dynamic."):
        module = importlib.import_module(found.name)
        for name, each in inspect.getmembers(module, inspect.isclass):
            is_own = each.__module__ == found.name and each is not CoderdResource
            if is_own and issubclass(each, CoderdResource):
                provider = getattr(module, f"{name}Provider")
                models = (provider.state_model, provider.inputs_model)
                secret = {field for model in models for field in model.secret_fields()}
                yield name, tuple(sorted({"token", *secret}))


def test_L9_every_secret_of_every_coderd_resource_is_asked_for() -> None:
    assert dict(secrets_of_resources()) == SECRET_OUTPUTS


@pytest.mark.parametrize(
    "url",
    [
        "https://coder.example.com",
        "http://coder.example.com",
        "http://localhost:3000",
        "http://x.localhost",
        "http://127.0.0.1:3000",
        "http://127.9.9.9",
        "http://[::1]:3000",
        "http://[::ffff:127.0.0.1]",
        "http://10.0.0.1",
        "http://localhost.example.com",
    ],
)
def test_CP8_https_is_needed_where_the_program_says_so(url: str) -> None:
    assert needs_https(url) == (not Connection(base_url=url).may_carry_secrets)


@pytest.mark.parametrize(
    ("url", "needed"),
    [
        ("http://coder.coder.svc.cluster.local:80", False),
        ("http://coder.coder.svc", False),
        ("http://coder.coder.svc.example.com", True),
        ("http://svc.example.com", True),
        ("http://coder", True),
        ("http://[broken", True),
    ],
)
def test_CP8_plain_http_may_stay_inside_the_cluster(url: str, needed: bool) -> None:
    assert needs_https(url) == needed

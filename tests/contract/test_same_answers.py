"""The simulation answers like the real server, byte for byte where nothing is random.

The other files say what must hold; this one asks both the same thing and compares everything:
status, body, the headers that a client can rely on. It finds what nobody thought of writing down.
"""

import itertools
import re

import httpx
import pytest

from tests.contract.conftest import REAL, REAL_AGPL, SIMULATED, SIMULATED_AGPL, Pool
from tests.contract.servers import Server

pytestmark = [pytest.mark.contract, pytest.mark.xdist_group("contract")]

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
PATHS = (
    "",
    "/",
    "/buildinfo",
    "/nothing",
    "/entitlements",
    "/licenses",
    "/licenses/",
    "/licenses/1",
    "/licenses/abc",
    "/licenses/1/more",
    "/licenses/refresh-entitlements",
    "/workspaceproxies",
    "/workspaceproxies/primary",
    "/workspaceproxies/me",
    "/workspaceproxies/me/register",
    "/provisionerkeys",
    "/provisionerkeys/placeholder",
    "/organizations",
    "/organizations/default",
    "/organizations/nope",
    "/organizations/default/nothing",
    "/organizations/default/provisionerkeys",
    "/organizations/default/provisionerkeys/x",
    "/organizations/default/provisionerkeys/daemons",
    "/organizations/nope/provisionerkeys",
    "/organizations/default/provisionerdaemons",
    "/organizations/default/provisionerdaemons/serve",
    "/organizations/nope/provisionerdaemons/serve",
    "/workspaces",
    "/workspaces?q=organization:coder&limit=1",
    "/workspaces?q=organization:CODER",
    "/workspaces?q=organization:nope",
    "/workspaces?q=organization:default",
    "/workspaces?q=organization:11111111-1111-1111-1111-111111111111",
    "/workspaces?q=color:red",
    "/users",
    "/users/first",
    "/users/login",
    "/users/me",
    "/users/nobody",
    "/users/me/nothing",
    "/users/me/keys",
    "/users/me/keys/aaaaaaaaaa",
    "/users/me/keys/tokens",
    "/users/me/keys/tokens/nope",
    "/users/me/keys/tokens/tokenconfig",
    "/users/nobody/keys/tokens",
)
# What depends on what was done before, and what the simulation does not have (deleting users).
LEFT_OUT = (
    (r"DELETE", r"/users/[^/]+"),
    (r"GET", r"/users(/me/keys/tokens)?"),
    (r"POST", r"/licenses/refresh-entitlements"),
    (r"OPTIONS", r".*/tokens"),
)
BODIES = ("", "{", "null", "[]", '"x"', "{}", '{"a":1', '{"a":1}}', '{"a" 1}', '{"a":1,}', "[1,2")
COMPARED = ("content-type", "www-authenticate", "x-ratelimit-limit", "x-content-type-options")
PAIRS = {"enterprise": (SIMULATED, REAL), "agpl": (SIMULATED_AGPL, REAL_AGPL)}


@pytest.fixture(params=list(PAIRS))
def pair(request: pytest.FixtureRequest, pool: Pool) -> tuple[Server, Server]:
    simulated, real = PAIRS[request.param]
    return pool.get(simulated), pool.get(real)


def seen(server: Server, answer: httpx.Response) -> dict[str, object]:
    """An answer without what is random or belongs to one server."""
    text = answer.text.replace(server.url, "<url>")
    text = re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "<uuid>", text)
    text = re.sub(r"\d{4}-\d\d-\d\dT[0-9:.]+(Z|[+-]\d\d:\d\d)", "<time>", text)
    text = re.sub(r"\b[0-9A-Za-z]{10}-[0-9A-Za-z]{22}\b", "<token>", text)
    text = re.sub(r'"(version|provisioner_api_version)":"[^"]*"', r'"\1":"<version>"', text)
    text = re.sub(r'"actual":\d+', '"actual":<count>', text)
    headers = {name: answer.headers.get(name) for name in COMPARED}
    challenge = headers["www-authenticate"]
    headers["www-authenticate"] = challenge.replace(server.url, "<url>") if challenge else None
    kept = {"set-cookie", "vary", "allow", "x-coder-build-version", "x-coder-request-id"}
    present = sorted(kept & set(answer.headers))
    return {"status": answer.status_code, "body": text, "headers": headers, "present": present}


def both(
    pair: tuple[Server, Server], method: str, path: str, who: str = "", **options: object
) -> list[dict[str, object]]:
    answers: list[dict[str, object]] = []
    for server in pair:
        token = {"owner": server.owner_token, "member": server.member_token}.get(who)
        answers.append(seen(server, server.call(method, path, token, **options)))
    return answers


@pytest.mark.parametrize("path", PATHS)
def test_every_method_for_everybody(pair: tuple[Server, Server], path: str) -> None:
    for method, who in itertools.product(METHODS, ("nobody", "member", "owner")):
        if any(re.fullmatch(m, method) and re.fullmatch(p, path) for m, p in LEFT_OUT):
            continue
        simulated, real = both(pair, method, f"/api/v2{path}", who)
        assert simulated == real, f"{method} as {who}"


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("path", ["/users/login", "/users/first"])
def test_every_broken_body(pair: tuple[Server, Server], path: str, body: str) -> None:
    simulated, real = both(pair, "POST", f"/api/v2{path}", content=body)
    assert simulated == real


@pytest.mark.parametrize("path", ["/", "/x", "/healthz", "/healthz/", "/api", "/api/v1/x"])
def test_outside_the_api(pair: tuple[Server, Server], path: str) -> None:
    simulated, real = both(pair, "GET", path)
    assert simulated == real


@pytest.mark.parametrize("name", ["a%20b", "a%2Fb", "%C3%BC", "a!b", "a%21b", "a+b", "a%2Bb"])
def test_escaped_names_in_paths(pair: tuple[Server, Server], name: str) -> None:
    """The user of the path is repeated in the refusal, so one sees how it was decoded."""
    simulated, real = both(pair, "GET", f"/api/v2/users/{name}", "owner")
    assert simulated == real


@pytest.mark.parametrize(
    "password",
    [
        "aaaaaaaaaaaaaaaaaaaa",
        "1234567890123456789012",
        "qwertyuiopasdfghjkl",
        "Abcdef123456!",
        "correct horse battery",
        "ZYXWVUTSRQPONMLK",
        "p4ssw0rd!",
        "ÄÖÜäöüß",
        "0987654321asdf;lkj",
        "SomeSecurePassword!",
    ],
)
def test_the_strength_of_passwords(pair: tuple[Server, Server], password: str) -> None:
    """Asked as somebody who may not create users, so that nobody is created."""
    body = {"email": "x@example.com", "username": "x", "password": password}
    nil = "00000000-0000-0000-0000-000000000000"
    request = body | {"organization_ids": [nil]}
    simulated, real = both(pair, "POST", "/api/v2/users", "member", json=request)
    assert simulated == real

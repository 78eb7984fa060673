"""coder-api.md section 7: the list of provisioner daemons, which both editions have."""

import httpx
import pytest

from sandbox.coderd.rules.versions import DAEMON_STATUS_FILTER
from tests.contract import expect
from tests.contract.servers import Server

pytestmark = [pytest.mark.contract, pytest.mark.xdist_group("contract")]

DAEMONS = "/organizations/default/provisionerdaemons"


def test_no_daemons_is_an_empty_list(server: Server) -> None:
    assert expect.data(server.owner("GET", DAEMONS)) == []


def test_a_member_may_not_list_them(server: Server) -> None:
    expect.refusal(server.member("GET", DAEMONS), 404, expect.NOT_FOUND)


def test_session_and_organization_come_first(server: Server) -> None:
    expect.refusal(server.api("GET", DAEMONS), 401, expect.SIGNED_OUT)
    missing = server.owner("GET", "/organizations/nope/provisionerdaemons")
    expect.refusal(missing, 404, expect.NOT_FOUND)


@pytest.mark.parametrize(
    "query",
    [
        "limit=1",
        "limit=0",
        'tags={"a":"b"}',
        "ids=00000000-0000-0000-0000-000000000001",
    ],
)
def test_these_parameters_are_known(server: Server, query: str) -> None:
    assert expect.data(server.owner("GET", f"{DAEMONS}?{query}")) == []


@pytest.mark.parametrize(
    "query", ["offline=true", "status=offline", "status=idle,busy", "max_age=1h30m"]
)
def test_the_status_is_a_filter_since_some_version(server: Server, query: str) -> None:
    answer = server.owner("GET", f"{DAEMONS}?{query}")
    if server.has(DAEMON_STATUS_FILTER):
        assert expect.data(answer) == []
    else:
        unknown(answer, query.partition("=")[0])


def unknown(answer: httpx.Response, name: str) -> None:
    """The server does not know the parameter."""
    body = expect.refusal(answer, 400, "Invalid query parameters.")
    detail = f'"{name}" is not a valid query param'
    assert body["validations"] == [{"field": name, "detail": detail}]


@pytest.mark.parametrize(
    ("query", "field", "detail"),
    [
        ("zzz=1", "zzz", '"zzz" is not a valid query param'),
        (
            "limit=x",
            "limit",
            (
                'Query param "limit" must be a valid 32-bit positive integer: strconv.ParseInt: '
                "parsing "
                '"x": invalid syntax'
            ),
        ),
        (
            "limit=-1",
            "limit",
            'Query param "limit" must be a valid 32-bit positive integer: value is negative',
        ),
        (
            "limit=9999999999",
            "limit",
            (
                'Query param "limit" must be a valid 32-bit positive integer: strconv.ParseInt: '
                "parsing "
                '"9999999999": value out of range'
            ),
        ),
        (
            "offline=maybe",
            "offline",
            (
                'Query param "offline" must be a valid boolean: strconv.ParseBool: parsing '
                '"maybe": '
                "invalid syntax"
            ),
        ),
        ("ids=x", "ids", 'Query param "ids" has invalid values: invalid UUID length: 1'),
        (
            "tags=x",
            "tags",
            (
                "Query param \"tags\" must be a valid JSON object: invalid character 'x' looking "
                "for "
                "beginning of value"
            ),
        ),
        (
            "max_age=5",
            "max_age",
            (
                "Query param \"max_age\" must be a valid duration (e.g., '24h', '30m', '1h30m'): "
                "time: "
                'missing unit in duration "5"'
            ),
        ),
    ],
)
def test_a_bad_query_names_the_parameter(
    server: Server, query: str, field: str, detail: str
) -> None:
    answer = server.owner("GET", f"{DAEMONS}?{query}")
    if field in ("offline", "max_age") and not server.has(DAEMON_STATUS_FILTER):
        unknown(answer, field)
        return
    body = expect.refusal(answer, 400, "Invalid query parameters.")
    assert body["validations"] == [{"field": field, "detail": detail}]


def test_everything_wrong_with_a_query_is_said_at_once(server: Server) -> None:
    answer = server.owner("GET", f"{DAEMONS}?limit=x&offline=y&zzz=1")
    body = expect.refusal(answer, 400, "Invalid query parameters.")
    assert [fault["field"] for fault in body["validations"]] == ["limit", "offline", "zzz"]


def test_an_unknown_status_is_only_found_by_the_database(server: Server) -> None:
    answer = server.owner("GET", f"{DAEMONS}?status=sleepy")
    if server.has(DAEMON_STATUS_FILTER):
        expect.refusal(answer, 500, "Internal error fetching provisioner daemons.")
    else:
        unknown(answer, "status")

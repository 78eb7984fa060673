"""Whatever values a file has: each has an end, no secret gets out, and the config is valid."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coder_stack.start.from_helm import NotValuesError, Target, report, stack_file
from coder_stack.start.from_helm.control_plane import REPLACE as REPLACE_TABLE
from coder_stack.start.from_helm.provisioner import PROVISIONER
from tests.unit.from_helm.translating import (
    BESIDE,
    REPLACE,
    settings_of,
    translation_of,
    unaccounted,
)

SECRET = "s3cr3t-value"
# Names and forms that a secret has in values.
SECRET_NAMES = (
    "CODER_PG_CONNECTION_URL",
    "CODER_OIDC_CLIENT_SECRET",
    "CODER_PROVISIONER_DAEMON_PSK",
    "CODER_PROVISIONER_DAEMON_KEY",
    "CODER_EXTERNAL_TOKEN_ENCRYPTION_KEYS",
    "CODER_EMAIL_AUTH_PASSWORD",
    "GITHUB_TOKEN",
    "AWS_SECRET_ACCESS_KEY",
    "ANTHROPIC_API_KEY",
    "db_password",
)
SECRET_TEXTS = (
    f"postgres://me:{SECRET}@db/coder",
    f"eyJhbGciOiJub25lIn0.{SECRET}",
    f"-----BEGIN PRIVATE KEY-----\n{SECRET}",
    f"host=db password={SECRET}",
)

STEPS = sorted({step for path in (*REPLACE_TABLE, *PROVISIONER) for step in path.split(".")})
WORDS = st.sampled_from(
    [*STEPS, "name", "key", "value", "valueFrom", "secretKeyRef", "optional", "a.b/c", "x y", "1"]
)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 70_000),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=8),
    st.sampled_from(["coder", "https://x.example.com", "*.x.example.com", "50%", "2Gi", "Always"]),
    st.sampled_from(SECRET_TEXTS),
)
TREES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=8,
)
NAMES = st.sampled_from(
    ["A", "CODER_ACCESS_URL", "CODER_URL", "CODER_WILDCARD_ACCESS_URL", "NO-NAME"]
)
REFERENCES = st.fixed_dictionaries(
    {"name": st.sampled_from(["db", "Not A Name"])},
    optional={"key": st.just("url"), "optional": st.booleans()},
)
VARIABLES = st.one_of(
    st.fixed_dictionaries(
        {"name": NAMES | st.sampled_from(SECRET_NAMES)}, optional={"value": SCALARS}
    ),
    st.fixed_dictionaries({"name": st.sampled_from(SECRET_NAMES), "value": st.just(SECRET)}),
    st.fixed_dictionaries(
        {
            "name": NAMES | st.sampled_from(SECRET_NAMES),
            "valueFrom": st.fixed_dictionaries({"secretKeyRef": REFERENCES}),
        }
    ),
    TREES,
)


def nested(path: str, value: Any) -> dict[str, Any]:
    first, _, rest = path.partition(".")
    return {first: nested(rest, value) if rest else value}


def merged(one: dict[str, Any], two: dict[str, Any]) -> dict[str, Any]:
    both = one.keys() & two.keys()
    inner = {
        key: merged(one[key], two[key])
        for key in both
        if isinstance(one[key], dict) and isinstance(two[key], dict)
    }
    return {**one, **two, **inner}


@st.composite
def values(draw: st.DrawFn) -> dict[str, Any]:
    """Values at the paths that the tables know, of any type, beside those that nobody knows."""
    tree: dict[str, Any] = {"coder": {"env": draw(st.lists(VARIABLES, max_size=5))}}
    known = st.sampled_from(sorted({*REPLACE_TABLE, *PROVISIONER} - {"coder.env"}))
    for path in draw(st.lists(known, max_size=6)):
        tree = merged(tree, nested(path, draw(TREES)))
    return merged(tree, draw(st.dictionaries(WORDS, TREES, max_size=2)))


@given(st.lists(values(), min_size=1, max_size=3), st.sampled_from([BESIDE, REPLACE]))
def test_B2_any_values_are_accounted_for_and_no_secret_gets_out(
    documents: list[dict[str, Any]], target: Target
) -> None:
    try:
        translation = translation_of(*documents, target=target)
    except NotValuesError:
        return  # one sentence; tests of the command show that it holds no value
    for document in documents:
        assert unaccounted(document, translation.outcomes) == []
    settings_of(translation)
    told = stack_file(translation) + report(translation)
    assert SECRET not in told
    assert "permitted" not in told, "a table names a field that the config does not have"


@pytest.mark.parametrize("table", [REPLACE_TABLE, PROVISIONER], ids=["coder", "provisioner"])
def test_B2_a_value_at_every_path_of_the_tables_is_accounted_for(table: dict[str, Any]) -> None:
    """So that no rule is reached by chance only."""
    # What tells the charts apart.
    start = {"provisionerDaemon": {"tags": {}}} if table is PROVISIONER else {"coder": {"tls": {}}}
    target = BESIDE if table is PROVISIONER else REPLACE
    for path in sorted(table.keys() - {"coder.workspaceProxy"}):
        for value in ("text", 1, True, ["text"], {"key": "text"}, [{"name": "a", "key": "b"}]):
            document = merged(start, nested(path, value))
            translation = translation_of(document, target=target)
            assert unaccounted(document, translation.outcomes) == []
            settings_of(translation)

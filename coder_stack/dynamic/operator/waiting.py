"""Wait for coderd (CP5), and during an upgrade until it answers with its new version (V2).

The expected version is no input of operator access: no state has it, and no preview shows it. The
program gives it to `check`, and the provider process keeps it for the rest of this run.
"""

from typing import NamedTuple

from coder_stack.coderd.errors import Unavailable
from coder_stack.coderd.models import BuildInfo
from coder_stack.coderd.procedures.readiness import wait_until_ready
from coder_stack.coderd.reasons import Reason
from coder_stack.coderd.versions import is_version
from coder_stack.descriptors import OPERATOR_ACCESS
from coder_stack.dynamic.operator.inputs import OperatorAccessInputs
from coder_stack.dynamic.runtime.errors import Failed
from coder_stack.dynamic.runtime.session import Session


class _Expected(NamedTuple):
    version: str = ""
    deployment: str = ""


_EXPECTED: dict[str, _Expected] = {}
"""The version and deployment that this run expects, by coderd."""


def expect(target: str, version: str, deployment: str) -> None:
    """Remember the version to wait for and the deployment to find; empty: any."""
    _EXPECTED[target] = _Expected(version, deployment)


def expected_version(inputs: OperatorAccessInputs) -> str:
    """Return the version to wait for; empty: any."""
    return _EXPECTED.get(inputs.connection.target, _Expected()).version


def refuse_another(inputs: OperatorAccessInputs, found: str) -> None:
    """Raise unless coderd is the deployment that another stack's outputs name."""
    wanted = _EXPECTED.get(inputs.connection.target, _Expected()).deployment
    if wanted and found != wanted:
        why = (
            f"it is deployment {found}, and controlPlane.fromStack has {wanted}; correct the URL, "
            "or run `pulumi up` of that stack first, if its coderd was created anew."
        )
        raise Failed(Reason.INVALID_CONNECTION, OPERATOR_ACCESS.noun, "use this coderd", why)


def wait_for_coderd(session: Session, want: OperatorAccessInputs) -> BuildInfo:
    """Return the build of a coderd that answers, with the expected version."""
    expected = expected_version(want)
    try:
        build = wait_until_ready(session.coderd, want.wait_seconds, version=expected)
    except Unavailable as error:
        if want.connection.url is None or error.status is not None:
            raise
        why = (
            "nothing answers there; check its DNS name and Ingress, or leave out access.url and "
            "access.throughApiServer: the API server leads to coderd without either."
        )
        where = f"{want.connection.url} within {want.wait_seconds} s"
        raise Unavailable(f"reach coderd at {where}", why) from error
    session.shared.outage.reset()  # earlier reads may have spent it while coderd was starting
    if not is_version(build.version, expected):
        why = (
            f"coderd still answers with {build.version}, not with {expected}, although its pods "
            "are rolled out; check that the image holds that version and that the URL leads to "
            "these pods (docs/runbooks.md, Upgrade Coder). Provisioners and proxies were not "
            "changed."
        )
        raise Failed(Reason.PENDING, OPERATOR_ACCESS.noun, "wait for the new version", why)
    refuse_another(want, str(build.deployment_id))
    return build

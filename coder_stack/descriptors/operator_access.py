"""The operator's token, and what it opens."""

from coder_stack.descriptors.descriptor import Descriptor, Drift, StackFacts


def _cause(drift: Drift, stack: StackFacts) -> str | None:
    if drift.not_created:
        return "The operator's access to coderd was not created yet."
    if drift.kind == "unexpected":
        return "The operator's access to coderd is no longer declared."
    if "deployment_id" in drift.paths:
        return f"Another deployment of coderd answers at {drift.actual.get('url', 'its URL')}."
    if "accepted" in drift.paths and drift.actual.get("reason") == "SecretMissing":
        return "The Secret with the operator's token is gone, or holds none."
    if "accepted" in drift.paths or not drift.paths:
        return "Coderd refuses the operator's token."
    if "given" in drift.paths:
        return "The operator was given another token."
    if any(path.startswith("connection") for path in drift.paths):
        return "The config reaches coderd in another way than at the last update."
    if "password_hash" in drift.paths:
        return "The config has another password for the first user, which has not been tried yet."
    return None


OPERATOR_ACCESS = Descriptor(
    name="OperatorAccess",
    noun="operator access",
    secret_fields=("password", "password_hash"),
    drift_outputs=("accepted", "deployment_id"),
    cause=_cause,
)

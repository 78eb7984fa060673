"""What each reason means and what to do about it: one table for reports and docs/reasons.md.

A reason is a Reason of coderd/reasons.py, a ConditionReason, or a problem of a license. Pure data;
`python -m coder_stack.explanations` prints the page.
"""

import sys
from dataclasses import dataclass

UP = "pulumi up --stack {stack}"
REPAIR = "coder-stack reconcile --stack {stack}"
NEW_LICENSE = "pulumi config set --secret licenseJwt --stack {stack} < license.jwt"
INSPECT = "coder-stack license inspect license.jwt"
PODS = "kubectl get pods --all-namespaces --selector app.kubernetes.io/part-of=coder"


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """A reason in words."""

    meaning: str
    remedy: str = ""
    """What to do; empty if all is well."""
    command: str = ""
    """The first command of the remedy, with `{stack}` for the stack's name."""
    temporary: bool = False
    """Whether it may go away without anybody's help."""


EXPLANATIONS = {
    "AllReady": Explanation(
        meaning="every condition holds",
    ),
    "AnswerLost": Explanation(
        meaning="a change was sent, and the connection broke before the answer",
        remedy="run again; the change is looked up before it is repeated",
        temporary=True,
        command=UP,
    ),
    "ApiServerRefused": Explanation(
        meaning=(
            "the Kubernetes API server refused the request: credentials, RBAC, or no such Service"
        ),
        remedy="check the kubeconfig's rights and the Service's name",
    ),
    "Applied": Explanation(
        meaning="the license of this stack is in coderd",
    ),
    "CertificateNotTrusted": Explanation(
        meaning="TLS verification failed",
        remedy="configure the CA bundle of the issuer",
    ),
    "ChangeDeferred": Explanation(
        meaning="a change of the proxy or organization waits until the license allows it",
        remedy="renew the license",
        command=NEW_LICENSE,
    ),
    "ClusterLeftOut": Explanation(
        meaning="the last run left the component's cluster out, so nothing in it was looked at",
        remedy="run again when the cluster answers",
        command=UP,
    ),
    "Conflict": Explanation(
        meaning="the name is taken, or the first user already exists",
        remedy="choose another name, or adopt the existing object",
        command=UP,
    ),
    "Connected": Explanation(
        meaning="coderd has seen enough daemons with this key",
    ),
    "Created": Explanation(
        meaning="the organization is in coderd",
    ),
    "Drifted": Explanation(
        meaning="the condition rests on something that a comparison found different since",
        remedy="repair what the report found",
        command=REPAIR,
    ),
    "DuplicateLicense": Explanation(
        meaning="coderd already stores this license",
        remedy="nothing; it counts as applied",
    ),
    "Entitled": Explanation(
        meaning="the license allows the feature",
    ),
    "EntitlementsQueryFailed": Explanation(
        meaning="the entitlements could not be read; the last known ones are kept and marked stale",
        remedy="see the message",
        temporary=True,
        command=UP,
    ),
    "Error": Explanation(
        meaning="a license could not be applied, and no other reason fits",
        remedy="see the message",
    ),
    "Expired": Explanation(
        meaning="the license has expired; one that is already applied blocks no other change",
        remedy="renew the license",
        command=NEW_LICENSE,
    ),
    "ExpiringSoon": Explanation(
        meaning="the license expires soon",
        remedy="renew the license",
        command=NEW_LICENSE,
    ),
    "FeatureMissing": Explanation(
        meaning="the config needs a feature that the license lacks",
        remedy=(
            "get another license, or remove the feature from the config; see "
            "`coder-stack outputs needs`"
        ),
        command=NEW_LICENSE,
    ),
    "Forbidden": Explanation(
        meaning=(
            "coderd refuses the token or password, allows single sign-on only, or the user "
            "lacks the role"
        ),
        remedy=(
            "run `up` if the stack created the token; otherwise give an owner's token as "
            "secret config `token` or in `access.tokenSecret`"
        ),
        command=UP,
    ),
    "Found": Explanation(
        meaning="the Secret holds a token",
    ),
    "GracePeriod": Explanation(
        meaning="the feature is entitled only until the grace period ends",
        remedy="renew the license",
        command=NEW_LICENSE,
    ),
    "Healthy": Explanation(
        meaning="coderd reaches the proxy",
    ),
    "InGrace": Explanation(
        meaning="the license has expired and is in its grace period",
        remedy="renew the license",
        command=NEW_LICENSE,
    ),
    "InsecureConnection": Explanation(
        meaning=(
            "a secret would have been sent over plain http to another machine; nothing was sent"
        ),
        remedy="use https, or allow plain http explicitly",
    ),
    "InvalidClaims": Explanation(
        meaning="coderd would refuse the license because of its claims",
        remedy="ask for a new license",
        command=NEW_LICENSE,
    ),
    "InvalidConnection": Explanation(
        meaning="the URL, CA bundle or token is unusable; nothing was sent",
        remedy="correct the setting",
    ),
    "InvalidLicense": Explanation(
        meaning="coderd refused the license; the message names the failed check",
        remedy="run `coder-stack license inspect`; ask for a new license",
        command=INSPECT,
    ),
    "InvalidRequest": Explanation(
        meaning="coderd refused a value; the message names the field",
        remedy="correct the setting",
    ),
    "Issued": Explanation(
        meaning="the key exists and is the one that the config asks for",
    ),
    "KeyRejected": Explanation(
        meaning="coderd does not know the provisioner key, or no longer does",
        remedy="nothing; the next update rotates it",
        command=UP,
    ),
    "LastKnown": Explanation(
        meaning="the feature was entitled when coderd last answered; it does not answer now",
        remedy="see the message",
        command=UP,
    ),
    "LoggedIn": Explanation(
        meaning="coderd accepts the operator's token",
    ),
    "NotAJwt": Explanation(
        meaning="the license is not a JWT",
        remedy="copy it again",
        command=NEW_LICENSE,
    ),
    "NotEmpty": Explanation(
        meaning=(
            "an organization still holds workspaces, templates, members, groups or "
            "provisioner keys; the message counts them"
        ),
        remedy="remove them, or keep the organization",
        command=UP,
    ),
    "NotEntitled": Explanation(
        meaning="the license does not include the feature",
        remedy="add a license that does; the next run uses it",
        command=NEW_LICENSE,
    ),
    "NotFound": Explanation(
        meaning="the object is not in coderd, or the database not in the cluster",
        remedy=(
            "nothing; the next update creates it. A database is then empty: restore it first "
            "(docs/database.md)"
        ),
        command=UP,
    ),
    "NotSeen": Explanation(
        meaning="coderd has not checked the proxy yet, or its health has not been read",
        remedy="refresh after the first `up`; later, read the proxy's log",
        command=UP,
    ),
    "NotSupported": Explanation(
        meaning="the route does not exist: coderd is an AGPL build",
        remedy="use Coder's official image",
    ),
    "NotYetValid": Explanation(
        meaning="the license starts in the future; coderd refuses it until then",
        remedy="apply it on its start date",
        command=NEW_LICENSE,
    ),
    "Pending": Explanation(
        meaning=(
            "the control plane, its database, the operator's access, a pod or a daemon is not "
            "ready yet"
        ),
        remedy="wait, then run again; if it stays, check the pods",
        temporary=True,
        command=PODS,
    ),
    "ProtocolError": Explanation(
        meaning=(
            "the answer is not one that coderd gives: invalid JSON, an HTML page, or a redirect"
        ),
        remedy="check the proxies and gateways in front of coderd",
    ),
    "RateLimited": Explanation(
        meaning="coderd answered 429 until the deadline passed",
        remedy="run fewer updates at once, or raise coderd's limit",
        temporary=True,
        command=UP,
    ),
    "Ready": Explanation(
        meaning="every wanted pod, or instance of the database, is ready",
    ),
    "Registered": Explanation(
        meaning="coderd knows the proxy",
    ),
    "RotationDeferred": Explanation(
        meaning="a rotation of the key waits until the license allows it",
        remedy="renew the license",
        command=NEW_LICENSE,
    ),
    "ScaledToZero": Explanation(
        meaning="the config asks for no pods",
        remedy="nothing, if that is intended",
    ),
    "SecretChanged": Explanation(
        meaning="a Secret of this stack holds something other than coderd issued",
        remedy="run an update with `--refresh`; it restores the Secret",
        command=REPAIR,
    ),
    "SecretMissing": Explanation(
        meaning="a Kubernetes Secret, its key or its value is missing",
        remedy="create it; run an update with `--refresh` if the Secret is this stack's own",
        command=REPAIR,
    ),
    "ServerFault": Explanation(
        meaning="coderd answered with an internal error",
        remedy="check coderd's log, then run again",
        temporary=True,
        command=UP,
    ),
    "SeveralReasons": Explanation(
        meaning="several conditions do not hold, for different reasons",
        remedy="see the conditions that the message names",
    ),
    "TelemetryRequired": Explanation(
        meaning="the license requires telemetry, which is off in coderd",
        remedy="turn it on, or ask for another license",
        command=NEW_LICENSE,
    ),
    "TooFew": Explanation(
        meaning="fewer daemons than wanted are connected with this key",
        remedy="check the pods, their logs and their network",
        command=PODS,
    ),
    "Unavailable": Explanation(
        meaning="no answer, or 502, 503 or 504; also a Service without a ready endpoint",
        remedy="check coderd's pods, and that it is not scaled to zero",
        temporary=True,
        command=PODS,
    ),
    "Unhealthy": Explanation(
        meaning="coderd reports the proxy as unhealthy",
        remedy="check the proxy's URL, certificate and log",
        command=PODS,
    ),
    "Unreachable": Explanation(
        meaning="coderd cannot reach the proxy",
        remedy="check the proxy's URL, certificate and log",
        command=PODS,
    ),
    "Unregistered": Explanation(
        meaning="the proxy has not reported to coderd yet",
        remedy="refresh after the first `up`; later, read the proxy's log",
        command=UP,
    ),
    "VersionSkew": Explanation(
        meaning="daemons run another version than coderd",
        remedy="use one image; check for a stuck rollout",
        command=PODS,
    ),
    "Written": Explanation(
        meaning="the Secret holds what coderd issued",
    ),
    "WrongDeployment": Explanation(
        meaning="the license is bound to another deployment id",
        remedy="ask for a license for the id in the message",
        command=NEW_LICENSE,
    ),
}
"""By reason, in alphabetical order."""

_PAGE = """# Reasons

A reason is one word that explains an error or the status of a condition. Errors,
[conditions](outputs.md#conditions), reports and this page use the same words. A temporary reason
may go away without anybody's help: run again.

Only coderd's own "not found", or absence from a complete list, means that an object is gone. After
any other error, nothing is created again.

| reason | meaning | what to do | temporary |
| --- | --- | --- | --- |
"""


def reference_page() -> str:
    """Return docs/reasons.md."""
    rows = (
        f"| `{reason}` | {each.meaning} | {each.remedy or 'nothing'} | {'yes ' * each.temporary}|"
        for reason, each in EXPLANATIONS.items()
    )
    return _PAGE + "\n".join(rows) + "\n"


if __name__ == "__main__":
    sys.stdout.write(reference_page())

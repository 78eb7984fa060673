"""Rules about secrets in plain text."""

from tests.unit.policies import compliant
from tests.unit.policies.cases.row import BOX, JWT, SECRET, SPEC, Row, it
from tests.unit.policies.judge import MISSING, UNKNOWN

UNDECLARED = compliant.key()
UNDECLARED.secret_outputs = ("token",)

SECRETS = {
    "no-secret-in-env": Row(
        it(compliant.deployment()),
        violates={f"{BOX}.env[0]": {"name": "CODER_OIDC_CLIENT_SECRET", "value": SECRET}},
        violates_at={f"{BOX}.env[0].value"},
        missing={f"{BOX}.env": MISSING},
        unknown={f"{BOX}.env[0].value": UNKNOWN},
    ),
    "no-secret-in-args": Row(
        it(compliant.deployment()),
        violates={f"{BOX}.args": ["server", f"--oauth2-github-client-secret={SECRET}"]},
        violates_at={f"{BOX}.args[1]"},
        missing={f"{BOX}.args": MISSING},
        unknown={f"{BOX}.args[0]": UNKNOWN},
    ),
    "no-secret-in-config-map": Row(
        it(compliant.cluster_object("core/v1:ConfigMap", data={"motd": "hello"})),
        violates={"it/data.token": SECRET, "it/data.<config.yaml>": f"auth: {JWT}\n"},
        violates_at={"it/data.token", "it/data.config.yaml"},
        missing={"it/data": MISSING},
        unknown={"it/data.motd": UNKNOWN},
    ),
    "no-secret-in-metadata": Row(
        it(compliant.deployment()),
        violates={
            "it/metadata.annotations.<example.com/api-token>": SECRET,
            "it/spec.template.metadata.annotations.note": JWT,
        },
        violates_at={
            "it/metadata.annotations.example.com/api-token",
            "it/spec.template.metadata.annotations.note",
        },
        missing={"it/metadata": MISSING, "it/spec.template.metadata": MISSING},
        unknown={"it/metadata.annotations.note": UNKNOWN},
    ),
    "own-secret-by-key": Row(
        {"it": compliant.daemons(), "secret": compliant.key_secret(), "key": compliant.key()},
        violates={
            f"{BOX}.envFrom": [{"secretRef": {"name": "gpu-provisioner-key"}}],
            f"{SPEC}.volumes[0].secret": {"secretName": "gpu-provisioner-key"},
        },
        violates_at={
            f"{BOX}.envFrom[0].secretRef.name",
            f"{SPEC}.volumes[0].secret.secretName",
        },
        missing={"secret/metadata": MISSING, f"{SPEC}.volumes": MISSING},
        unknown={f"{SPEC}.volumes": UNKNOWN},
    ),
    "secret-outputs-declared": Row(
        it(compliant.key()),
        violates=it(UNDECLARED),
        violates_at={"it/material"},
        missing={"it/connection": MISSING},
        unknown={"it/organization": UNKNOWN},
        reads_unknown=False,
    ),
}

"""Remove a token that was created: in a destroy, or when the operator gets another one.

Nothing of it stays in coderd or in the cluster, except a password that is declared nowhere. Given
tokens are left alone; creation is in account.py.
"""

from dataclasses import replace

from pydantic import SecretStr

from coder_stack.cluster.secret import SecretAbsent, SecretKeyRef
from coder_stack.coderd.errors import CoderdError, NotFound, Unauthenticated
from coder_stack.coderd.procedures.bootstrap import revoke, token_id, token_works
from coder_stack.console import warn
from coder_stack.dynamic.operator.inputs import OperatorAccessInputs, OperatorAccessState
from coder_stack.dynamic.runtime import operator_secret
from coder_stack.dynamic.runtime.config import StackConfig
from coder_stack.dynamic.runtime.session import Session


def created_token(known: OperatorAccessState, config: StackConfig) -> SecretStr | None:
    """Return the token that was created so far; None if it was given, or cannot be read."""
    ref = known.connection.credential
    if ref is None:
        return None if known.given else known.token
    if not (known.make_token and isinstance(ref, SecretKeyRef)):
        return None
    try:
        stored = operator_secret.read(ref, config.kubernetes)
    except (SecretAbsent, CoderdError):
        return None
    is_here = config.canonical(stored.target) == config.canonical(known.connection.target)
    return stored.token if is_here else None


def remove_former_token(
    old: Session,
    former: SecretStr | None,
    known: OperatorAccessState,
    want: OperatorAccessInputs,
    config: StackConfig,
) -> None:
    """Remove the former token after the operator got another Secret or another coderd.

    At another coderd it stays valid, because the rest of this run deletes objects there.
    """
    ref = known.connection.credential
    same_target = old.target == config.canonical(want.connection.target)
    same_secret = want.make_token and ref in (None, want.connection.credential)
    if former is None or (same_target and same_secret):
        return
    if same_target:
        revoke(old.coderd.with_token(former), former)
    else:
        _use_for_this_run(old, former, known.token_name)
    if not isinstance(ref, SecretKeyRef) or same_secret:
        return
    try:
        # The same Secret may be in use through another kubeconfig.
        if operator_secret.read(ref, config.kubernetes).token == former:
            _delete_secret(ref, known, config)
    except SecretAbsent:
        return
    except CoderdError as error:
        warn(f"operator access: {ref.label} was left: {error}")


def remove_token(session: Session, known: OperatorAccessState, config: StackConfig) -> None:
    """Revoke our token and delete its Secret; the Secret also if coderd does not answer."""
    ref = known.connection.credential
    try:
        token = session.source.token()
        session.coderd.with_token(token).delete_token(token_id(token))
    except NotFound:
        pass  # it is gone
    except Unauthenticated as error:
        if error.status is None:  # it was not found; one that coderd refuses is harmless
            warn(f'operator access: token "{known.token_name}" may still be in coderd: {error}')
    finally:
        if isinstance(ref, SecretKeyRef):
            _delete_secret(ref, known, config)


def _delete_secret(ref: SecretKeyRef, known: OperatorAccessState, config: StackConfig) -> None:
    """Delete the Secret, unless it holds the only copy of the first user's password (CP9)."""
    try:
        stored = operator_secret.read(ref, config.kubernetes)
    except SecretAbsent:
        return
    declared = known.password_hash.get_secret_value()
    if stored.account is None or stored.password is None or declared:
        operator_secret.delete(ref, config.kubernetes)
        return
    operator_secret.write(ref, config.kubernetes, replace(stored, token=None))
    warn(
        f"operator access: {ref.label} was left: it holds the first user's password, which is "
        "declared nowhere; copy it, and delete the Secret."
    )


def _use_for_this_run(old: Session, former: SecretStr, name: str) -> None:
    try:
        if not token_works(old.fail_fast.with_token(former)):
            return
        old.source.remember(former)
        why = "it is used there until this run ends, and then ends by its age; delete it there."
    except CoderdError as error:
        why = str(error)
    where = old.connection.target
    warn(f'operator access: the former token "{name}" was left in the coderd at {where}: {why}')

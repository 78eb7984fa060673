"""How a token that was made is given up: at a destroy, for another home of it, at another coderd.

Nothing of it is to stay behind, in coderd or in the cluster, but a password that is nowhere else.
Leaves alone tokens that were given, and how one is made (operator_account.py).
"""

from pydantic import SecretStr

from coder_stack.cluster.secret import SecretAbsent, SecretKeyRef
from coder_stack.coderd import CoderdError, NotFound, Unauthenticated
from coder_stack.coderd.procedures.bootstrap import revoke, token_id, token_works
from coder_stack.console import warn
from coder_stack.dynamic.operator.inputs import OperatorAccessInputs, OperatorAccessState
from coder_stack.dynamic.runtime import operator_secret
from coder_stack.dynamic.runtime.config import StackConfig
from coder_stack.dynamic.runtime.operator_secret import OperatorSecret
from coder_stack.dynamic.runtime.session import Session

__all__ = ["give_up", "leave", "made_token"]


def made_token(known: OperatorAccessState, config: StackConfig) -> SecretStr | None:
    """The token that was made so far; None if it was given, or cannot be read."""
    place = known.connection.credential
    if place is None:
        return None if known.given else known.token
    if not (known.make_token and isinstance(place, SecretKeyRef)):
        return None
    try:
        home = operator_secret.read(place, config.kubernetes)
    except (SecretAbsent, CoderdError):
        return None
    return home.token if home.way == known.connection.way else None


def give_up(
    old: Session,
    former: SecretStr | None,
    known: OperatorAccessState,
    want: OperatorAccessInputs,
    config: StackConfig,
) -> None:
    """Leave nothing of the former token where the operator has another home or coderd now.

    At another coderd it is good for the rest of this run, which deletes there what moves away.
    """
    place, same_way = known.connection.credential, known.connection.way == want.connection.way
    stays = want.make_token and place in (None, want.connection.credential)
    if former is None or (same_way and stays):
        return
    if same_way:
        revoke(old.coderd.with_token(former), former)
    else:
        _keep_for_this_run(old, former, known.token_name)
    if not isinstance(place, SecretKeyRef) or stays:
        return
    try:
        # By another kubeconfig it may be the very Secret that is in use.
        if operator_secret.read(place, config.kubernetes).token == former:
            _leave_home(place, known, config)
    except SecretAbsent:
        return
    except CoderdError as error:
        warn(f"operator access: {place.label} was left: {error}")


def leave(session: Session, known: OperatorAccessState, config: StackConfig) -> None:
    """Revoke our token and delete its Secret; the Secret goes also if coderd does not answer."""
    place = known.connection.credential
    try:
        token = session.source.token()
        session.coderd.with_token(token).delete_token(token_id(token))
    except NotFound:
        pass  # it is gone
    except Unauthenticated as error:
        if error.status is None:  # nobody knows it; a refused one is no longer worth anything
            warn(f'operator access: token "{known.token_name}" may still be in coderd: {error}')
    finally:
        if isinstance(place, SecretKeyRef):
            _leave_home(place, known, config)


def _leave_home(place: SecretKeyRef, known: OperatorAccessState, config: StackConfig) -> None:
    """Delete the Secret, unless it holds the only copy of the first user's password (CP9)."""
    try:
        home = operator_secret.read(place, config.kubernetes)
    except SecretAbsent:
        return
    declared = known.password_hash.get_secret_value()
    if home.account is None or home.password is None or declared:
        operator_secret.remove(place, config.kubernetes)
        return
    rest = OperatorSecret(None, home.password, home.way, home.account)
    operator_secret.keep(place, config.kubernetes, rest)
    warn(
        f"operator access: {place.label} was left: it holds the first user's password, which is "
        "declared nowhere; copy it, and delete the Secret."
    )


def _keep_for_this_run(old: Session, former: SecretStr, name: str) -> None:
    try:
        if not token_works(old.quick.with_token(former)):
            return
        old.source.remember(former)
        why = "it is used there until this run ends, and then ends by its age; delete it there."
    except CoderdError as error:
        why = str(error)
    where = old.connection.way
    warn(f'operator access: the former token "{name}" was left in the coderd at {where}: {why}')

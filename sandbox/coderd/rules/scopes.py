"""The scopes of API tokens. Licenses, provisioner keys and proxies require `coder:all`."""

_COMPOSITE = (
    "coder:workspaces.create",
    "coder:workspaces.operate",
    "coder:workspaces.delete",
    "coder:workspaces.access",
    "coder:templates.build",
    "coder:templates.author",
    "coder:apikeys.manage_self",
)
_ACTIONS = {
    "workspace": (
        "create",
        "read",
        "update",
        "delete",
        "ssh",
        "start",
        "stop",
        "application_connect",
    ),
    "template": ("create", "read", "update", "delete", "use"),
    "api_key": ("create", "read", "update", "delete"),
    "file": ("create", "read"),
    "user": ("read_personal", "update_personal"),
    "user_secret": ("create", "read", "update", "delete"),
    "task": ("create", "read", "update", "delete"),
    "organization": ("read", "update", "delete"),
}
ALL = "coder:all"
APPLICATION_CONNECT = "coder:application_connect"
LOW_LEVEL = tuple(
    f"{resource}:{action}" for resource, actions in _ACTIONS.items() for action in (*actions, "*")
)
EXTERNAL = tuple(sorted((ALL, APPLICATION_CONNECT, *_COMPOSITE, *LOW_LEVEL)))
LEGACY = {"all": ALL, "application_connect": APPLICATION_CONNECT}


def legacy_name(scopes: list[str]) -> str:
    """Return the deprecated `scope` field for a set of scopes."""
    for old, new in LEGACY.items():
        if new in scopes:
            return old
    return scopes[0] if scopes else "all"
